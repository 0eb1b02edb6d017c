"""Both engines of the scanner give the rows that `segment` gives."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinqa.core.errors import MissingExtra
from clinqa.packs.loader import builtin_pack
from clinqa.reading import scan
from clinqa.reading.pieces import Bounds, Pieces, Statements
from clinqa.reading.scan import Scanner
from clinqa.reading.scan_tables import (
    ALPHA,
    CASED_LOW,
    DIGIT,
    PHASES,
    SPACE,
    UPPER,
    hash_bytes,
    make_tables,
    structures_of,
)
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.segment import segment, unwrap
from clinqa.simulate.echo import simulate

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "echo"

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="the extra `fast` (numba) is not installed"
)

FRAGMENTS = (
    # headers in every form
    "LEFT ATRIUM: ", "Left Atrium - ", "LEFT ATRIUM   ", "LEFT ATRIUM\t", "LEFT ATRIUM| ",
    "LEFT ATRIUM...", "left atrium", "**Mitral Valve:** ", "- MITRAL VALVE: ",
    "1) Aortic valve: ",
    "2. TRICUSPID VALVE: ", "(iv) RV: ", "a. LV: ", "___ VALVE: ", "VALVE: ", "R.A. / SEPTUM: ",
    "AORTIC VALVE (AV): ", "MV:", "LV: : ", "Doppler:", "DOPPLER", "Doppler: ", "VALVES\n",
    "INDICATION: ", "Indication: ", "FINDINGS:\n", "FINDINGS", "IMPRESSION: ", "Conclusions:\n",
    "ADDENDUM: ", "POST-BYPASS: ", "Post bypass\n", "PRE-BYPASS:", "REST:", "STRESS ECHO:",
    "HISTORY: ", "PATIENT/TEST INFORMATION:\n", "MITRAL VALVE (unterminated: ", "[LV]: ",
    "\u00a0LEFT\u00a0ATRIUM\u00a0: ", "LE\u212aT ATRIUM: ", "lv:_", "LV:__", "LV :- ", "# AV\n",
    "*", "**", "#", "> ", "\u2022 ", "\u00b7", "\u25aa ", "+ ", "- ", "-", "--- ", "-- x", "1. ",
    "12) ",
    "123. ", "(1) ", "(1. ", "iv. ", "b) ", "h.", "\u00b2. ", "1.  Left atrium", " 2) Mild MR",
    " 3) mild", " 123) Mild", " 4)Mild",
    "RA SIZE: normal   LA SIZE: ", "   LV EF:", "   Mild MR", "LA size: ", "LA/RA-size :", "   a: ",
    # line ends and rules
    "\n", "\n\n", "\r\n", "\r", "\n \n", "\n\t\n", "\n-----\n", "\n=====\n", "\n***\n", "\n . \n",
    "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2009", "\n\u00a0\n", " ", "  ", "   ", "\t",
    " \t ",
    "\u00a0", "\u00a0\u00a0\u00a0", " - ", " -\n", "\n- ", "\n-mild", " |", "| ", "|",
    "\n| a |\n",
    "\n| AV | mild", "....", "...", "..", ".", "!", "?", ". ", ".  ", ".\n", ".)", ".) ", ".]",
    ".\"",
    ".'", ".,", ".,2.", "., ", ".;", ",", ";", ":", "/", "(", ")", "[", "]", "%", "%.", "{", '"',
    "'",
    # words
    "Mild MR", "no AS.Trace AR", "AS.Trace", "1.3 cm", "1.3", "EF>55%", "EF 55%.Mild", "R.V. is",
    "in the R.V.", "R.V", "Dr. Smith", "dr.", "MR.", "Mr. X", "vs. mild", "APPROX. 3",
    "approx. 3",
    "e.g. this", "A. Smith", " a.", "mild)", ").Next", "].Next", "mildly dilated", "Normal",
    "the left ventricle is normal in size with a preserved ejection fraction and no regional",
    "x" * 45, "y" * 80, "z" * 130, "Z", "a", "1", "12", "3.", "3. ", "2+", "[**2116-7-27**]",
    "[**Hospital 3**]", "[**", "**]", "___", "[**unterminated",
    # not ASCII
    "\x00", "\ufffd", "\u00e9", "\u00c9", ".\u00c9cho", ".\u01c5", "\u01c5", "\u00b3", ",\u00b3",
    ".,\u00b3",
    "\u0663", ".\u0663", "\u5de6\u5fc3\u623f", ".\u5de6", "\U0001f600", "\U0001d400.\U0001d400X",
    "\U00020000",
    "\u0130", "\u0131", "\u212a", "D\u212a.", "\u1e9e", "\u00df", "\u00aa", "\u2160. ", "\u24b6",
    "e\u0301", "\u200b",
    "\u2013", "\u2014", "\u201cquoted.\u201d", "\u00b5", "\u2265", "\ufeff", "\u0345", "\u02b0",
)  # fmt: skip

pieces_of_text = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.text(st.characters(codec="utf-8"), max_size=4),
    st.text("aA1 .,\n-:*[(|\t", max_size=8),
)
texts = st.one_of(
    st.none(), st.lists(pieces_of_text, max_size=40).map("".join), st.sampled_from(FRAGMENTS)
)


@cache
def table() -> SectionTable:
    return SectionTable(builtin_pack("echo"))


def scanned(
    rows: list[str | None], engine: scan.ScanEngine, bounds: Bounds | None = None
) -> tuple[Pieces, Statements]:
    scanner = Scanner(table(), engine)
    return scanner.scan(pa.array(rows, pa.large_string()), bounds), scanner.statements


def assert_equal(one: tuple[Pieces, Statements], two: tuple[Pieces, Statements]) -> None:
    for column in dataclasses.fields(Pieces):
        left, right = getattr(one[0], column.name), getattr(two[0], column.name)
        assert left.dtype == right.dtype, column.name
        assert left.tolist() == right.tolist(), column.name
    assert one[1].texts == two[1].texts
    assert one[1].structures == two[1].structures


def assert_engines_agree(rows: list[str | None], bounds: Bounds | None = None) -> None:
    assert_equal(scanned(rows, "compiled", bounds), scanned(rows, "python", bounds))


def simulated(tmp_path: Path, studies: int) -> list[str | None]:
    path = tmp_path / "made.csv"
    simulate(studies, 11, path)
    with path.open(newline="", encoding="utf-8") as handle:
        return [row["TEXT"] for row in csv.DictReader(handle)]


@needs_numba
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(texts, max_size=6))
def test_engines_agree_on_texts_made_of_tricky_fragments(rows: list[str | None]) -> None:
    assert_engines_agree(rows)


@needs_numba
@settings(deadline=None, max_examples=150)
@given(st.lists(pieces_of_text, max_size=20).map("".join), st.data())
def test_engines_agree_on_parts_of_texts(text: str, data: st.DataObject) -> None:
    places = st.integers(-2, len(text) + 2)
    ends = [(data.draw(places), data.draw(places)) for _ in range(3)]
    bounds = tuple(np.array(side, np.int64) for side in zip(*ends, strict=True))
    assert_engines_agree([text] * 3, (bounds[0], bounds[1]))


@needs_numba
@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_engines_agree_where_a_fragment_begins_ends_or_divides_a_text(fragment: str) -> None:
    words = "Mild MR. The left atrium is normal"
    assert_engines_agree(
        [
            fragment,
            fragment + words,
            words + fragment,
            words + fragment + words,
            fragment * 3,
            f"LV: ok{fragment}x\nMV: {fragment}\n{fragment}{words}",
            f"\u00e9{fragment}{words}",
        ]
    )


@needs_numba
def test_engines_agree_on_simulated_reports(tmp_path: Path) -> None:
    rows = simulated(tmp_path, 300)
    assert_engines_agree(rows)
    assert_engines_agree([f"\u00e9 {text}" for text in rows])
    assert_engines_agree([text and text.replace("\n", "\r\n") for text in rows])
    assert_engines_agree([text and " ".join(text.split()) for text in rows])


@needs_numba
@pytest.mark.parametrize("name", ["reports_gold.jsonl", "mimic_like_gold.jsonl", "cases.jsonl"])
def test_engines_agree_on_gold_reports(name: str) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not beside this checkout")
    rows = [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
    assert_engines_agree(rows)


@needs_numba
def test_engines_agree_on_very_long_lines_and_many_lines() -> None:
    assert_engines_agree(
        [
            "a" * 200_000,
            "Mild MR. " * 20_000,
            "a\n" * 30_000,
            *(sign * 5_000 for sign in ":(.|-*"),
            "\u00e9" * 100_000,
            "LV: " * 5_000,
            "\n" * 10_000,
            "1. " * 5_000,
            "[**" * 3_000,
        ]
    )


@needs_numba
def test_numbers_of_statements_go_on_over_batches() -> None:
    batches = [["MV: Mild MR.", "AV: No AS. Mild MR."], [], ["MV: Mild MR. New one.", None, ""]]
    made = []
    for engine in ("python", "compiled"):
        scanner = Scanner(table(), engine)  # type: ignore[arg-type]
        ids = [
            scanner.scan(pa.array(batch, pa.large_string())).statement.tolist() for batch in batches
        ]
        made.append((ids, scanner.statements.texts, scanner.statements.structures))
    assert made[0] == made[1]
    assert made[0][0] == [[0, 1, 2], [], [0, 3]]
    assert made[0][1] == ["Mild MR.", "No AS.", "Mild MR.", "New one."]
    assert made[0][2] == ["MV", "AV", "AV", "MV"]


@needs_numba
def test_the_dictionary_grows_without_losing_a_statement() -> None:
    rows = [f"MV: Mild MR {number} mm." for number in range(70_000)]
    scanner = Scanner(table(), "compiled")
    column = pa.array(rows, pa.large_string())
    assert scanner.scan(column).statement.tolist() == list(range(70_000))
    assert scanner.scan(column).statement.tolist() == list(range(70_000))
    assert len(set(scanner.statements.texts)) == len(scanner.statements) == 70_000


@needs_numba
def test_short_statements_of_different_sections_are_different_statements() -> None:
    headers = ("LA", "RA", "LV", "RV", "AORTA", "AV", "MV", "TV", "PV", "PERICARDIUM")
    letters = "ABCDEGHKNOPQSTUWXYZabcdefghijklmnopqrstuwyz"
    words = [f"{one}{two}d" for one in letters for two in letters]
    rows = [f"{header}:\n{'. '.join(words)}" for header in headers] + [". ".join(words)]
    pieces, statements = scanned(list(rows), "compiled")
    kinds = set(zip(statements.structures, statements.texts, strict=True))
    assert len(pieces) == len(rows) * len(words) == len(statements) == len(kinds)


@needs_numba
def test_a_batch_denser_than_guessed_is_read_in_several_goes() -> None:
    assert_engines_agree(["a. b! " * 5_000, "b? c! " * 5_000, "x! " * 9_000, None, "Mild MR."])


@needs_numba
def test_slices_chunks_and_narrow_strings_give_the_same_rows() -> None:
    rows = ["LV: ok.", None, "MV: Mild MR. No MS.", "", "AV: \u00e9t\u00e9.", "TV: fine."]
    whole = Scanner(table(), "compiled").scan(pa.array(rows, pa.large_string()))
    narrow = Scanner(table(), "compiled").scan(pa.array(rows, pa.string()))
    chunks = pa.chunked_array([rows[:2], [], rows[2:5], rows[5:]], pa.large_string())
    padded = pa.array(["MV: other.", *rows, "x"], pa.large_string()).slice(1, len(rows))
    for engine in ("compiled", "python"):
        for texts in (chunks, padded):
            other = Scanner(table(), engine).scan(texts)  # type: ignore[arg-type]
            assert other.study.tolist() == whole.study.tolist() == narrow.study.tolist()
            assert other.statement.tolist() == whole.statement.tolist()
            assert other.start.tolist() == whole.start.tolist()


@pytest.mark.parametrize("engine", ["python", pytest.param("compiled", marks=needs_numba)])
def test_offsets_slice_the_statement_out_of_its_text(engine: scan.ScanEngine) -> None:
    rows = [
        "\u5de6 LV: N\u00e9 normal   size. \U0001f600 Mild\u00a0\u00a0\u00a0MR.\n",
        "Indication: heart failure.\n\nMITRAL VALVE: Mild \tMR. No MS.",
    ]
    pieces, statements = scanned(list(rows), engine)
    assert len(pieces) == 4
    for study, number, start, end in zip(
        pieces.study, pieces.statement, pieces.start, pieces.end, strict=True
    ):
        assert unwrap(rows[study][start:end]) == statements.texts[number]
    assert statements.texts[-2:] == ["Mild\tMR.", "No MS."]
    assert statements.structures[-2:] == ["MV", "MV"]


@pytest.mark.parametrize("engine", ["python", pytest.param("compiled", marks=needs_numba)])
def test_rows_are_those_of_segment_without_ignored_sections_in_text_order(
    engine: scan.ScanEngine,
) -> None:
    text = "INDICATION: Severe MR.\nMV: Mild MR.\nPOST-BYPASS:\nMV: No MR.\nIMPRESSION: Good. Fine."
    pieces, _ = scanned([text], engine)
    wanted = [piece for piece in segment(text, table()) if piece.role is not Role.IGNORE]
    assert len(segment(text, table())) > len(wanted) == len(pieces)
    assert pieces.start.tolist() == sorted(piece.start for piece in wanted)
    assert pieces.head.tolist() == [piece.head for piece in wanted]
    assert pieces.section.tolist() == [piece.section for piece in wanted]
    assert pieces.role.tolist() == [int(piece.role) for piece in wanted]
    assert [PHASES[number] for number in pieces.phase] == [piece.phase for piece in wanted]


def test_few_reports_are_left_to_the_python_engine() -> None:
    assert Scanner(table(), "auto", size_hint=10).engine == "python"
    assert Scanner(table(), "python").engine == "python"


@needs_numba
def test_many_reports_take_the_compiled_engine_if_it_is_there() -> None:
    assert Scanner(table(), "auto", size_hint=10_000).engine == "compiled"
    assert Scanner(table(), "auto").engine == "compiled"


def test_without_numba_auto_takes_python_and_compiled_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scan.importlib.util, "find_spec", lambda name: None)
    assert Scanner(table(), "auto", size_hint=10_000).engine == "python"
    with pytest.raises(MissingExtra, match=r"clinqa\[fast\]"):
        Scanner(table(), "compiled")


def test_bounds_of_another_length_are_refused() -> None:
    none = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="bounds"):
        Scanner(table(), "python").scan(pa.array(["a"], pa.large_string()), (none, none))


def test_what_a_character_is_agrees_with_python_for_every_code_point() -> None:
    flags = make_tables(table()).flags.tolist()
    for code in range(0x110000):
        char, flag = chr(code), flags[code]
        wanted = (
            ALPHA * char.isalpha()
            + UPPER * char.isupper()
            + DIGIT * char.isdigit()
            + CASED_LOW * (char.islower() or (char.istitle() and not char.isupper()))
        )
        assert flag & (ALPHA | UPPER | DIGIT | CASED_LOW) == wanted, hex(code)
        assert bool(flag & SPACE) == (unwrap(f"a{char}b")[1:-1] in ("", " ", "\t")), hex(code)


def test_headers_have_different_hashes_and_structures_have_different_numbers() -> None:
    keys = {*table().headers, *table().blocks}
    assert len({hash_bytes(key.encode()) for key in keys}) == len(keys) > 100
    assert structures_of(table())[0] == "*"
    assert len(set(structures_of(table()))) == len(structures_of(table()))
