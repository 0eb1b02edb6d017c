"""Ids of tables brought together: by named rules, or a clear error; what is lost is a headline."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.auditing.cohort import Cohort, read_cohort
from clinqa.auditing.joining import joined
from clinqa.core.errors import SourceError

HERE = Path("t.csv")
IDS = [f"{10000 + number}" for number in range(40)]


def write(folder: Path, name: str, header: str, rows: list[str]) -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def by_tract(folder: Path, tracts: list[str], table: list[str], key: str = "GEOID") -> Cohort:
    where = [f"{one},{tract}" for one, tract in zip(IDS, tracts, strict=True)]
    rows = [f"{tract},{number}" for number, tract in enumerate(table)]
    return read_cohort(
        IDS,
        [write(folder, "tracts.csv", f"{key},income", rows)],
        write(folder, "map.csv", "subject_id,tract", where),
    )


def test_tracts_that_lost_their_leading_zeros_find_all_patients(tmp_path: Path) -> None:
    tracts = [f"0100100{n:04d}" if n % 2 else f"2502500{n:04d}" for n in range(40)]
    cohort = by_tract(tmp_path, tracts, [tract.lstrip("0") for tract in tracts], "TRACTFIPS")
    assert None not in cohort.attributes[0].values
    assert cohort.headlines == () and [one.lost for one in cohort.losses] == [0, 0]
    assert "tracts.csv: ids of tracts were matched without regard to leading zeros" in " ".join(
        cohort.told
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "by"),
    [
        ("00123", "123", "leading zeros"),
        ("123", "123.0", "zeros after the point"),
        ("5350001", "5350001.00", "zeros after the point"),
        ("01001000100", "1400000US01001000100", "the prefix of the Census Bureau"),
        ("e01000001", "E01000001", "capitals"),
    ],
)
def test_what_programs_do_to_ids_is_undone_by_a_named_rule(ours: str, theirs: str, by: str) -> None:
    join = joined(HERE, [ours], [theirs, "777"], "tract", "the map")
    assert join.partner == {ours: theirs} and list(join.by) == [by]


def test_ids_as_written_win_and_others_find_no_second_partner() -> None:
    join = joined(HERE, ["10", "010"], ["10"], "patient", "the dataset")
    assert join.partner == {"10": "10"} and not join.by
    assert joined(HERE, ["5350001.01"], ["5350001.10"], "tract", "the map").partner == {}


def test_a_pair_that_is_not_the_only_one_is_an_error_with_the_share_and_no_id() -> None:
    for ours, theirs in ((["007", "8"], ["7", "07", "8"]), (["007", "07", "8"], ["7", "8"])):
        with pytest.raises(SourceError, match=r"of [23] patients \(\d\d %\)|of [23] p.*\d\d%"):
            joined(HERE, ours, theirs, "patient", "the dataset")


@pytest.mark.parametrize("form", ["3.60610E+10", "3,6061E+10", "4E+10"])
def test_tract_ids_in_scientific_form_are_refused(tmp_path: Path, form: str) -> None:
    tracts = [f"3606100{n:04d}" for n in range(40)]
    with pytest.raises(SourceError, match="1 of 40 tract ids in column GEOID are in scientific"):
        by_tract(tmp_path, tracts, [*tracts[:39], f'"{form}"'])
    with pytest.raises(SourceError, match="scientific form"):
        by_tract(tmp_path, [*tracts[:39], f'"{form}"'], tracts)


def test_a_join_that_loses_more_than_a_twentieth_is_a_headline(tmp_path: Path) -> None:
    rows = [f"{one},F" for one in IDS[:37]]
    cohort = read_cohort(IDS, [write(tmp_path, "p.csv", "patient,sex", rows)])
    assert cohort.headlines == (
        "p.csv: 3 of 40 patients of the split (8%) have no row: “missing” in all of its columns",
    )
    rows.append(f"{IDS[37]},M")
    assert read_cohort(IDS, [write(tmp_path, "q.csv", "patient,sex", rows)]).headlines == ()


def test_patients_whose_tract_has_no_row_are_a_headline_of_their_own(tmp_path: Path) -> None:
    tracts = [f"3606100{n:04d}" for n in range(40)]
    cohort = by_tract(tmp_path, tracts, tracts[:30])
    assert "tracts.csv: 10 of 40 patients of the split (25%) live in tracts" in cohort.headlines[0]


def test_block_groups_for_tracts_are_an_error_that_says_so(tmp_path: Path) -> None:
    tracts = [f"3606100{n:04d}" for n in range(40)]
    with pytest.raises(SourceError, match="its ids have 12 digits, ours 11"):
        by_tract(tmp_path, tracts, [f"{tract}1" for tract in tracts])
