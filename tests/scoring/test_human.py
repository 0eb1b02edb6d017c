"""Sheets of verdicts: one odd row is counted and left out, and ends nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds.facets.measures import Corrects
from clinqa.scoring.human import HumanVerdicts, read_human

CORRECTS = Corrects(metric="level_accuracy", right=frozenset(), wrong=frozenset({"dangerous"}))


def read(folder: Path, text: str, encoding: str = "utf-8") -> HumanVerdicts:
    path = folder / "people.csv"
    path.write_bytes(text.encode(encoding))
    return read_human(path, {"r1": "r1", "good": "r1"}, CORRECTS)


def test_odd_rows_are_counted_by_reason_and_the_others_are_used(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "item_id,verdict,run\na,right,good\na,Wrong.,good\nb,not sure,good\nc,,good\n"
        ",right,good\nd,right,nobody\ne,dangerous,r1\n",
    )
    assert found.by_run == {"r1": {"a": 0.5, "e": 0.0}}
    assert found.rejects == {"no_item": 1, "no_such_run": 1, "odd_verdict": 1}
    counts = found.counts
    assert counts.problems() == [] and (counts.read, counts.kept, counts.out_of_scope) == (7, 3, 1)
    told = " ".join(found.warnings())
    assert "1 of 7 rows are neither right nor wrong" in told and "not sure" not in told


def test_a_sheet_is_read_in_any_case_delimiter_and_encoding(tmp_path: Path) -> None:
    text = "Item_ID;Verdict;Prüfer\r\na;Right;Müller\r\nb;no;Müller\r\n"
    for encoding in ("utf-8-sig", "cp1252", "utf-16"):
        assert read(tmp_path, text, encoding).by_run == {"r1": {"a": 1.0, "b": 0.0}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item_id,verdict\na,perhaps\nb,maybe\n", "none of its 2 rows can be used.*right or wrong"),
        ("item_id,verdict,run\na,right,x\n", "no such run; scored are r1"),
        ("item_id,verdict\n,right\n", "must name an item"),
        ("item,verdict\na,right\n", "no column 'item_id'"),
    ],
)
def test_a_sheet_of_which_no_row_can_be_used_is_an_error(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        read(tmp_path, text)
