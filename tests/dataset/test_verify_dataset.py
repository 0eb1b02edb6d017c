"""verify finds every kind of damage, and names it without text of a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.hashing import sha256_file
from clinqa.core.ids import item_id
from clinqa.dataset.verify import Problem, verify
from made_reports import REPORTS, build, source_table, text_of
from sealing import edit_manifest

Rows = list[dict[str, Any]]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    build(tmp_path / "out")
    return tmp_path / "out"


def split_file(folder: Path, split: str = "train") -> str:
    return f"data/{split}-00000-of-00001.parquet"


def rewrite(folder: Path, name: str, change: Callable[[Rows], Rows], honest: bool = True) -> None:
    """Change a Parquet file's rows and, if `honest`, enter its new hash in the manifest."""
    table = pq.ParquetFile(folder / name).read()
    changed = pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema)
    pq.write_table(changed, folder / name, store_schema=False)
    if honest:
        edit_manifest(folder, lambda body: enter(folder, body, name, changed.num_rows))


def enter(folder: Path, body: dict[str, Any], name: str, rows: int) -> None:
    for record in body["outputs"]:
        if record["name"] == name:
            path = folder / name
            record.update(sha256=sha256_file(path), bytes=path.stat().st_size, rows=rows)


def checks(problems: Sequence[Problem]) -> set[str]:
    return {problem.check for problem in problems}


def test_an_untouched_dataset_has_no_problem_with_and_without_its_source(made: Path) -> None:
    assert verify(made) == []
    assert verify(made, [source_table(REPORTS)]) == []


def test_its_source_may_be_given_as_files(made: Path, tmp_path: Path) -> None:
    lines = ["study_id,subject_id,text"]
    lines += [f'{r[0]},{r[1]},"{text_of(r)}"' for r in REPORTS]
    (tmp_path / "reports.csv").write_text("\n".join(lines) + "\n")
    assert verify(made, [tmp_path / "reports.csv"]) == []
    changed = "\n".join(lines).replace("leaks a bit", "never leaks") + "\n"
    (tmp_path / "reports.csv").write_text(changed)
    assert checks(verify(made, [tmp_path / "reports.csv"])) == {"spans"}


def test_a_changed_byte_is_found_in_any_file(made: Path) -> None:
    for path in sorted(p for p in made.rglob("*") if p.is_file() and p.name != "manifest.json"):
        good = path.read_bytes()
        middle = len(good) // 2
        path.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
        found = verify(made)
        name = path.relative_to(made).as_posix()
        assert ("hash", name) in {(p.check, p.where) for p in found}
        path.write_bytes(good)
    assert verify(made) == []


