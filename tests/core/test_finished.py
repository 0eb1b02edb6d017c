"""The door to finished folders: what is read is what was written, or is refused by its name."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.finished import (
    RUN,
    Finished,
    accepted_of,
    change_warnings,
    mark_of,
    open_finished,
)
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import DataClass
from sealing import edit_manifest, list_again


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "run"
    (made / "data").mkdir(parents=True)
    for name, values in (("data/a.parquet", [1, 2]), ("data/b.parquet", [3])):
        pq.write_table(pa.table({"x": values}), made / name)
    (made / "c.json").write_text('{"k": 1}')
    names = ("data/a.parquet", "data/b.parquet", "c.json")
    records = [FileRecord.of(made / name, name) for name in names]
    manifest = Manifest("predict", "public", {"data_class": "public"}, "0", outputs=records)
    (made / "manifest.json").write_text(manifest.to_json())
    return made


def read_all(finished: Finished) -> list[int]:
    tables = [finished.parquet(name) for name in finished.names("data/")]
    finished.json("c.json")
    return [n for table in tables for n in table["x"].to_pylist()]


def test_an_untouched_folder_is_read(folder: Path) -> None:
    finished = open_finished(folder, RUN)
    assert read_all(finished) == [1, 2, 3]
    assert finished.scan("data/a.parquet").collect()["x"].to_list() == [1, 2]
    finished.unchanged()
    assert finished.accepted == [] and "c.json" in finished and "d" not in finished


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


@pytest.mark.parametrize("name", ["data/a.parquet", "data/b.parquet", "c.json"])
@pytest.mark.parametrize("harm", [flip, cut, Path.unlink], ids=["flipped", "cut", "gone"])
def test_a_harmed_file_is_refused_by_its_name(folder: Path, name: str, harm: object) -> None:
    harm(folder / name)  # type: ignore[operator]
    with pytest.raises(CheckFailed, match=rf"{name}: .*run predict again"):
        read_all(open_finished(folder, RUN))


def test_a_file_under_the_name_of_a_sibling_is_told_as_that(folder: Path) -> None:
    shutil.copy(folder / "data/b.parquet", folder / "data/a.parquet")
    with pytest.raises(CheckFailed, match=r"data/a\.parquet: is data/b\.parquet of this folder"):
        open_finished(folder, RUN).parquet("data/a.parquet")


def test_a_file_that_the_manifest_does_not_list_is_not_handed_out(folder: Path) -> None:
    (folder / "data/z.parquet").write_bytes((folder / "data/a.parquet").read_bytes())
    with pytest.raises(CheckFailed, match=r"z\.parquet: its manifest does not list it"):
        open_finished(folder, RUN).parquet("data/z.parquet")


def test_a_file_that_is_no_file_is_refused_and_nothing_waits_for_it(folder: Path) -> None:
    (folder / "c.json").unlink()
    os.mkfifo(folder / "c.json")
    with pytest.raises(CheckFailed, match=r"c\.json: is gone"):
        open_finished(folder, RUN).json("c.json")


def test_a_file_written_while_it_is_read_is_refused(folder: Path) -> None:
    finished = open_finished(folder, RUN)
    with (
        pytest.raises(CheckFailed, match=r"a\.parquet: was changed while it was read"),
        finished.opened("data/a.parquet"),
    ):
        flip(folder / "data/a.parquet")


def test_a_file_replaced_after_it_was_read_is_found_at_the_end(folder: Path) -> None:
    finished = open_finished(folder, RUN)
    path = finished.checked("data/a.parquet")
    shutil.copy(folder / "data/b.parquet", folder / "other")
    os.replace(folder / "other", path)
    with pytest.raises(CheckFailed, match=r"a\.parquet: was changed while it was read"):
        finished.unchanged()


def test_a_new_mode_or_link_is_no_change(folder: Path) -> None:
    finished = open_finished(folder, RUN)
    with finished.opened("c.json"):
        (folder / "c.json").chmod(0o600)
        os.link(folder / "c.json", folder / "link")
    finished.unchanged()


def test_a_changed_file_that_is_accepted_is_read_and_told(folder: Path) -> None:
    before = mark_of(accepted_of([open_finished(folder, RUN, accept=True)]))
    pq.write_table(pa.table({"x": [9]}), folder / "data/a.parquet")
    finished = open_finished(folder, RUN, accept=True)
    assert before == "" and read_all(finished) == [9, 3]
    (change,) = accepted_of([finished, finished])
    assert str(change) == "run/data/a.parquet"
    assert change.found == sha256_file(folder / "data/a.parquet") != change.stated
    assert finished.record("data/a.parquet").sha256 == change.found
    assert mark_of([change]).startswith("|changed inputs ")
    assert "read all the same" in change_warnings([change])[0]
    finished.unchanged()
    (folder / "c.json").unlink()  # what is gone cannot be accepted
    with pytest.raises(CheckFailed, match="is gone"):
        open_finished(folder, RUN, accept=True)


@pytest.mark.parametrize(
    "edit",
    [
        {"data_class": "licensed"},
        {"outputs": []},
        {"identity": {}},
        {"configuration": {"model": "another"}},
        {"seal": "0" * 64},
    ],
    ids=lambda edit: next(iter(edit)),
)
@pytest.mark.parametrize("accept", [False, True])
def test_an_edited_manifest_is_refused_whatever_is_accepted(
    folder: Path, edit: dict[str, object], accept: bool
) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **edit}))
    with pytest.raises(CheckFailed, match=r"manifest\.json: was edited"):
        open_finished(folder, RUN, accept=accept)


def test_a_manifest_without_a_seal_or_in_other_words_of_json(folder: Path) -> None:
    path = folder / "manifest.json"
    body = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(body.items()))))  # another order, no line breaks
    open_finished(folder, RUN)
    del body["seal"]
    path.write_text(json.dumps(body))
    with pytest.raises(CheckFailed, match="was edited"):
        open_finished(folder, RUN)


def test_the_data_class_is_the_strictest_of_all_that_is_said(folder: Path) -> None:
    assert open_finished(folder, RUN).data_class is DataClass.PUBLIC
    (folder / "README.md").write_text("---\ntags:\n- clinqa\n- data-class:licensed\n---\n")
    assert open_finished(folder, RUN).data_class is DataClass.LICENSED
    (folder / "README.md").write_text("---\ndata_class: restricted\n---\nphi\n")
    assert open_finished(folder, RUN).data_class is DataClass.RESTRICTED
    edit_manifest(folder, lambda body: body["identity"].update(data_class="phi"))
    assert open_finished(folder, RUN).data_class is DataClass.PHI


@pytest.mark.parametrize("where", ["manifest", "identity"])
def test_a_data_class_that_is_none_is_a_clear_error(folder: Path, where: str) -> None:
    odd = {"data_class": "secret"}
    edit_manifest(
        folder, lambda body: (body if where == "manifest" else body["identity"]).update(odd)
    )
    with pytest.raises(ConfigError, match=r"manifest\.json: no such data class; there are public"):
        open_finished(folder, RUN)


def test_what_is_no_such_folder_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder; give the --out of predict"):
        open_finished(tmp_path / "nowhere", RUN)
    with pytest.raises(ConfigError, match=r"no manifest\.json, so no complete run"):
        open_finished(tmp_path, RUN)
    edit_manifest(folder, lambda body: body.update(verb="audit"))
    with pytest.raises(ConfigError, match=r"not a folder of predict \(made by 'audit'\)"):
        open_finished(folder, RUN)


def test_names_that_lead_out_of_the_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("{}")
    list_again(folder, "../out.json")
    with pytest.raises(ConfigError, match="lacks or garbles a key"):
        open_finished(folder, RUN)
