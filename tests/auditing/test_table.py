"""Tables of patients and tracts: every bad one is a clear error, and no cell is quoted."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.auditing.cohort import Cohort, read_cohort
from clinqa.auditing.table import read_table
from clinqa.core.errors import ClinqaError, ConfigError, SourceError

PATIENTS = ["10", "11", "12", "13"]


def table(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def values(cohort: Cohort, name: str) -> list[str | None]:
    return list(next(one.values for one in cohort.attributes if one.name == name))


def test_a_table_of_patients_gives_each_patient_of_the_split_a_value_or_none(
    tmp_path: Path,
) -> None:
    path = table(tmp_path, "subject_id,sex,race\n10,F, White \n11,NA,Black\n99,M,White\n")
    cohort = read_cohort(PATIENTS, [path])
    assert values(cohort, "sex") == ["F", None, None, None]
    assert values(cohort, "race") == ["White", "Black", None, None]
    assert cohort.counts["not_in_the_split"] == 1
    told = " ".join(cohort.told)
    assert "2 of 4 patients" in told and "99" not in told


def test_a_table_of_tracts_reaches_patients_through_a_map(tmp_path: Path) -> None:
    tracts = table(tmp_path, "geoid;income\n0101;30.5\n0102;50\n", "tracts.csv")
    where = table(tmp_path, "patient,tract\n10,0101\n11,0102\n12,0102\n", "map.csv")
    cohort = read_cohort(PATIENTS, [tracts], where)
    assert values(cohort, "income") == ["30.5", "50", "50", None]
    assert [one.unit for one in cohort.attributes] == ["tract"]
    assert cohort.tracts == 2 and cohort.tract.tolist() == [0, 1, 1, 2]
    with pytest.raises(ConfigError, match="needs a map"):
        read_cohort(PATIENTS, [tracts])


def test_an_attribute_that_is_the_same_all_over_every_tract_was_assigned_to_tracts(
    tmp_path: Path,
) -> None:
    text = "patient,tract,income,sex\n10,a,5,F\n11,a,5,M\n12,b,7,F\n13,b,7,F\n"
    cohort = read_cohort(PATIENTS, [table(tmp_path, text)])
    assert {one.name: one.unit for one in cohort.attributes} == {
        "income": "tract",
        "sex": "patient",
    }


def test_patients_in_several_rows_that_disagree_are_an_error_that_quotes_no_cell(
    tmp_path: Path,
) -> None:
    path = table(tmp_path, "patient,race\n10,Greenlander\n11,White\n10,Martian\n")
    with pytest.raises(SourceError) as caught:
        read_cohort(PATIENTS, [path])
    said = str(caught.value)
    assert "1 patients stand in several rows with different values (race)" in said
    assert "rows 2 and 4" in said
    assert "Greenlander" not in said and "Martian" not in said


def test_rows_that_repeat_word_for_word_are_counted_once(tmp_path: Path) -> None:
    path = table(tmp_path, "patient,race\n10,White\n10,White\n,Black\n")
    cohort = read_cohort(PATIENTS, [path])
    assert cohort.counts == {
        "of_the_split": 1, "not_in_the_split": 0, "repeated": 1, "without_id": 1,
    }  # fmt: skip


def test_a_table_of_nobody_in_the_split_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="none of its 1 patients is of the split; are these"):
        read_cohort(PATIENTS, [table(tmp_path, "patient,sex\n77,F\n")])
    with pytest.raises(SourceError, match="its ids have 3 digits, ours 2"):
        read_cohort(PATIENTS, [table(tmp_path, "patient,sex\n777,F\n", "b.csv")])


def test_a_patient_in_two_tracts_is_an_error(tmp_path: Path) -> None:
    tracts = table(tmp_path, "tract,income\na,1\nb,2\n", "tracts.csv")
    where = table(tmp_path, "patient,tract\n10,a\n10,b\n", "map.csv")
    with pytest.raises(SourceError, match="1 patients are put into more than one tract"):
        read_cohort(PATIENTS, [tracts], where)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no header"),
        ("patient,sex\n", "no rows"),
        ("patient,sex,sex\n10,F,F\n", "two columns are called sex"),
        ("patient,sex\n10,F,M\n", "row 2 has 3 cells, the header 2"),
        ("name,sex\nx,F\n", "no column of patients"),
        ("patient,subject_id,sex\n10,11,F\n", "could all be the patient"),
        ("patient\n10\n", "no column but the ids"),
        ("patient,sex\n,F\n", "holds no id"),
    ],
)
def test_what_is_no_table_of_groups_is_said(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ClinqaError, match=says):
        read_cohort(PATIENTS, [table(tmp_path, text)])


def test_parquet_and_csv_of_the_same_table_are_the_same(tmp_path: Path) -> None:
    csv = table(tmp_path, "patient,age,old\n10,55.5,yes\n11,,no\n")
    made = pa.table({"patient": [10, 11], "age": [55.5, None], "old": [True, False]})
    pq.write_table(made, tmp_path / "t.parquet")
    assert read_table(csv).columns == read_table(tmp_path / "t.parquet").columns


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes("patient,sex\n10,ü\n11,".encode() + b"\x81\n")
    with pytest.raises(SourceError, match="row 3 is not UTF-8"):
        read_table(tmp_path / "b.csv")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(SourceError, match=r"b\.parquet: cannot be read .*; is it a Parquet file"):
        read_table(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(SourceError, match=r"is \.csv"):
        read_table(table(tmp_path, "x", "t.xlsx"))
    nested = pa.table({"patient": ["10"], "names": [["a", "b"]]})
    pq.write_table(nested, tmp_path / "n.parquet")
    with pytest.raises(SourceError, match="no plain values"):
        read_table(tmp_path / "n.parquet")


def test_two_tables_may_not_hold_one_dimension_twice(tmp_path: Path) -> None:
    one = table(tmp_path, "patient,sex\n10,F\n", "a.csv")
    two = table(tmp_path, "patient,sex\n10,F\n", "b.csv")
    with pytest.raises(ConfigError, match="sex stands in two tables"):
        read_cohort(PATIENTS, [one, two])
    with pytest.raises(ConfigError, match="given twice"):
        read_cohort(PATIENTS, [one, one])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('patient,sex\n10,F\n11,"M\n12,F\n', "row 3: a quotation mark is opened"),
        ('patient,sex\n10,F\n11,"Secret"x\n', "row 3: something follows a closing"),
        (f"patient,sex\n10,{'F' * 140000}\n", "row 2: a cell of over 131,072"),
        ('patient,"sex\n10,F\n', "row 1: a quotation mark is opened"),
        ("patient,sex\n10,F\n\n11,M,Secret\n", "row 4 has 3 cells"),
        ("patient,sex\n10,F\n11,Secret\0\n", "1 cells of column sex hold .* row 3"),
        ("patient,s\0ex\n10,F\n", "name of column"),
        ("patient,sex\n10,\x1b[31mred\n", "hold control characters"),
    ],
)
def test_a_fault_in_a_csv_file_names_its_row_and_no_cell(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        read_table(table(tmp_path, text))
    assert "Secret" not in str(caught.value)


def test_control_characters_in_parquet_are_refused_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"patient": ["10", "11"], "a": ["x", "y\0"]}), tmp_path / "n.parquet")
    with pytest.raises(SourceError, match=r"1 cells of column a hold .* row 2"):
        read_table(tmp_path / "n.parquet")


def test_rows_are_numbered_as_in_the_file_whatever_is_blank(tmp_path: Path) -> None:
    path = table(tmp_path, "patient,race\n\n10,a\n\n\n10,b\n")
    with pytest.raises(SourceError, match="rows 3 and 6"):
        read_cohort(PATIENTS, [path])


def test_a_column_of_ids_that_no_table_has_is_an_error(tmp_path: Path) -> None:
    path = table(tmp_path, "patient,sex\n10,F\n")
    with pytest.raises(ConfigError, match="--patient-column nope: no table has it"):
        read_cohort(PATIENTS, [path], patient_column="nope")
    with pytest.raises(ConfigError, match="--tract-column nope: no table has it"):
        read_cohort(PATIENTS, [path], tract_column="nope")
