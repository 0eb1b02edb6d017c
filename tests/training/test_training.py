"""From a dataset to an adapter and back into predict, with a tiny model of random weights."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError, MissingExtra, ModelError
from clinqa.models.protocol import Sampling
from tiny_model import make_tiny, opened, prompts
from training.made_training import long_items, pair_items, trained, write

pytestmark = pytest.mark.full


def losses(folder: Path) -> list[float]:
    with (folder / "curves.csv").open(encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file) if row["loss"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One training that many tests look at."""
    folder = tmp_path_factory.mktemp("made")
    base = make_tiny(folder / "base")
    dataset = write(folder / "dataset", data_class="restricted")
    trained(dataset, base, folder / "adapter", "epochs=3", "together=2")
    return {"base": base, "dataset": dataset, "adapter": folder / "adapter"}


def test_a_training_learns_and_leaves_only_an_adapter(made: dict[str, Path]) -> None:
    curve = losses(made["adapter"])
    assert len(curve) == 18
    assert curve[-1] < 0.7 * curve[0]
    names = sorted(path.name for path in made["adapter"].iterdir())
    assert names == sorted(
        [
            "README.md", "adapter_config.json", "adapter_model.safetensors", "canaries.json",
            "curves.csv", "curves.svg", "manifest.json", "trained_on.parquet",
        ]
    )  # fmt: skip
    for path in made["adapter"].iterdir():
        assert path.stat().st_mode & 0o077 == 0  # restricted


def test_no_text_of_a_record_stands_in_an_adapter(made: dict[str, Path]) -> None:
    for path in made["adapter"].iterdir():
        data = path.read_bytes()
        assert b"p-a1" not in data
        assert b"the report says" not in data


def test_the_manifest_says_what_was_trained_on_what(made: dict[str, Path]) -> None:
    manifest = json.loads((made["adapter"] / "manifest.json").read_text())
    dataset = json.loads((made["dataset"] / "manifest.json").read_text())
    assert manifest["data_class"] == "restricted"
    assert manifest["configuration"]["dataset"] == dataset["fingerprint"]
    assert manifest["configuration"]["settings"]["epochs"] == {"value": 3.0, "source": "you"}
    assert manifest["counts"]["items"]["sum"].startswith("24 read = 24 kept")
    assert manifest["details"]["validation"]["loss"] > 0
    assert {"torch", "peft", "trl", "transformers"} <= set(manifest["versions"])


def test_predict_applies_the_adapter_and_proves_it(made: dict[str, Path], tmp_path: Path) -> None:
    options = PredictOptions(
        model=f"hf:{made['base']}", adapters=[made["adapter"]], max_tokens=8, device="cpu"
    )
    result = predict(made["dataset"], tmp_path / "run", options)
    assert result.counts["items"] == 9
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["data_class"] == "restricted"
    assert "canaries_off_by" in json.dumps(manifest["details"])


