from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.builders.reports.lexicon.accept import accept
from clinqa.builders.reports.lexicon.propose import propose
from clinqa.builders.reports.pipeline import BuildOptions, build_reports
from clinqa.core.cells import read_cell, tsv_cell
from clinqa.core.errors import ConfigError
from clinqa.packs.loader import load_pack, pack_folder
from made_folder import Label, Statement, write_folder
from made_notes import write_csv

STATEMENTS = [
    Statement("Mild MR.", (("mitral_regurgitation", 1),), 50, "lexicon"),
    Statement("Probable mild MR.", (("mitral_regurgitation", 1),), 20, hedged=True),
    Statement("MV looks fine.", (("mitral_stenosis", 0), ("mitral_regurgitation", 0)), 20,
              explicit=False),
    Statement("Image quality\nwas fair.", (), 7, "none"),
    Statement("IMAGE QUALITY was fair.", (), 3, "none"),
    Statement("=HYPERLINK(1)\tx", (), 2, "none"),
]  # fmt: skip


def made(folder: Path, **more: str) -> Path:
    labels = [Label("s1", "mitral_regurgitation", 1)]
    return write_folder(folder, labels, statements=STATEMENTS, **more)


def rows(path: Path) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def test_what_the_lexicon_lacks_is_listed_most_frequent_first(tmp_path: Path) -> None:
    propose(made(tmp_path / "d"), tmp_path / "new.tsv")
    found = rows(tmp_path / "new.tsv")
    assert [row["statement"] for row in found] == [
        "MV looks fine.", "Probable mild MR.", "Image quality was fair.", "'=HYPERLINK(1) x",
    ]  # fmt: skip
    assert found[0]["labels"] == "mitral_regurgitation=0~ mitral_stenosis=0~"
    assert found[1]["labels"] == "mitral_regurgitation=1?"
    assert found[2]["labels"] == "-"
    assert {row["accept"] for row in found} == {""}


def test_spellings_that_differ_in_case_or_white_space_are_one_row(tmp_path: Path) -> None:
    propose(made(tmp_path / "d"), tmp_path / "new.tsv")
    assert rows(tmp_path / "new.tsv")[2]["count"] == "10"


def test_the_curve_says_what_accepting_the_first_rows_covers(tmp_path: Path) -> None:
    found = propose(made(tmp_path / "d"), tmp_path / "new.tsv")
    assert [(point.accepted, round(point.share, 3)) for point in found.curve] == [
        (0, 0.49), (4, 1.0),
    ]  # fmt: skip
    shares = [float(row["cumulative_share"]) for row in rows(tmp_path / "new.tsv")]
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_the_file_names_its_class_first_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.tsv"
    propose(made(tmp_path / "d", data_class="restricted"), path)
    assert path.read_text(encoding="utf-8").startswith("# data class: restricted")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "new.tsv"
    path.write_text("an expert's work", encoding="utf-8")
    with pytest.raises(ConfigError, match="there already"):
        propose(made(tmp_path / "d"), path)
    assert path.read_text(encoding="utf-8") == "an expert's work"


def test_a_reading_of_another_phase_is_remarked(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "d",
        [Label("s1", "mitral_regurgitation", 1)],
        statements=[Statement("New MR.", (("mitral_regurgitation", 1),), 1, phase="stress")],
    )
    propose(folder, tmp_path / "new.tsv")
    assert "phase" in rows(tmp_path / "new.tsv")[0]["note"]


def test_limit_shortens_the_file_and_not_the_curve(tmp_path: Path) -> None:
    found = propose(made(tmp_path / "d"), tmp_path / "new.tsv", limit=1)
    assert (found.rows, found.unknown) == (1, 4)
    assert found.curve[-1].share == 1.0


@given(st.text())
def test_a_cell_comes_back_as_it_was(text: str) -> None:
    cell = tsv_cell(text)
    assert not set(cell) & {"\t", "\n", "\r"}
    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@"))
    assert read_cell(cell) == text


def test_what_is_proposed_is_accepted_and_read_under_every_heading(tmp_path: Path) -> None:
    """Under the pericardium too, which has no abnormality, and a header that lost its noun."""
    pack = load_pack(pack_folder("echo"))
    headers = ["RIGHT ATRIUM", "PERICARDIUM", "___ VALVE", "GENERAL COMMENTS"]
    text = "\n".join(f"{name}: A zebra number {n} was seen." for n, name in enumerate(headers))
    source = write_csv(
        tmp_path / "r.csv",
        [("s", "p", f"FINDINGS:\n{text}\nMITRAL VALVE: Mild mitral regurgitation is seen.")],
    )
    options = BuildOptions(workers=1, engine="python")
    build_reports([source], tmp_path / "d", options)
    table = tmp_path / "new.tsv"
    assert propose(tmp_path / "d", table).rows == 5
    assert {row["structure"] for row in rows(table)} == {"RA", "PE", "?", "*", "MV"}
    assert {"PE", "AO", "*", *pack.structures} == set(pack.headings)
    table.write_text(table.read_text().replace("\t\t\n", "\tyes\t\n"))
    assert accept(table, tmp_path / "pack").added == 5
    build_reports([source], tmp_path / "e", replace(options, pack_dir=tmp_path / "pack"))
    assert propose(tmp_path / "e", tmp_path / "none.tsv").rows == 0
