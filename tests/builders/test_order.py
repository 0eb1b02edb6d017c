"""Nothing hangs on the order of sentences, sections or reports, nor on who reads them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.builders.reports.pipeline import build_reports
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.packs.loader import builtin_pack
from clinqa.simulate.echo import simulate
from made_notes import Note, answers_of, batch_of, builder, rows_of, write_csv

HEADERS = {
    "LA": "LEFT ATRIUM",
    "RA": "RIGHT ATRIUM/INTERATRIAL SEPTUM",
    "LV": "LEFT VENTRICLE",
    "RV": "RIGHT VENTRICLE",
    "AV": "AORTIC VALVE",
    "MV": "MITRAL VALVE",
    "TV": "TRICUSPID VALVE",
    "*": "Conclusions",
}


@cache
def sentences(structure: str) -> list[str]:
    """What the lexicon knows in a section, as sentences."""
    rows = builtin_pack("echo").lexicon
    found = {row.statement.rstrip(".") + "." for row in rows if row.structure == structure}
    return sorted(text for text in found if text[0].isupper() and ":" not in text)


@st.composite
def reports(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Headers, each with some sentences."""
    structures = draw(st.lists(st.sampled_from(sorted(HEADERS)), min_size=1, unique=True))
    return [
        (HEADERS[one], draw(st.lists(st.sampled_from(sentences(one)), min_size=1, max_size=4)))
        for one in structures
    ]


def text_of(sections: list[tuple[str, list[str]]]) -> str:
    return "\n\n".join(f"{header}: {' '.join(said)}" for header, said in sections)


@settings(max_examples=150, deadline=None)
@given(reports(), st.randoms(use_true_random=False))
def test_shuffled_sentences_and_sections_give_the_same_answers(
    sections: list[tuple[str, list[str]]], rng: random.Random
) -> None:
    shuffled = [(header, rng.sample(said, len(said))) for header, said in sections]
    rng.shuffle(shuffled)
    assert answers_of(text_of(shuffled)) == answers_of(text_of(sections))


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "reports.csv"
    simulate(260, 5, out)
    return out


def built(inputs: list[Path], out: Path, **options: Any) -> dict[str, list[dict[str, Any]]]:
    chosen = BuildOptions(**{"questions": "full", "seed": 3, "engine": "python", **options})
    build_reports(inputs, out, chosen)
    return rows_of(out)


@pytest.fixture(scope="module")
def expected(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return built([notes], tmp_path_factory.mktemp("expected") / "d")


def without_place(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Rejects name the row of the file, which moves when rows are moved."""
    plain = [{**row, "row": None, "detail": None} for row in rows["rejects"]]
    return {**rows, "rejects": sorted(plain, key=str)}


def test_the_size_of_batches_changes_no_row(
    notes: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    assert built([notes], tmp_path / "d", batch_rows=17) == expected


def test_the_order_of_reports_and_files_changes_no_row(
    notes: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    import csv

    with notes.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(1).shuffle(rows)
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, some in zip(parts, (rows[:100], rows[100:]), strict=True):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *some])
    found = built(parts, tmp_path / "d", batch_rows=50)
    assert without_place(found) == without_place(expected)
    again = built(parts[::-1], tmp_path / "e")
    assert without_place(again) == without_place(expected)


def test_the_number_of_processes_changes_no_row(
    notes: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    assert built([notes], tmp_path / "d", batch_rows=40, workers=2) == expected


def test_the_engine_changes_no_row(notes: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    assert built([notes], tmp_path / "d", engine="compiled") == expected


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_the_hash_seed_changes_no_row(
    notes: Path, expected: dict[str, Any], tmp_path: Path, hash_seed: str
) -> None:
    command = [sys.executable, "-m", "clinqa", "build", "echo", str(notes), "--out"]
    command += [str(tmp_path / "d"), "--questions", "full", "--seed", "3", "--engine", "python"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / "d") == expected


def test_a_report_twice_is_a_duplicate_wherever_it_stands(tmp_path: Path) -> None:
    rows: list[Note] = [(f"s{i}", f"p{i}", f"MITRAL VALVE: Mild MR. No MS {i}.") for i in range(9)]
    once = built([write_csv(tmp_path / "once.csv", rows)], tmp_path / "a")
    twice = built([write_csv(tmp_path / "twice.csv", [*rows[4:], *rows])], tmp_path / "b")
    assert {**twice, "rejects": []} == {**once, "rejects": []}


def test_what_was_read_before_changes_nothing() -> None:
    note = ("s", "p", "MITRAL VALVE: Mild MR.\nTRICUSPID VALVE: Mild TR. No TS.")
    fresh = builder().build(batch_of([note])).tables
    builder().build(batch_of([("t", "q", "MITRAL VALVE: Moderate MR. LV not seen.")]))
    again = builder().build(batch_of([note])).tables
    assert again.items.to_pylist() == fresh.items.to_pylist()
    assert again.labels.to_pylist() == fresh.labels.to_pylist()
