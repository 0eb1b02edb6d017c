"""verify finds tables that contradict each other, also where every hash has been made again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.builders.reports.pipeline import build_reports
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.cli.command_line import run
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import fingerprint
from clinqa.dataset.verify import told_beside, verify
from clinqa.simulate.echo import simulate
from sealing import edit_manifest

Row = dict[str, Any]
TRAIN = "data/train-00000-of-00001.parquet"
TEST = "data/test-00000-of-00001.parquet"
LABELS, STATEMENTS = "labels.parquet", "statements.parquet"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("contents")
    reports = folder / "r.csv"
    simulate(60, 12, reports)
    # columns within a sentence are tabs in a statement and blanks in an answer
    with reports.open("a", encoding="utf-8") as file:
        for n, gap in enumerate([" ", "     ", " ", "     "] * 4):
            text = f"MITRAL VALVE: Mild{gap}mitral{gap}regurgitation. No MS."
            file.write(f'9{n},9{n},88{n},"2150-01-01",,,"Echo","Report",,,"{text}"\n')
    options = BuildOptions(engine="python", questions="full")
    build_reports([reports], folder / "d", options)
    return reports, folder / "d"


@pytest.fixture
def made(built: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    out = tmp_path / "d"
    for path in built[1].rglob("*"):
        if path.is_file():
            copy = out / path.relative_to(built[1])
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return out


def spoil(folder: Path, name: str, change: Callable[[Row], Row | None], of: str = "") -> None:
    """Change the first row that `change` takes (of a question type), and hash the file again."""
    table = pq.ParquetFile(folder / name).read()
    rows = table.to_pylist()
    for place, row in enumerate(rows):
        if of and row.get("question_type") != of:
            continue
        changed = change(dict(row))
        if changed is not None:
            rows[place] = changed
            break
    else:
        raise AssertionError("no such row")
    changed_table = pa.Table.from_pylist(rows, schema=table.schema)
    pq.write_table(changed_table, folder / name, store_schema=False)

    def enter(body: Row) -> None:
        for record in body["outputs"]:
            if record["name"] == name:
                path = folder / name
                record.update(sha256=sha256_file(path), bytes=path.stat().st_size)

    edit_manifest(folder, enter)


def found(folder: Path) -> set[tuple[str, str]]:
    return {(problem.check, problem.where) for problem in verify(folder)}


def with_level(row: Row) -> Row | None:
    if row.get("phase", "baseline") != "baseline" or row["level"] not in (0, 1):
        return None
    return {**row, "level": 1 - row["level"]}


def test_an_untouched_build_has_no_problem(built: tuple[Path, Path], made: Path) -> None:
    assert verify(made, [built[0]]) == []
    rows = pq.ParquetFile(made / TEST).read().to_pylist()
    assert {row["statement_seen"] for row in rows} == {True, False, None}


@pytest.mark.parametrize("kind", ["finding", "adequacy", "presence", "severity"])
def test_a_level_that_is_not_the_labels_is_found(made: Path, kind: str) -> None:
    def change(row: Row) -> Row:
        return {**row, "level": 3 if row["level"] != 3 else 2}

    spoil(made, TRAIN, change, kind)
    assert ("labels", TRAIN) in found(made)


def test_a_label_that_is_not_its_statements_is_found(made: Path) -> None:
    spoil(made, LABELS, with_level)
    assert {check for check, _ in found(made)} >= {"labels", "statements"}


def test_a_changed_method_or_answer_is_found(made: Path) -> None:
    spoil(made, TEST, lambda row: {**row, "method": "llm"}, "finding")
    assert found(made) == {("labels", TEST)}
    spoil(made, TEST, lambda row: {**row, "answer": "Something else."}, "finding")
    assert ("ids", TEST) in found(made)


@pytest.mark.parametrize("kind", ["finding", "presence", "unmentioned"])
def test_a_context_without_the_answer_or_of_another_study_is_found(made: Path, kind: str) -> None:
    spoil(made, TEST, lambda row: {**row, "context": "SECRET junk"}, kind)
    problems = verify(made)
    assert {(p.check, p.where) for p in problems} == {("context", TEST)}
    assert "SECRET" not in " ".join(map(str, problems))


@pytest.mark.parametrize("name", [TRAIN, TEST])
def test_a_flipped_statement_seen_is_found(made: Path, name: str) -> None:
    spoil(made, name, lambda row: {**row, "statement_seen": not row["statement_seen"]}, "finding")
    assert ("seen", name) in found(made)
    spoil(made, name, lambda row: {**row, "statement_seen": True}, "unmentioned")
    assert ("seen", name) in found(made)


def test_what_is_asked_as_not_mentioned_has_no_label(made: Path) -> None:
    labels = pq.ParquetFile(made / LABELS).read().to_pylist()

    def change(row: Row) -> Row | None:
        named = {r["abnormality"] for r in labels if r["study_id"] == row["source_id"]}
        return {**row, "category": min(named)}

    spoil(made, TRAIN, change, "unmentioned")
    assert ("labels", TRAIN) in found(made)


def test_a_changed_statement_or_count_is_found(made: Path) -> None:
    labels = pq.ParquetFile(made / LABELS).read().to_pylist()
    cited = {span["text"] for row in labels for span in row["spans"]}
    spoil(made, STATEMENTS, lambda r: {**r, "studies": r["count"] + 1})
    assert found(made) == {("statements", STATEMENTS)}
    spoil(made, STATEMENTS, lambda r: {**r, "text": "x"} if r["text"] in cited else None)
    details = " ".join(str(problem) for problem in verify(made))
    assert "no statement" in details and "read as" in details


def test_a_statement_that_decides_more_than_it_occurs_is_found(made: Path) -> None:
    rows = pq.ParquetFile(made / STATEMENTS).read().to_pylist()
    sections = Counter(row["text"] for row in rows)
    labels = pq.ParquetFile(made / LABELS).read().to_pylist()
    pairs = {(row["study_id"], span["text"]) for row in labels for span in row["spans"]}
    times = Counter(text for _, text in pairs)

    def change(row: Row) -> Row | None:
        several = sections[row["text"]] == 1 and times[row["text"]] > 1
        return {**row, "studies": 1, "count": 1} if several else None

    spoil(made, STATEMENTS, change)
    assert "more studies than they are counted in" in " ".join(map(str, verify(made)))


def test_an_item_that_vanished_is_found_even_with_honest_counts(made: Path) -> None:
    table = pq.ParquetFile(made / TEST).read()
    kinds = table["question_type"].to_pylist()
    gone = kinds.index("finding")
    left = table.take([row for row in range(len(kinds)) if row != gone])
    pq.write_table(left, made / TEST, store_schema=False)

    def change(body: Row) -> None:
        for record in body["outputs"]:
            if record["name"] == TEST:
                path = made / TEST
                record.update(
                    sha256=sha256_file(path), bytes=path.stat().st_size, rows=left.num_rows
                )
        counts = body["counts"]["items"]
        counts.update(read=counts["read"] - 1, kept=counts["kept"] - 1)

    edit_manifest(made, change)
    assert ("totals", "data and labels.parquet") in found(made)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda body: body.update(data_class="public"), "data_class"),
        (lambda body: body.update(data_class="zzz"), "data class"),
        (lambda body: body["configuration"].update(seed=5), "seed"),
        (lambda body: body["seeds"].update(seed=5), "seed"),
        (lambda body: body["configuration"].update(profile="strict"), "profile"),
        (lambda body: body.update(clinqa="9.9"), "clinqa"),
        (lambda body: body["inputs"][0].update(sha256="0" * 64), "inputs"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_found(
    made: Path, change: Callable[[Row], None], named: str
) -> None:
    edit_manifest(made, change)
    problems = verify(made)
    assert {problem.check for problem in problems} == {"manifest"}
    assert named in " ".join(map(str, problems))


def test_counts_that_are_not_the_files_are_found(made: Path) -> None:
    def change(body: Row) -> None:
        counts = body["counts"]["studies"]
        counts.update(read=counts["read"] + 1, kept=counts["kept"] + 1)

    edit_manifest(made, change)
    assert found(made) == {("totals", "data")}


def test_a_source_that_was_not_read_is_found(
    built: tuple[Path, Path], made: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.csv"
    copy.write_bytes(built[0].read_bytes())
    assert verify(made, [copy]) == []
    copy.write_bytes(built[0].read_bytes() + b"\n")
    problems = verify(made, [copy])
    assert {(p.check, p.where) for p in problems} == {("source", "copy.csv"), ("source", "r.csv")}


def test_zeroed_hashes_in_inputs_and_identity_are_found_with_the_source(
    built: tuple[Path, Path], made: Path
) -> None:
    def change(body: Row) -> None:
        body["inputs"][0]["sha256"] = "0" * 64
        body["identity"]["inputs"] = ["0" * 64]
        body["fingerprint"] = fingerprint(body["identity"])

    edit_manifest(made, change)
    assert verify(made) == []  # nothing here can know
    assert {problem.check for problem in verify(made, [built[0]])} == {"source"}


def test_an_abnormality_in_train_that_nobody_tests_is_named_and_is_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(12, 12, tmp_path / "r.csv")
    build_reports([tmp_path / "r.csv"], tmp_path / "few", BuildOptions(engine="python"))
    rows = {
        split: {
            row["category"]
            for path in (tmp_path / "few" / "data").glob(f"{split}-*.parquet")
            for row in pq.ParquetFile(path).read(columns=["category"]).to_pylist()
        }
        for split in ("train", "test")
    }
    untested = sorted(rows["train"] - rows["test"])
    assert untested
    assert run(["verify", str(tmp_path / "few")]) == 0
    said = capsys.readouterr().out
    assert f"warning: in train, but not in test: {', '.join(untested)}" in said
    assert run(["verify", str(tmp_path / "few"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["untested"] == untested


def test_where_all_is_tested_nothing_is_said(made: Path) -> None:
    test = set(pq.ParquetFile(made / TEST).read(["category"])["category"].to_pylist())
    train = set(pq.ParquetFile(made / TRAIN).read(["category"])["category"].to_pylist())
    assert train <= test and told_beside(made) == ({}, "")
