"""Printed totals against the sums of their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import SourceError
from clinqa.studying.printed import read_totals

TABLE3 = Path(__file__).parents[2].parent / "shared" / "data" / "smedqa_table3.csv"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_are_summed_and_what_is_printed_is_compared(tmp_path: Path) -> None:
    text = 'specialty,3+,5\nCardiology,"1,200",900\nUrology,300,200\nTotal,"2,500","1,100"\n'
    found = read_totals(_write(tmp_path / "t.csv", text))
    assert found.sums == {"3+": 1500, "5": 1100}
    assert found.wrong == ["3+: the rows sum to 1,500, the table prints 2,500"]
    assert found.lines() == [
        "3+: 2 rows sum to 1,500; printed 2,500  <- differs",
        "5: 2 rows sum to 1,100; printed 1,100",
    ]


def test_a_table_without_totals_is_summed(tmp_path: Path) -> None:
    found = read_totals(_write(tmp_path / "t.csv", "s,n\nA,1\nB,2\n"))
    assert (found.sums, found.wrong) == ({"n": 3}, [])
    assert found.lines() == ["n: 2 rows sum to 3; no total is printed"]


@pytest.mark.parametrize("named", ["Total:", "Grand total", "**TOTAL**", "Sum"])
def test_a_row_of_totals_is_never_summed_itself(tmp_path: Path, named: str) -> None:
    found = read_totals(_write(tmp_path / "t.csv", f"s,n\nA,1\nB,2\n{named},4\n"))
    assert (found.sums, found.rows, len(found.wrong)) == ({"n": 3}, 2, 1)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_files_of_other_programs_are_read_alike(tmp_path: Path, end: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(end.join(['\ufeff"s, named",n', "A,1", "", "Total,1", ""]).encode())
    assert read_totals(path).printed == {"n": 1}


def test_a_cell_too_large_for_csv_is_an_error_with_its_file(tmp_path: Path) -> None:
    # the csv module's limit belongs to the process: a reader of banks may have raised it before
    with pytest.raises(SourceError, match=r"t\.csv: (cannot be read as CSV|row 2 holds a cell)"):
        read_totals(_write(tmp_path / "t.csv", "s,n\nA," + "2" * 200_000 + "\n"))


@pytest.mark.skipif(
    not TABLE3.exists(),
    reason="the rows of the paper's Table 3 are in no file here (shared/data/smedqa_table3.csv); "
    "the shared case qa030 gives their sums, which tests/build/banks compare",
)
def test_the_papers_table_3_sums_to_other_totals_than_it_prints() -> None:
    found = read_totals(TABLE3)
    assert found.sums == {"3+": 39_007, "4+": 35_328, "5": 30_291}
    assert len(found.wrong) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "rows of counts"),
        ("s,n\nA,many\n", "row 2 holds a cell that is no whole number"),
        ("s,n\nA,1,2\n", "row 2 has 3 cells, not 2"),
        ("s,n,n\nA,1,2\n", "two columns"),
        ("s,n\ntotal,1\n", "no rows"),
        ("s,n\nA,1\ntotal,1\nsum,1\n", "second row of totals"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        read_totals(_write(tmp_path / "t.csv", text))
    assert "many" not in str(caught.value)
