"""The journal survives kills: nothing appended is lost, a torn end is cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.errors import ConfigError
from clinqa.core.journal import Journal, read_journal


def write(path: Path, keys: list[str]) -> None:
    with Journal(path, private=True) as journal:
        for key in keys:
            journal.append({"key": key, "output": f"text {key} \ud800 é\n"})


def keys(path: Path) -> list[str]:
    return [record["key"] for record in read_journal(path)]


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "j", ["a", "b"])
    write(tmp_path / "j", ["c"])
    assert keys(tmp_path / "j") == ["a", "b", "c"]
    assert next(read_journal(tmp_path / "j"))["output"] == "text a \ud800 é\n"


def test_a_journal_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert keys(tmp_path / "none") == []


def test_a_line_is_in_the_file_before_the_next_is_made(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", private=True) as journal:
        journal.append({"key": "a"})
        assert keys(tmp_path / "j") == ["a"]  # a kill here loses nothing


@given(cut=st.integers(min_value=0, max_value=200))
def test_a_file_cut_anywhere_gives_its_whole_lines_and_can_be_continued(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("torn") / "j"
    write(path, ["a", "b", "c"])
    content = path.read_bytes()
    path.write_bytes(content[: min(cut, len(content))])
    whole = keys(path)
    assert whole == ["a", "b", "c"][: content[:cut].count(b"\n")]
    write(path, ["d"])
    assert keys(path) == [*whole, "d"]


def test_blocks_a_power_cut_left_empty_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write(path, ["a"])
    with path.open("ab") as file:
        file.write(b"\0" * 50 + b'\n{"no": "key"}\n[]\n')
    write(path, ["b"])
    assert keys(path) == ["a", "b"]


def test_a_run_takes_over_the_keys_it_chooses(tmp_path: Path) -> None:
    write(tmp_path / "j", ["a", "b"])
    with Journal(tmp_path / "j", private=True) as journal:
        journal.keep("a")
        journal.append({"key": "c"})
        assert ("a" in journal, "b" in journal, len(journal)) == (True, False, 1)


def test_only_the_owner_may_read_a_private_journal(tmp_path: Path) -> None:
    write(tmp_path / "j", ["a"])
    assert (tmp_path / "j").stat().st_mode & 0o777 == 0o600


def test_a_symlink_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    os.symlink(tmp_path / "target", tmp_path / "j")
    with pytest.raises(OSError):
        Journal(tmp_path / "j", private=True)
    with pytest.raises(ConfigError):
        keys(tmp_path / "j")
