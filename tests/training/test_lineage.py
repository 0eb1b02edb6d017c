"""What a folder of `clinqa train` says of itself holds: its files, what was learnt, whose data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.models.trained import trained_folder
from clinqa.training.merge import merge
from clinqa.training.train_options import MergeOptions
from tiny_model import make_tiny
from training.made_training import long_items, trained, write

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("lineage")
    base = make_tiny(folder / "base")
    dataset = write(folder / "dataset", data_class="restricted")
    trained(dataset, base, folder / "adapter", "max_steps=2")
    return {"base": base, "dataset": dataset, "adapter": folder / "adapter"}


def asking(made: dict[str, Path], adapter: Path, **given: object) -> PredictOptions:
    told = {"max_tokens": 4, "device": "cpu", "limit": 2, **given}
    return PredictOptions(model=f"hf:{made['base']}", adapters=[adapter], **told)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_least_change_of_the_weights_is_refused_in_every_number_format(
    made: dict[str, Path], tmp_path: Path, dtype: str
) -> None:
    safe = pytest.importorskip("safetensors.torch")
    changed = shutil.copytree(made["adapter"], tmp_path / "changed")
    file = changed / "adapter_model.safetensors"
    tensors = safe.load_file(str(file))
    next(iter(tensors.values())).mul_(1.0001)
    safe.save_file(tensors, file)
    with pytest.raises(CheckFailed, match=r"safetensors: changed since it was made"):
        predict(made["dataset"], tmp_path / "run", asking(made, changed, dtype=dtype))


def test_another_alpha_is_refused(made: dict[str, Path], tmp_path: Path) -> None:
    changed = shutil.copytree(made["adapter"], tmp_path / "changed")
    file = changed / "adapter_config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "lora_alpha": config["lora_alpha"] + 1}))
    with pytest.raises(CheckFailed, match=r"adapter_config\.json: changed since it was made"):
        predict(made["dataset"], tmp_path / "run", asking(made, changed, dtype="bfloat16"))
    with pytest.raises(CheckFailed, match=r"adapter_config\.json: changed since it was made"):
        merge(made["dataset"], tmp_path / "merged", MergeOptions(adapter=changed, device="cpu"))


def test_an_adapter_without_its_manifest_is_not_taken_for_anothers(
    made: dict[str, Path], tmp_path: Path
) -> None:
    changed = shutil.copytree(made["adapter"], tmp_path / "changed")
    (changed / "manifest.json").unlink()
    with pytest.raises(ConfigError, match=r"its manifest\.json is missing"):
        predict(made["dataset"], tmp_path / "run", asking(made, changed))


def test_an_adapter_for_a_model_that_takes_none_is_refused(
    made: dict[str, Path], tmp_path: Path
) -> None:
    options = PredictOptions(model="baseline:prior", adapters=[made["adapter"]])
    with pytest.raises(ConfigError, match="baseline:prior takes no --adapter"):
        predict(made["dataset"], tmp_path / "run", options)


def test_validation_items_that_chose_nothing_are_not_said_to_have_chosen(
    made: dict[str, Path], tmp_path: Path
) -> None:
    result = predict(made["dataset"], tmp_path / "run", asking(made, made["adapter"]))
    assert not any("chose" in line for line in result.warnings)
    hashes = trained_folder(made["adapter"])
    assert hashes is not None
    assert set(hashes.hashes()["role"].to_pylist()) == {"train"}


def test_what_a_merged_model_has_learnt_its_heirs_have_learnt(
    made: dict[str, Path], tmp_path: Path
) -> None:
    merging = MergeOptions(adapter=made["adapter"], items=2, max_tokens=2, device="cpu", threads=1)
    merge(made["dataset"], tmp_path / "merged", merging)
    other = write(tmp_path / "other", train=long_items(["z1"]), data_class="public")
    trained(other, tmp_path / "merged", tmp_path / "second", "max_steps=2")
    second = trained_folder(tmp_path / "second")
    assert second is not None
    assert second.manifest.data_class == "restricted"
    again = MergeOptions(
        adapter=tmp_path / "second", items=2, max_tokens=2, device="cpu", threads=1
    )
    merge(other, tmp_path / "twice", again)
    options = PredictOptions(model=f"hf:{tmp_path / 'twice'}", split="train", device="cpu")
    with pytest.raises(ConfigError, match="trained on 24 of the 24 items"):
        predict(made["dataset"], tmp_path / "run", options)
