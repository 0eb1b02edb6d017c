"""The dataset writer: order, splits, duplicates, conflicts, sums."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.builders.reports.writer import BatchTables, DatasetWriter
from clinqa.core.errors import CheckFailed
from clinqa.core.records import Reason, Reject
from clinqa.dataset import parquet, spool
from clinqa.dataset.splits import split_groups
from clinqa.kinds.long_form.columns import LABELS, LONG_FORM, STATEMENTS
from clinqa.kinds.long_form.statements import folded
from made_reports import REPORTS, Maker, Report, rows, text_of, write

sentences = st.lists(
    st.sampled_from(["wall moves.", "valve leaks.", "valve is fine.", "chamber is big."]),
    max_size=3,
    unique_by=lambda s: s.split()[0],
).map(tuple)
reports = st.lists(
    st.tuples(
        st.integers(0, 12).map(lambda i: f"s{i}"),
        st.integers(0, 5).map(lambda i: f"p{i}"),
        sentences,
    ),
    max_size=25,
)


def fresh() -> Path:
    return Path(tempfile.mkdtemp())


@settings(max_examples=40, deadline=None)
@given(reports, st.integers(1, 9), st.integers(0, 99), st.integers(0, 3))
def test_no_group_is_in_two_splits_and_everything_reconciles(
    made: list[Report], batch: int, seed: int, sample: int
) -> None:
    folder = fresh()
    result = write(folder, made, batch=batch, seed=seed, sample=sample or None)
    found = rows(folder)
    splits: dict[object, set[object]] = {}
    for row in found:
        splits.setdefault(row["group"], set()).add(row["split"])
    assert all(len(where) == 1 for where in splits.values())
    counts = result.counts["studies"]
    assert counts.read == len(made)
    assert counts.problems() == [] and result.counts["items"].problems() == []
    by_id: dict[str, set[Report]] = {}
    for report in made:
        by_id.setdefault(report[0], set()).add(report)
    single = [next(iter(versions)) for versions in by_id.values() if len(versions) == 1]
    conflicts = sum(len(versions) for versions in by_id.values() if len(versions) > 1)
    assert counts.rejected_by_reason.get("conflicting_study_id", 0) == conflicts
    assert counts.rejected_by_reason.get("no_findings", 0) == sum(not r[2] for r in single)
    assert counts.duplicates == len(made) - len(set(made))
    if not sample:
        assert {row["source_id"] for row in found} == {r[0] for r in single if r[2]}
    else:
        assert len(splits) == min(sample, len({r[1] for r in single if r[2]}))


@settings(max_examples=30, deadline=None)
@given(reports, st.randoms(use_true_random=False), st.integers(1, 9))
def test_neither_order_nor_batching_changes_a_row(
    made: list[Report], shuffler: random.Random, batch: int
) -> None:
    one, other = fresh(), fresh()
    mixed = list(made)
    shuffler.shuffle(mixed)
    write(one, made, batch=100)
    write(other, mixed, batch=batch)
    assert rows(one) == rows(other)
    for name, key in (("labels", ("study_id", "abnormality")), ("statements", ("text",))):
        tables = [pq.read_table(f / f"{name}.parquet").to_pylist() for f in (one, other)]
        first, second = (sorted(t, key=lambda r: tuple(r[k] for k in key)) for t in tables)
        assert first == second


def test_columns_are_plain_and_in_the_order_of_the_format(tmp_path: Path) -> None:
    write(tmp_path)
    for path in (tmp_path / "data").iterdir():
        assert pq.read_schema(path).equals(LONG_FORM)
    assert pq.read_schema(tmp_path / "labels.parquet").equals(LABELS)
    assert pq.read_schema(tmp_path / "statements.parquet").equals(STATEMENTS)


def test_all_three_splits_have_a_file_even_when_nothing_was_read(tmp_path: Path) -> None:
    result = write(tmp_path, [])
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == [
        "test-00000-of-00001.parquet",
        "train-00000-of-00001.parquet",
        "validation-00000-of-00001.parquet",
    ]
    assert (
        result.counts["studies"].sum
        == "0 read = 0 kept + 0 rejected + 0 duplicates + 0 out_of_scope"
    )
    assert pq.read_schema(tmp_path / "data/test-00000-of-00001.parquet").equals(LONG_FORM)


@given(st.integers(0, 60), st.integers(0, 9))
def test_splits_are_cut_by_rank_at_exact_shares(n: int, seed: int) -> None:
    places = list(split_groups([f"g{i}" for i in range(n)], seed).values())
    assert places.count(0) == n * 7 // 10
    assert places.count(0) + places.count(1) == n * 8 // 10


def test_seen_says_whether_train_has_the_statement(tmp_path: Path) -> None:
    result = write(tmp_path)
    found = rows(tmp_path)
    in_train = {folded(row["answer"]) for row in found if row["split"] == "train"}
    assert all(row["statement_seen"] == (folded(row["answer"]) in in_train) for row in found)
    assert all((row["nearest_in_train"] == 1) == row["statement_seen"] for row in found)
    assert {row["statement_seen"] for row in found if row["split"] == "test"} == {True, False}
    assert result.splits["train"].seen == result.splits["train"].items


def test_an_item_that_no_statement_decides_has_no_seen_flag(tmp_path: Path) -> None:
    maker = Maker()
    batch = maker.batch(REPORTS)
    index = batch.items.schema.get_field_index("statement_key")
    none = pa.nulls(batch.items.num_rows, pa.uint64())
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(replace(batch, items=batch.items.set_column(index, "statement_key", none)))
    writer.finish(maker.table())
    assert {row["statement_seen"] for row in rows(tmp_path)} == {None}


def test_the_test_file_holds_no_context_of_train(tmp_path: Path) -> None:
    write(tmp_path, batch=40)
    by_split = {p.name.split("-")[0]: p for p in (tmp_path / "data").iterdir()}
    train = {row["context"] for row in rows(tmp_path) if row["split"] == "train"}
    assert train
    for split in ("validation", "test"):
        with pq.ParquetFile(by_split[split], read_dictionary=["context"]) as file:
            for group in range(file.num_row_groups):
                for chunk in file.read_row_group(group, columns=["context"])["context"].chunks:
                    assert not train & set(chunk.dictionary.to_pylist())


def test_a_context_is_stored_once_a_study(tmp_path: Path) -> None:
    long = "".join(random.Random(0).choices("abcdefghij", k=100_000))
    sentences = tuple(f"part{i} {long[i * 5000 : i * 5000 + 40]}." for i in range(15))
    made = [("s", "p", (*sentences, f"rest {long}."))]
    write(tmp_path, made)
    size = sum(p.stat().st_size for p in (tmp_path / "data").iterdir())
    # context once, and the long answer in answer and span; 16 copies would be 16 times as large
    assert size < 4 * 50_000


def test_a_conflict_rejects_every_version_once_and_copies_are_duplicates(tmp_path: Path) -> None:
    made = [
        ("a", "p1", ("wall moves.",)),
        ("a", "p1", ("wall moves.",)),
        ("a", "p1", ("wall rests.",)),
        ("b", "p2", ("valve leaks.",)),
        ("b", "p3", ("valve leaks.",)),
        ("c", "p4", ("chamber is big.",)),
    ]
    result = write(tmp_path, made, batch=2)
    assert result.counts["studies"].rejected_by_reason == {"conflicting_study_id": 4}
    assert (result.counts["studies"].duplicates, result.counts["studies"].kept) == (1, 1)
    rejects = pq.read_table(tmp_path / "rejects.parquet").to_pylist()
    assert [(r["source_id"], r["reason"], r["stage"]) for r in rejects] == [
        (name, "conflicting_study_id", "dataset") for name in ("a", "a", "b", "b")
    ]
    assert {r["detail"] for r in rejects} == {
        "2 texts under this id",
        "one text of 2 patients under this id",
    }
    assert result.rows["statements.parquet"] == 1


def test_a_version_without_findings_still_conflicts(tmp_path: Path) -> None:
    result = write(tmp_path, [("a", "p", ()), ("a", "p", ("wall moves.",))])
    assert result.counts["studies"].rejected_by_reason == {"conflicting_study_id": 2}


def test_rejects_of_rows_that_became_no_study_are_counted_as_read(tmp_path: Path) -> None:
    maker = Maker()
    batch = maker.batch(REPORTS[:4])
    broken = Reject("read", Reason.BROKEN_ROW, "", row=9)
    # the same id as a good study, but an empty text in another row
    empty = Reject("read", Reason.EMPTY_TEXT, "s0", row=77)
    label = Reject("label", Reason.CONFLICTING_LEVELS, "s1", row=2)
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(replace(batch, rejects=[broken, empty, label]))
    writer.out_of_scope("category", 3)
    result = writer.finish(maker.table())
    assert (
        result.counts["studies"].sum
        == "9 read = 4 kept + 2 rejected + 0 duplicates + 3 out_of_scope"
    )
    assert result.rejects == {"broken_row": 1, "empty_text": 1, "conflicting_levels": 1}


def test_label_rejects_go_with_their_study(tmp_path: Path) -> None:
    maker = Maker()
    twice = [REPORTS[0], REPORTS[0]]
    batch = maker.batch(twice)
    rejects = [Reject("label", Reason.CONFLICTING_LEVELS, "s0", row=r) for r in (1, 2)]
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(replace(batch, rejects=rejects))
    assert writer.finish(maker.table()).rejects == {"conflicting_levels": 1}


def test_a_repeated_item_is_left_out_and_counted(tmp_path: Path) -> None:
    maker = Maker()
    batch = maker.batch(REPORTS[:5])
    doubled = pa.concat_tables([batch.items, batch.items.slice(3, 2)])
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(replace(batch, items=doubled))
    result = writer.finish(maker.table())
    assert (
        result.counts["items"].sum
        == "17 read = 15 kept + 0 rejected + 2 duplicates + 0 out_of_scope"
    )
    assert len({row["id"] for row in rows(tmp_path)}) == len(rows(tmp_path)) == 15


def test_an_id_that_is_no_id_fails_the_run(tmp_path: Path) -> None:
    maker = Maker()
    batch = maker.batch(REPORTS[:1])
    bad = batch.items.set_column(0, "id", pa.array(["zz"] * batch.items.num_rows))
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(replace(batch, items=bad))
    with pytest.raises(CheckFailed, match="not 16 hexadecimal digits"):
        writer.finish(maker.table())


def test_statements_are_counted_over_the_studies_kept(tmp_path: Path) -> None:
    made = [("a", "p", ("wall moves.",)), ("b", "q", ("wall moves.", "valve leaks."))]
    write(tmp_path, [*made, made[0]])
    found = pq.read_table(tmp_path / "statements.parquet").to_pylist()
    assert [(r["text"], r["count"], r["studies"]) for r in found] == [
        ("valve leaks.", 1, 1),
        ("wall moves.", 2, 2),
    ]


def test_large_output_is_cut_into_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "PIECE_ROWS", 1)
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 20)
    monkeypatch.setattr(parquet, "SHARD_BYTES", 1)
    result = write(tmp_path, batch=3)
    names = [n for n in result.rows if n.startswith("data/train")]
    assert len(names) > 2
    assert sorted(names)[0] == f"data/train-00000-of-{len(names):05d}.parquet"
    assert sum(result.rows[n] for n in names) == result.splits["train"].items
    assert len(rows(tmp_path)) == 120


def test_any_string_type_is_taken(tmp_path: Path) -> None:
    maker = Maker()
    batch = maker.batch(REPORTS)
    items = batch.items
    for name, kind in (("context", pa.large_string()), ("answer", pa.large_string())):
        items = items.set_column(items.schema.get_field_index(name), name, items[name].cast(kind))
    place = items.schema.get_field_index("question")
    items = items.set_column(place, "question", items["question"].dictionary_encode())
    writer = DatasetWriter(tmp_path, seed=1, private=False)
    writer.add(BatchTables(batch.studies, items, batch.labels, batch.occurrences))
    writer.finish(maker.table())
    assert {row["context"] for row in rows(tmp_path)} == {text_of(r) for r in REPORTS}
