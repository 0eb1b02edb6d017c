"""Presets of columns: EchoQA's six determinants by the names that the usual tables give them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clinqa.auditing.cohort import Cohort, read_cohort
from clinqa.auditing.dimensions import dimensions_of
from clinqa.auditing.presets import preset_of
from clinqa.core.errors import ConfigError

IDS = [f"{10000 + number}" for number in range(60)]
TRACTS = [f"36061{number:06d}" for number in range(60)]
SIX = ["disability", "public assistance", "unemployment", "heavy drinking", "mental distress",
       "smoking"]  # fmt: skip
HOUSES = {
    "AHRQ and County Health Rankings": [
        "ACS_PCT_DISABLE", "ACS_PCT_HH_PUB_ASSIST", "ACS_PCT_UNEMPLOY",
        "Excessive drinking raw value", "Frequent mental distress raw value",
        "Adult smoking raw value",
    ],
    "PLACES and SVI": [
        "EP_DISABL", "FOODSTAMP_CrudePrev", "EP_UNEMP", "binge_crudeprev", "mhlth_crudeprev",
        "csmoking_crudeprev",
    ],
    "Table 4": [
        "% of population with a disability", "% of households receiving public assistance",
        "% of the population that is unemployed", "% of heavy drinking adults",
        "% of adults reporting 14+ days of poor mental health per month",
        "% of current adults smokers",
    ],
}  # fmt: skip


def cohort(folder: Path, columns: list[str], only: list[str], **more: str) -> Cohort:
    table, where = folder / "tracts.csv", folder / "map.csv"
    head = ",".join(["TRACTFIPS", "POPULATION", *columns])
    rows = "".join(
        f"{t},{n * 7},{','.join(str(n + at / 8) for at in range(len(columns)))}\n"
        for n, t in enumerate(TRACTS)
    )
    table.write_text(f"{head}\n{rows}", encoding="utf-8")
    pairs = zip(IDS, TRACTS, strict=True)
    where.write_text("patient,tract\n" + "".join(f"{a},{b}\n" for a, b in pairs), "utf-8")
    named = more.get("preset", "echoqa")
    return read_cohort(IDS, [table], where, preset=preset_of(named), only=only)


@pytest.mark.parametrize("house", HOUSES)
def test_the_six_determinants_are_found_by_the_names_of_each_house(
    tmp_path: Path, house: str
) -> None:
    found = cohort(tmp_path, HOUSES[house], [])
    made, left = dimensions_of(found, np.ones(60, np.int64))
    assert [one.name for one in made] == SIX and not left
    assert all(one.kind == "quartiles" for one in made)
    assert [one.note for one in made] == [f"column {name}" for name in HOUSES[house]]


def test_what_no_table_has_is_left_out_and_said_and_named_columns_come_too(
    tmp_path: Path,
) -> None:
    found = cohort(tmp_path, ["EP_UNEMP", "ACS_PCT_UNEMPLOY", "other"], ["population"])
    made, left = dimensions_of(found, np.ones(60, np.int64))
    assert {one.name for one in made} == {"unemployment", "POPULATION"}
    assert made[-1].note == "column ACS_PCT_UNEMPLOY"  # the first of its names, not of the table
    assert {one.name for one in left} == set(SIX) - {"unemployment"}
    assert {one.reason for one in left} == {"no table has a column of it"}


def test_a_preset_of_ones_own_is_a_file_and_another_name_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "title: ours\nsource: us\ndeterminants:\n  wealth: {title: W, columns: [Reichtum]}\n",
        encoding="utf-8",
    )
    found = cohort(tmp_path, ["reichtum"], [], preset=str(path))
    assert [one.name for one in found.attributes] == ["wealth"]
    with pytest.raises(ConfigError, match="no such preset; there are echoqa"):
        preset_of("nope")
    with pytest.raises(ConfigError, match="no table has a column of the six social"):
        cohort(tmp_path, ["income"], [])
