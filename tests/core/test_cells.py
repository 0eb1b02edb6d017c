from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.cells import read_cell, refuse_existing, tsv_cell, write_file
from clinqa.core.errors import ConfigError


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_tsv_cell_prints_and_is_read_back(text: str) -> None:
    cell = tsv_cell(text)
    assert cell.isprintable()
    if not (text.startswith("'") or text[:1] == text[-1:] == '"'):
        assert read_cell(cell) == text


def test_terminal_codes_of_a_text_do_not_reach_a_tsv_cell() -> None:
    text = "Mild\x1b[31m MR\x07 \u202eRM\\x1b"
    assert tsv_cell(text) == r"Mild\x1b[31m MR\x07 \u202eRM\\x1b"
    assert read_cell(tsv_cell(text)) == text


def test_a_new_file_is_no_file_that_is_there(tmp_path: Path) -> None:
    reports = tmp_path / "reports.csv"
    reports.write_text("id,text\n")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    for path in (reports, tmp_path / "gone.csv", tmp_path):
        with pytest.raises(ConfigError, match="is there already"):
            refuse_existing(path)
    with pytest.raises(ConfigError, match=r"must end in \.csv"):
        refuse_existing(tmp_path / "moves.txt", ".csv")
    refuse_existing(tmp_path / "moves.CSV", ".csv")


def test_a_new_file_is_not_put_into_a_folder_of_ours(tmp_path: Path) -> None:
    (tmp_path / "d" / "data").mkdir(parents=True)
    (tmp_path / "d" / "manifest.json").write_text('{\n "format": "f",\n "tool": "clinqa"}')
    for path in (tmp_path / "d" / "x.svg", tmp_path / "d" / "data" / "x.svg"):
        with pytest.raises(ConfigError, match="a folder clinqa made"):
            refuse_existing(path)
    (tmp_path / "d" / "manifest.json").write_text('{"tool": "another"}')
    refuse_existing(tmp_path / "d" / "x.svg")


def test_a_write_that_fails_leaves_nothing_and_no_file_of_others_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "p.svg.tmp"
    theirs.write_text("x")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left"):
        write_file(tmp_path / "p.svg", "<svg/>", private=False)
    assert list(tmp_path.iterdir()) == [theirs] and theirs.read_text() == "x"
