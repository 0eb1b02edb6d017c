"""A run that would ask what was trained on is refused, before a model is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from asking.made_dataset import Made, install, predictions, row, rows, said, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import CheckFailed, ConfigError, PrivacyError
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import DataClass
from clinqa.models.trained import TRAINED_ON, seen_rows, trained_folder


def adapter(folder: Path, items: list[dict[str, object]], **manifest: object) -> Path:
    """A folder as clinqa train leaves it, but for its weights."""
    folder.mkdir()
    table = seen_rows(
        [(str(i["id"]), str(i["group"]), str(i["question"]), str(i["context"])) for i in items],
        str(manifest.pop("role", "train")),
    )
    pq.write_table(table, folder / TRAINED_ON)
    file = folder / TRAINED_ON
    record = FileRecord(TRAINED_ON, sha256_file(file), file.stat().st_size)
    made = Manifest(
        **{
            "verb": "train",
            "data_class": "public",
            "identity": {},
            "clinqa": "0",
            "outputs": [record],
            **manifest,
        }  # type: ignore[arg-type]
    )
    (folder / "manifest.json").write_text(made.to_json(), encoding="utf-8")
    return folder


def ask(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch, **given: object):
    install(monkeypatch, Made(lambda prompt: said("No.")))
    dataset = tmp_path / "dataset"
    if not dataset.exists():
        write_dataset(dataset)
    options = PredictOptions(model="made:model", adapters=[trained], **given)  # type: ignore[arg-type]
    return predict(dataset, tmp_path / "run", options)


def test_an_adapter_is_refused_the_items_it_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = adapter(tmp_path / "a", rows(["t0"]))
    with pytest.raises(ConfigError, match="trained on 3 of the 18 items"):
        ask(tmp_path, trained, monkeypatch)
    assert not (tmp_path / "run").exists()


def test_an_adapter_is_refused_the_patients_it_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = row("another-study", "p-t1", "lv_wall", 2)
    trained = adapter(tmp_path / "a", [other])
    with pytest.raises(ConfigError, match="patients or groups of 3 more"):
        ask(tmp_path, trained, monkeypatch)


def test_the_same_text_under_another_id_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [first, *_] = rows(["t0"])
    copied = {**first, "id": "0" * 16, "group": "somebody"}
    with pytest.raises(ConfigError, match="trained on 1 of the 18 items"):
        ask(tmp_path, adapter(tmp_path / "a", [copied]), monkeypatch)


def test_a_limit_asks_only_about_what_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(tmp_path, adapter(tmp_path / "b", rows(["x"])), monkeypatch, limit=2)
    asked = {one["item_id"] for one in predictions(tmp_path / "run")}
    [unasked, *_] = [one for one in rows([f"t{n}" for n in range(6)]) if one["id"] not in asked]
    trained = adapter(tmp_path / "a", [{**unasked, "group": "somebody"}])
    ask(tmp_path, trained, monkeypatch, limit=2, fresh=True)


def test_seen_items_are_asked_if_that_is_wanted_and_the_run_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = adapter(tmp_path / "a", rows(["t0"]))
    result = ask(tmp_path, trained, monkeypatch, allow_seen=True)
    assert any("asked all the same (--allow-seen)" in one for one in result.warnings)


def test_items_that_chose_the_state_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = adapter(tmp_path / "a", rows(["t0"]), role="validation")
    result = ask(tmp_path, trained, monkeypatch)
    assert any("3 of the items that are asked chose" in one for one in result.warnings)


def test_a_run_inherits_the_class_of_what_the_adapter_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = adapter(tmp_path / "a", rows(["x"]), data_class="phi")
    ask(tmp_path, trained, monkeypatch)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["data_class"] == "phi"
    with pytest.raises(PrivacyError, match="phi"):
        ask(tmp_path, trained, monkeypatch, data_class=DataClass.PUBLIC)


def test_a_changed_list_of_items_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = adapter(tmp_path / "a", rows(["t0"]))
    pq.write_table(seen_rows([]), trained / TRAINED_ON)
    with pytest.raises(CheckFailed, match=r"trained_on\.parquet: changed since it was made"):
        ask(tmp_path, trained, monkeypatch)


def test_an_adapter_of_another_tool_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    assert trained_folder(tmp_path / "a") is None
    result = ask(tmp_path, tmp_path / "a", monkeypatch)
    assert any("nobody can tell what it was trained on" in one for one in result.warnings)


def test_hashes_hold_no_text() -> None:
    table = seen_rows([("id", "patient 7", "How?", "Fine.")])
    assert "patient 7" not in str(table.to_pylist())
