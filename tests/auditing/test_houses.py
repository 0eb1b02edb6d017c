"""Tables as offices and hospitals write them, each with its right outcome."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from clinqa.auditing.cohort import Cohort, read_cohort
from clinqa.auditing.dimensions import Dimension, dimensions_of

N = 60
IDS = [f"{10000 + number}" for number in range(N)]
TRACTS = [f"06001400{n:03d}" if n % 3 == 0 else f"36061000{n:03d}" for n in range(N)]


def put(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def lives(folder: Path, places: list[str], column: str = "tract") -> Path:
    rows = "".join(f"{one},{place}\n" for one, place in zip(IDS, places, strict=True))
    return put(folder, "map.csv", f"subject_id,{column}\n{rows}")


def grouped(cohort: Cohort, **asked: object) -> dict[str, Dimension]:
    made, _ = dimensions_of(cohort, np.ones(len(cohort.patients), np.int64), **asked)  # type: ignore[arg-type]
    return {one.name: one for one in made}


def missing(one: Dimension) -> int:
    return int((one.codes < 0).sum())


def test_vulnerability_index_with_minus_999_and_without_leading_zeros(tmp_path: Path) -> None:
    rows = "".join(
        f'{tract.lstrip("0")},"Tract {n}; A County",{-999 if n < 12 else n / 100:.4f}\n'
        for n, tract in enumerate(TRACTS)
    )
    table = put(tmp_path, "svi.csv", f"FIPS,LOCATION,RPL_THEMES\n{rows}")
    one = grouped(read_cohort(IDS, [table], lives(tmp_path, TRACTS)))["RPL_THEMES"]
    assert one.kind == "quartiles" and min(one.cuts) > 0
    assert missing(one) == 12 and one.unknown == {"“-999.0000”": 12}


def test_census_download_with_two_headers_open_ends_and_dashes(tmp_path: Path) -> None:
    def cell(n: int) -> str:
        return '"250,000+"' if n < 3 else "-" if n < 8 else f'"{20 + n},{n:03d}"'

    rows = "".join(f'1400000US{t},"Tract {n}, A, B",{cell(n)}\n' for n, t in enumerate(TRACTS))
    head = '\ufeffGEO_ID,NAME,B19013_001E\n"Geography","Area","Estimate!!Median income"\n'
    table = put(tmp_path, "ACS.B19013-Data.csv", head + rows)
    cohort = read_cohort(IDS, [table], lives(tmp_path, TRACTS), tract_column="geo_id")
    one = grouped(cohort)["B19013_001E"]
    assert one.kind == "quartiles" and one.cuts[0] > 20_000
    assert missing(one) == 5 and one.unknown == {"“-”": 5}
    assert "1 of its values are open at an end" in one.note


def test_welsh_deprivation_ranks_in_windows_letters_with_codes_in_either_case(
    tmp_path: Path,
) -> None:
    places = [f"W010{n:05d}" for n in range(N)]
    rows = "".join(f'{p},"Ynys Môn {n}","{(n + 1) * 31:,}"\n' for n, p in enumerate(places))
    head = 'LSOA code (2011),LSOA name,"Index of Multiple Deprivation (IMD) Rank"\n'
    table = put(tmp_path, "imd.csv", head + rows, "cp1252")
    where = lives(tmp_path, [p.lower() if n % 4 == 0 else p for n, p in enumerate(places)], "LSOA")
    cohort = read_cohort(IDS, [table], where)
    one = grouped(cohort)["Index of Multiple Deprivation (IMD) Rank"]
    assert one.kind == "quartiles" and missing(one) == 0
    assert "imd.csv: not UTF-8, so it was read as Windows-1252" in " ".join(cohort.told)


def test_german_districts_with_semicolons_decimal_commas_and_lost_zeros(tmp_path: Path) -> None:
    keys = [f"0{5315000 + n}" if n % 2 else f"{11000000 + n}" for n in range(N)]

    def cell(n: int) -> str:
        return "." if n < 2 else "-" if n < 4 else f"{3 + n / 7:.1f}".replace(".", ",")

    rows = "".join(f"{key.lstrip('0')};Köln {n};{cell(n)}\r\n" for n, key in enumerate(keys))
    table = put(tmp_path, "inkar.csv", f"AGS;Raumeinheit;Arbeitslose %\r\n{rows}", "cp1252")
    cohort = read_cohort(IDS, [table], lives(tmp_path, keys, "ags"))
    one = grouped(cohort)["Arbeitslose %"]
    assert one.kind == "quartiles" and max(one.cuts) < 20 and missing(one) == 4


def test_hospital_export_with_its_words_for_not_known(tmp_path: Path) -> None:
    words = ["UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED TO ANSWER", "UNKNOWN/NOT SPECIFIED"]
    race = ["WHITE"] * 20 + ["BLACK/AFRICAN AMERICAN"] * 16 + words * 6
    rows = "".join(f"{one},{r}\n" for one, r in zip(IDS, race, strict=True))
    cohort = read_cohort(IDS, [put(tmp_path, "admissions.csv", f"SUBJECT_ID,ETHNICITY\n{rows}")])
    one = grouped(cohort, wanted=["ethnicity"])["ETHNICITY"]
    assert one.groups == ("BLACK/AFRICAN AMERICAN", "WHITE")
    assert one.unknown == {f"“{word}”": 6 for word in sorted(words)}


def test_intensive_care_export_with_ages_over_89_and_a_tenth_of_the_patients_gone(
    tmp_path: Path,
) -> None:
    rows = "".join(f"{one}.0,{'> 89' if n < 5 else 20 + n}\n" for n, one in enumerate(IDS[:50]))
    cohort = read_cohort(IDS, [put(tmp_path, "eicu.csv", f"patient_id,age\n{rows}")])
    one = grouped(cohort)["age"]
    assert one.kind == "quartiles" and one.unknown == {"no row": 10}
    assert "10 of 60 patients of the split (17%)" in cohort.headlines[0]


def test_deprivation_ranks_of_few_places_are_cut_at_quartiles_beside_their_codes(
    tmp_path: Path,
) -> None:
    cells = ["PH", "GQ", "82", "12", "9", "99", "38", "98"]
    rows = "".join(
        f"{n},{t},G{t[:2]}0{t[2:5]}0{t[5:]},{cells[n % 8]},{n % 5 + 1}\n"
        for n, t in enumerate(TRACTS)
    )
    table = put(tmp_path, "adi.csv", f",FIPS,GISJOIN,ADI_NATRANK,IMD Quintile\n{rows}")
    cohort = read_cohort(IDS, [table], lives(tmp_path, TRACTS))
    made, left = dimensions_of(cohort, np.ones(N, np.int64))
    ranks, fifths = made
    assert (ranks.kind, fifths.kind) == ("quartiles", "categories")
    assert ranks.unknown == {"“GQ”": 8, "“PH”": 8} and missing(ranks) == 16
    assert [(one.name, one.reason) for one in left] == [("GISJOIN", "holds the tracts' own ids")]