def test_the_same_training_gives_the_same_adapter(made: dict[str, Path], tmp_path: Path) -> None:
    trained(made["dataset"], made["base"], tmp_path / "again", "epochs=3", "together=2")
    made_again = {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    before = {path.name: path.read_bytes() for path in made["adapter"].iterdir()}
    assert made_again.keys() == before.keys() > {"adapter_config.json", "curves.csv", "README.md"}
    different = {name for name, body in before.items() if made_again[name] != body}
    assert different == {"manifest.json"}  # it says when
    result = trained(made["dataset"], made["base"], tmp_path / "again", "epochs=3", "together=2")
    assert result.already_done


@pytest.mark.parametrize("stop", [2, 6])  # within an epoch, and at its end
def test_an_interrupted_training_ends_like_an_undisturbed_one(
    made: dict[str, Path], tmp_path: Path, stop: int
) -> None:
    out = tmp_path / "out"
    told = ("epochs=3", "together=2")
    with pytest.raises(KeyboardInterrupt):
        trained(made["dataset"], made["base"], out, *told, stop_after=stop)
    assert not (out / "manifest.json").exists()
    trained(made["dataset"], made["base"], out, *told, resume=True)
    assert losses(out) == losses(made["adapter"])
    name = "adapter_model.safetensors"
    assert (out / name).read_bytes() == (made["adapter"] / name).read_bytes()


def test_ctrl_c_saves_the_step_it_came_in(made: dict[str, Path], tmp_path: Path) -> None:
    from clinqa.training.train import train
    from clinqa.training.train_options import TrainOptions
    from training.made_training import FAST

    def progress(stage: str, done: int, *_: object, **__: object) -> None:
        if stage == "training" and done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    options = TrainOptions(
        model=f"hf:{made['base']}", preset="echoqa", overrides=FAST, device="cpu", threads=1
    )
    with pytest.raises(KeyboardInterrupt):
        train(made["dataset"], tmp_path / "out", options, progress)
    assert [p.name for p in (tmp_path / "out" / ".partial").glob("checkpoint-*")] == [
        "checkpoint-3"
    ]


def test_resume_insists_on_a_checkpoint(made: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no checkpoint"):
        trained(made["dataset"], made["base"], tmp_path / "out", resume=True)


def test_a_changed_adapter_fails_its_canaries(made: dict[str, Path], tmp_path: Path) -> None:
    safe = pytest.importorskip("safetensors.torch")
    changed = shutil.copytree(made["adapter"], tmp_path / "changed")
    tensors = safe.load_file(str(changed / "adapter_model.safetensors"))
    safe.save_file({k: 0.7 * v for k, v in tensors.items()}, changed / "adapter_model.safetensors")
    with pytest.raises(ModelError, match="does not answer as it did when it was trained"):
        opened(made["base"], adapter=changed)
    opened(made["base"], adapter=made["adapter"]).close()


def test_an_adapter_for_another_base_is_refused(made: dict[str, Path], tmp_path: Path) -> None:
    other = make_tiny(tmp_path / "other", seed=5)
    with pytest.raises(ConfigError, match="has other weights"):
        opened(other, adapter=made["adapter"])


def test_the_same_base_in_another_folder_is_taken(made: dict[str, Path], tmp_path: Path) -> None:
    moved = shutil.copytree(made["base"], tmp_path / "moved")
    model = opened(moved, adapter=made["adapter"])
    assert dict(model.generate(prompts(1), Sampling(max_tokens=2)))
    model.close()


def test_predict_refuses_the_items_of_train(made: dict[str, Path], tmp_path: Path) -> None:
    options = PredictOptions(model=f"hf:{made['base']}", adapters=[made["adapter"]], split="train")
    with pytest.raises(ConfigError, match="trained on 24 of the 24 items"):
        predict(made["dataset"], tmp_path / "run", options)


def test_a_dry_run_shows_the_mask_and_writes_nothing(made: dict[str, Path], tmp_path: Path) -> None:
    result = trained(made["dataset"], made["base"], tmp_path / "out", dry_run=True)
    assert any(line.startswith("  | The ") and line.endswith("<|end|>") for line in result.lines)
    assert any("about 6 steps of 4 items" in line for line in result.lines)
    assert not (tmp_path / "out").exists()


def test_cuda_is_not_here_and_nf4_becomes_plain_lora(made: dict[str, Path], tmp_path: Path) -> None:
    result = trained(
        made["dataset"], made["base"], tmp_path / "out", "quantization=nf4", "max_steps=2"
    )
    assert "quantization: no CUDA here, so NF4 is replaced by plain LoRA" in result.lines


def test_a_dataset_of_another_kind_is_refused(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", "true_false")
    with pytest.raises(ConfigError, match="its items are true_false, and preset echoqa is for"):
        trained(dataset, base, tmp_path / "out")


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    empty = write(tmp_path / "empty", train=[])
    with pytest.raises(ConfigError, match="the split train holds no items"):
        trained(empty, base, tmp_path / "out")
    unchecked = write(tmp_path / "unchecked", validation=[])
    with pytest.raises(ConfigError, match="the split validation holds no items"):
        trained(unchecked, base, tmp_path / "out", "best_by=loss")


def test_an_item_longer_than_the_context_is_an_error_or_left_out(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    long = {**long_items(["b"])[0], "context": "thickened " * 600, "id": "f" * 16}
    dataset = write(tmp_path / "dataset", train=[*long_items(["a"]), long])
    with pytest.raises(ConfigError, match="1 of 4 items of train are longer than the model's"):
        trained(dataset, base, tmp_path / "out")
    trained(dataset, base, tmp_path / "out", "max_steps=2", leave_out_long=True)
    counts = json.loads((tmp_path / "out" / "manifest.json").read_text())["counts"]["items"]
    assert counts["sum"].startswith("4 read = 3 kept + 1 rejected")
    assert counts["rejected_by_reason"] == {"too_long": 1}


def test_a_tokenizer_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base", chat=False)
    with pytest.raises(ConfigError, match="has no chat template"):
        trained(write(tmp_path / "dataset"), base, tmp_path / "out")


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    from clinqa.training import lora

    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(lora, "version", version)
    base = make_tiny(tmp_path / "base")
    with pytest.raises(MissingExtra, match=r"pip install 'clinqa\[train\]'"):
        trained(write(tmp_path / "dataset"), base, tmp_path / "out")


def test_a_loss_that_is_no_number_stops_with_the_items(tmp_path: Path) -> None:
    safe = pytest.importorskip("safetensors.torch")
    base = make_tiny(tmp_path / "base")
    tensors = safe.load_file(str(base / "model.safetensors"))
    tensors["lm_head.weight"][:] = float("nan")
    safe.save_file(tensors, base / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"no finite number at step 1; items of the batch: \w{16}"):
        trained(write(tmp_path / "dataset", validation=[]), base, tmp_path / "out")


def test_a_model_whose_layers_see_only_what_is_near_is_trained_without_sharing(
    tmp_path: Path,
) -> None:
    base = make_tiny(tmp_path / "base", "gemma")
    trained(write(tmp_path / "dataset"), base, tmp_path / "out", "max_steps=2", "together=3")
    details = json.loads((tmp_path / "out" / "manifest.json").read_text())["details"]
    assert details["computed_tokens"] >= details["tokens"]
    opened(base, adapter=tmp_path / "out").close()


def test_added_tokens_get_rows_and_come_back(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    told = ("max_steps=3", "add_tokens=[<a>, <b>]")
    trained(write(tmp_path / "dataset"), base, tmp_path / "out", *told)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    rows = manifest["details"]["embedding_rows"]
    model = opened(base, adapter=tmp_path / "out")
    assert rows == model._open.vocabulary
    assert model._open.renderer.tokenizer("<a>", add_special_tokens=False)["input_ids"] == [
        rows - 2
    ]
    model.close()


def test_the_best_state_by_validation_is_kept(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(
        tmp_path / "dataset",
        "true_false",
        train=[item for n in range(24) for item in pair_items(n, "a")],
    )
    trained(
        dataset, base, tmp_path / "out", "epochs=4", "batch_size=8", "lora_rank=8",
        "validations=2", preset="ecgquest",
    )  # fmt: skip
    details = json.loads((tmp_path / "out" / "manifest.json").read_text())["details"]
    with (tmp_path / "out" / "curves.csv").open(encoding="utf-8") as file:
        scored = [row for row in csv.DictReader(file) if row["eval_macro_f1"]]
    assert len(scored) == 8
    best = max(float(row["eval_macro_f1"]) for row in scored)
    assert details["best"]["value"] == best
    assert details["validation"]["macro_f1"] == pytest.approx(best, abs=1e-5)
    first = next(row for row in scored if float(row["eval_macro_f1"]) == best)
    assert int(first["step"]) == details["kept_step"]
    opened(base, adapter=tmp_path / "out").close()