def test_a_cut_or_garbled_file_is_a_problem_and_no_traceback(made: Path) -> None:
    for name in (split_file(made), "labels.parquet", "rejects.parquet", "statements.parquet"):
        good = (made / name).read_bytes()
        for bad in (good[: len(good) // 2], b"", b"PAR1" + good[50:]):
            (made / name).write_bytes(bad)
            assert {"hash", "unreadable"} <= checks(verify(made))
        (made / name).write_bytes(good)


def test_a_group_in_two_splits_is_found(made: Path) -> None:
    group = pq.ParquetFile(made / split_file(made, "test")).read()["group"][0].as_py()

    def move(rows: Rows) -> Rows:
        return [{**rows[0], "group": group}, *rows[1:]]

    rewrite(made, split_file(made), move)
    found = verify(made)
    assert "groups" in checks(found)
    assert any(p.where == "train and test" for p in found)


def test_a_duplicate_id_is_found(made: Path) -> None:
    rewrite(made, split_file(made), lambda rows: [*rows[:-1], rows[0]])
    found = verify(made)
    assert any(p.check == "ids" and "more than once" in p.detail for p in found)


def test_a_wrong_id_is_found_and_a_malformed_one(made: Path) -> None:
    rewrite(made, split_file(made), lambda rows: [{**rows[0], "id": "0" * 16}, *rows[1:]])
    assert [str(p) for p in verify(made)] == [
        f"ids: {split_file(made)}: id is not the hash of the item: 0000000000000000"
    ]
    rewrite(made, split_file(made), lambda rows: [{**rows[0], "id": "17"}, *rows[1:]])
    assert "ids" in checks(verify(made))


def test_a_changed_answer_is_found_by_the_id(made: Path) -> None:
    rewrite(made, split_file(made), lambda rows: [{**rows[0], "answer": "other"}, *rows[1:]])
    assert checks(verify(made)) == {"ids", "labels"}


def test_ids_without_spans_are_made_of_no_part(made: Path) -> None:
    def bare(rows: Rows) -> Rows:
        first = {**rows[0], "spans": []}
        first["id"] = item_id(
            "long_form", first["source_id"], "", None, first["question"], first["answer"]
        )
        return [first, *rows[1:]]

    rewrite(made, split_file(made), bare)
    assert verify(made, [source_table(REPORTS)]) == []


@pytest.mark.parametrize("name", ["data/train-00000-of-00001.parquet", "labels.parquet"])
@pytest.mark.parametrize(
    "change", [{"start": 1}, {"end": 999}, {"text": "SECRET"}, {"part": "other"}, {"start": -5}]
)
def test_a_span_that_is_not_the_sources_text_is_found(
    made: Path, name: str, change: dict[str, object]
) -> None:
    def shift(rows: Rows) -> Rows:
        return [{**rows[0], "spans": [{**rows[0]["spans"][0], **change}]}, *rows[1:]]

    rewrite(made, name, shift)
    found = verify(made, [source_table(REPORTS)])
    assert ("spans", name) in {(p.check, p.where) for p in found}
    assert "SECRET" not in " ".join(map(str, found))


def test_a_span_may_differ_in_whitespace(made: Path) -> None:
    wrapped = source_table(REPORTS).to_pylist()
    for row in wrapped:
        row["text"] = row["text"].replace(" ", "\n")
    assert verify(made, [pa.Table.from_pylist(wrapped)]) == []


def test_a_study_the_source_lacks_is_found(made: Path) -> None:
    assert checks(verify(made, [source_table(REPORTS[1:])])) == {"spans"}


def test_totals_that_do_not_reconcile_are_found(made: Path) -> None:
    edit_manifest(made, lambda body: body["counts"]["studies"].update(read=41))
    found = verify(made)
    assert checks(found) == {"totals"}
    assert "41 read = 40 kept" in found[0].detail


def test_a_row_that_vanished_is_found_even_with_an_honest_hash(made: Path) -> None:
    rewrite(made, split_file(made), lambda rows: rows[1:])
    assert any(p.check == "totals" and "items" in p.detail for p in verify(made))


def test_a_reject_that_vanished_is_found(tmp_path: Path) -> None:
    build(tmp_path / "out", [*REPORTS, ("empty", "p", ())])
    assert verify(tmp_path / "out") == []
    rewrite(tmp_path / "out", "rejects.parquet", lambda rows: [])
    assert [p.where for p in verify(tmp_path / "out")] == ["rejects.parquet, no_findings"]


def test_a_study_under_two_groups_is_found(made: Path) -> None:
    rewrite(made, "labels.parquet", lambda rows: [{**rows[0], "group": "nobody"}, *rows[1:]])
    assert checks(verify(made)) == {"groups", "labels"}


def test_a_missing_and_an_extra_file_are_found(made: Path) -> None:
    (made / "labels.parquet").unlink()
    (made / "data/train-00001-of-00001.parquet").write_bytes(b"x")
    found = {(p.check, p.where) for p in verify(made)}
    assert found == {("missing", "labels.parquet"), ("extra", "data/train-00001-of-00001.parquet")}


def test_a_missing_split_is_found(made: Path) -> None:
    (made / split_file(made, "test")).unlink()
    assert ("missing", split_file(made, "test")) in {(p.check, p.where) for p in verify(made)}


def test_a_file_replaced_by_a_symlink_is_found(made: Path, tmp_path: Path) -> None:
    (made / "labels.parquet").rename(tmp_path / "elsewhere.parquet")
    (made / "labels.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    assert ("extra", "labels.parquet") in {(p.check, p.where) for p in verify(made)}


def test_wrong_columns_are_found(made: Path) -> None:
    table = pq.ParquetFile(made / split_file(made)).read().drop_columns(["answer"])
    pq.write_table(table, made / split_file(made))
    assert {"hash", "schema"} <= checks(verify(made))


def test_an_edited_identity_is_found(made: Path) -> None:
    edit_manifest(made, lambda body: body["identity"].update(seed=99))
    assert checks(verify(made)) == {"manifest"}


def test_a_missing_or_damaged_manifest_is_found(made: Path) -> None:
    (made / "manifest.json").write_text("{")
    assert checks(verify(made)) == {"manifest"}
    (made / "manifest.json").unlink()
    assert "not complete" in str(verify(made)[0])


def test_no_folder_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        verify(tmp_path / "nowhere")


def test_items_of_a_kind_that_nobody_knows_are_told(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinqa.dataset.verify.kind_of", lambda folder: None)
    assert checks(verify(made)) == {"kind"}
