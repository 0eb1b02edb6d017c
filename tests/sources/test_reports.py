"""Reading reports: layouts, columns, ids, counts."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from clinqa.core.errors import SourceError
from clinqa.sources.reports import ReadOptions, ReportReader, describe, read_reports

NOTEEVENTS = [
    *["ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME"],
    *["CATEGORY", "DESCRIPTION", "CGID", "ISERROR", "TEXT"],
]


def write_csv(path: Path, rows: list[list[object]], **how: object) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, **how).writerows(rows)  # type: ignore[arg-type]
    return path


def read(*paths: Path, **options: object) -> tuple[list[dict[str, object]], ReportReader]:
    reader = read_reports(list(paths), ReadOptions(**options))  # type: ignore[arg-type]
    rows: list[dict[str, object]] = []
    for batch in reader:
        rows += batch.studies.to_pylist()
    assert reader.counts.reconcile()
    assert reader.counts.studies == len(rows)
    return rows, reader


def note(
    row: int, subject: int, text: str, category: str = "Echo", error: str = ""
) -> list[object]:
    return [row, subject, "", "2150-01-01", "", "", category, "Report", "", error, text]


def test_noteevents_keeps_echo_and_counts_the_rest_apart(tmp_path: Path) -> None:
    rows = [
        NOTEEVENTS,
        note(1, 7, "LV normal.\nRV normal."),
        note(2, 7, "Chest film", "Radiology"),
        note(3, 8, "Wrong patient", "Echo", "1"),
        note(4, 8, "Mild MR", " ECHO "),
        note(5, 8, "Wrong film", "Radiology", "1"),
    ]
    studies, reader = read(write_csv(tmp_path / "NOTEEVENTS.csv", rows))
    assert [(s["study_id"], s["group"], s["row"], s["part"]) for s in studies] == [
        ("1", "7", 1, "TEXT"),
        ("4", "8", 4, "TEXT"),
    ]
    assert studies[0]["text"] == "LV normal.\nRV normal."
    assert reader.counts.out_of_scope == {"other_category": 2, "iserror": 1}
    assert reader.counts.read == 5
    assert reader.plan.files[0].layout == "mimic-iii noteevents"


def test_headers_in_odd_case_are_known(tmp_path: Path) -> None:
    rows = [[name.title() for name in NOTEEVENTS], note(1, 7, "a"), note(2, 7, "b", "Nursing")]
    studies, reader = read(write_csv(tmp_path / "n.csv", rows))
    assert [s["part"] for s in studies] == ["Text"]
    assert reader.counts.out_of_scope == {"other_category": 1}


def test_mimic_iv_notes_use_note_and_subject(tmp_path: Path) -> None:
    head = ["note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "text"]
    rows = [head, ["10-DS-1", 10, 5, "DS", 1, "", "TTE: fine"]]
    studies, reader = read(write_csv(tmp_path / "discharge.csv", rows))
    assert studies == [
        {"study_id": "10-DS-1", "group": "10", "text": "TTE: fine", "row": 1, "part": "text"}
    ]
    assert reader.plan.files[0].layout == "mimic-iv notes"


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl", "jsonl.gz", "tsv"])
def test_every_format_gives_the_same_rows(tmp_path: Path, kind: str) -> None:
    texts = ["Mild MR,\r\nno AS.", 'a "quoted" word', "nul \0 kept", "é ☃ 𝄞", " lead\ttab "]
    records = [
        {"study_id": str(100 + i), "subject_id": str(i // 2), "text": text}
        for i, text in enumerate(texts)
    ]
    path = tmp_path / f"notes.{kind}"
    plain = tmp_path / "plain"
    if kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(records), path)
    else:
        if kind.startswith("jsonl"):
            plain.write_text("".join(json.dumps(r) + "\n" for r in records))
        else:
            rows: list[list[object]] = [list(records[0]), *([*r.values()] for r in records)]
            write_csv(plain, rows, delimiter="\t" if kind == "tsv" else ",")
        data = plain.read_bytes()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    studies, reader = read(path)
    assert [s["text"] for s in studies] == texts
    assert [(s["study_id"], s["group"]) for s in studies] == [
        (r["study_id"], r["subject_id"]) for r in records
    ]
    assert [s["row"] for s in studies] == [1, 2, 3, 4, 5]
    assert reader.counts.rejected == 0


def test_a_folder_of_texts_is_one_study_a_file(tmp_path: Path) -> None:
    (tmp_path / "ward" / "b").mkdir(parents=True)
    (tmp_path / "ward" / "a.txt").write_bytes(b"\xef\xbb\xbfLV\r\nnormal")
    (tmp_path / "ward" / "b" / "c.2.TXT").write_bytes(b"RV normal")
    (tmp_path / "ward" / "LICENSE.txt").write_text("no report")
    (tmp_path / "ward" / ".hidden.txt").write_text("no report")
    (tmp_path / "ward" / "photo.png").write_bytes(b"x")
    studies, reader = read(tmp_path / "ward")
    assert sorted((s["study_id"], s["text"], s["group"], s["part"]) for s in studies) == [
        ("a", "LV\r\nnormal", None, "txt"),
        ("b/c.2", "RV normal", None, "txt"),
    ]
    assert reader.plan.ignored == 3


def test_a_folder_may_hold_tables_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("LV normal")
    write_csv(tmp_path / "b.csv", [["study_id", "text"], ["s", "RV normal"]])
    studies, _ = read(tmp_path)
    assert {s["study_id"] for s in studies} == {"a", "s"}


def test_columns_are_taken_from_the_options(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "n.csv", [["Befund", "Pat", "Nr", "text"], ["LV normal", "p", "n", "other"]]
    )
    studies, _ = read(path, text_col="befund", subject_col="Pat", study_col="NR")
    assert studies == [
        {"study_id": "n", "group": "p", "text": "LV normal", "row": 1, "part": "Befund"}
    ]


def test_unknown_columns_list_those_found_and_the_flags(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "n.csv", [["Befund", "Pat"], ["LV normal", "p"]])
    with pytest.raises(SourceError, match=r"Befund, Pat.*--text-col --subject-col --study-col"):
        read(path)
    with pytest.raises(SourceError, match=r"no such column; columns found: Befund, Pat"):
        read(path, text_col="report")


def test_a_table_without_header_shows_no_record_text_in_the_error(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "n.csv", [["17", "Severe MR in Mr. Smith, seen at noon", "x"]])
    with pytest.raises(SourceError) as caught:
        read(path)
    assert "Smith" not in str(caught.value)
    assert "(column 2)" in str(caught.value)


def test_two_obvious_columns_need_a_choice(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "n.csv", [["text", "report"], ["a", "b"]])
    with pytest.raises(SourceError, match="more than one column could be the text"):
        read(path)
    assert read(path, text_col="report")[0][0]["text"] == "b"


def test_a_repeated_column_name_matters_only_where_it_is_needed(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "n.csv", [["x", "text", "x"], ["1", "a", "2"]])
    assert read(path)[0][0]["text"] == "a"
    path = write_csv(tmp_path / "m.csv", [["text", "text"], ["1", "a"]])
    with pytest.raises(SourceError, match=r"text \(column 1\), text \(column 2\)"):
        read(path)


def test_without_a_study_column_the_id_comes_from_the_text(tmp_path: Path) -> None:
    one = write_csv(tmp_path / "a.csv", [["text"], ["LV normal"], ["RV normal"]])
    two = write_csv(tmp_path / "b.csv", [["text"], ["RV normal"], ["LV normal"]])
    first, second = read(one)[0], read(two)[0]
    assert {s["study_id"] for s in first} == {s["study_id"] for s in second}
    assert all(str(s["study_id"]).startswith("text-") for s in first)
    assert all(len(str(s["study_id"])) == 21 for s in first)
    assert {s["group"] for s in first} == {None}


@pytest.mark.parametrize(
    ("kind", "values", "want"),
    [
        (pa.int32(), [7, 8], ["7", "8"]),
        (pa.float64(), [7.0, 8.5], ["7", "8.5"]),
        (pa.string(), ["007", "8.0"], ["007", "8.0"]),
        (pa.large_string(), ["a", "b"], ["a", "b"]),
        (pa.binary(), [b"a", b"b"], ["a", "b"]),
    ],
)
def test_ids_in_parquet_become_text(
    tmp_path: Path, kind: pa.DataType, values: list[object], want: list[str]
) -> None:
    table = pa.table({"study_id": pa.array(values, kind), "text": ["a", "b"]})
    parquet.write_table(table, tmp_path / "n.parquet")
    assert [s["study_id"] for s in read(tmp_path / "n.parquet")[0]] == want


def test_dictionary_columns_in_parquet_are_read(tmp_path: Path) -> None:
    table = pa.table(
        {
            "study_id": pa.array(["a", "b"]).dictionary_encode(),
            "text": pa.array(["LV", "RV"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "n.parquet")
    assert [s["text"] for s in read(tmp_path / "n.parquet")[0]] == ["LV", "RV"]


def test_ids_of_a_csv_stay_as_given_and_those_of_a_typed_column_lose_its_point(
    tmp_path: Path,
) -> None:
    path = write_csv(tmp_path / "n.csv", [["study_id", "subject_id", "text"], ["1.0", "2.0", "a"]])
    studies, _ = read(path)
    assert (studies[0]["study_id"], studies[0]["group"]) == ("1.0", "2.0")
    (tmp_path / "n.jsonl").write_text('{"study_id": 3.0, "subject_id": 4, "text": "a"}\n')
    studies, _ = read(tmp_path / "n.jsonl")
    assert (studies[0]["study_id"], studies[0]["group"]) == ("3", "4")


def test_a_row_without_patient_is_its_own_group_and_counted(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["study_id", "subject_id", "text"],
        ["1", " ", "a"],
        ["2", "p", "b"],
    ]
    studies, reader = read(write_csv(tmp_path / "n.csv", rows))
    assert [s["group"] for s in studies] == [None, "p"]
    assert reader.counts.no_group == 1


def test_limit_stops_after_so_many_studies(tmp_path: Path) -> None:
    one = write_csv(tmp_path / "a.csv", [["text"], *([f"note {i}"] for i in range(50))])
    two = write_csv(tmp_path / "b.csv", [["text"], *([f"more {i}"] for i in range(50))])
    assert len(read(one, two, limit=60)[0]) == 60
    assert len(read(one, two, limit=7)[0]) == 7
    studies, reader = read(one, limit=0)
    assert (studies, reader.counts.read) == ([], 0)


def test_batches_keep_to_rows_and_bytes(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [["text"], *([f"{i} " + "x" * 99] for i in range(1000))])
    reader = read_reports([path], ReadOptions(batch_rows=300))
    assert [len(b.studies) for b in reader] == [300, 300, 300, 100]
    reader = read_reports([path], ReadOptions(batch_bytes=20_000))
    sizes = [sum(len(t) for t in b.studies["text"].to_pylist()) for b in reader]
    assert max(sizes) <= 20_000
    assert sum(sizes) == sum(len(f"{i} ") + 99 for i in range(1000))


def test_describe_opens_headers_and_says_what_would_be_read(tmp_path: Path) -> None:
    good = write_csv(tmp_path / "n.csv", [["Study ID", "Text"], ["1", "a"]])
    plan = describe([good, tmp_path / "none.csv"])
    found, missing = plan.files
    assert (found.format, found.layout, found.text_col) == ("csv", "table", "Text")
    assert (found.study_col, found.subject_col) == ("Study ID", None)
    assert plan.bytes == good.stat().st_size
    assert missing.problem == "does not exist"


def test_links_to_inputs_are_followed(tmp_path: Path) -> None:
    real = write_csv(tmp_path / "n.csv", [["text"], ["a"]])
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    assert len(read(link)[0]) == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen_in_the_header(tmp_path: Path, delimiter: str) -> None:
    path = write_csv(
        tmp_path / "n.csv",
        [["study_id", "text"], ["1", "MR, mild; no AS | none\tat all"]],
        delimiter=delimiter,
    )
    assert read(path)[0][0]["text"] == "MR, mild; no AS | none\tat all"


cell = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(cell, cell), max_size=12))
def test_any_text_survives_a_csv(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    rows: list[list[object]] = [["id", "text", "more"]]
    rows += [[i, text, more] for i, (text, more) in enumerate(pairs)]
    path = write_csv(tmp_path / "n.csv", rows, quoting=csv.QUOTE_ALL)
    studies, reader = read(path)
    want = {str(i): text for i, (text, _) in enumerate(pairs) if text.strip()}
    assert {s["study_id"]: s["text"] for s in studies if str(s["text"]).strip()} == want
    assert reader.counts.read == len(pairs)


def test_input_order_changes_no_row(tmp_path: Path) -> None:
    paths = [
        write_csv(tmp_path / f"{k}.csv", [["id", "text"], *([f"{k}{i}", "t"] for i in range(5))])
        for k in "abc"
    ]

    def key(row: dict[str, object]) -> str:
        return str(row["study_id"])

    forward, backward = read(*paths)[0], read(*reversed(paths))[0]
    assert sorted(forward, key=key) == sorted(backward, key=key)


def test_the_reader_says_how_much_it_has_read(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    rows = "".join(f'{n},{n},"{"Mild MR. " * 900}"\n' for n in range(1500))
    table.write_text("study_id,subject_id,text\n" + rows, encoding="utf-8")
    lines = tmp_path / "r.jsonl"
    lines.write_text('{"study_id": "x", "text": "No AS."}\n' * 3, encoding="utf-8")
    reader = read_reports([table, lines], ReadOptions(batch_rows=100))
    seen = [reader.fraction]
    for _ in reader:
        seen.append(reader.fraction)
    assert seen == sorted(seen)
    assert seen[0] == 0 and seen[-1] == pytest.approx(1.0, abs=0.01)
    assert any(0.2 < share < 0.8 for share in seen)
