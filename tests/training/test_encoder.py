"""A two-class encoder: trained, proven, asked; weighted as the language models are."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="the extra `train` is not installed")
pytest.importorskip("accelerate", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.stage import StageResult
from clinqa.models.encoder import open_encoder
from clinqa.models.protocol import ModelOptions, Prompt, Sampling
from clinqa.training.train import train
from clinqa.training.train_options import TrainOptions
from training.made_training import pair_items, write

pytestmark = pytest.mark.full

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "is", "normal", "dilated", ".", "left"]
WORDS += ["right", "aortic", "mitral", "valve", "atrium", "ventricle", "pressure", "a", "p"]
WORDS += [f"##{n}" for n in range(10)] + [str(n) for n in range(10)]


def make_bert(folder: Path) -> Path:
    import torch
    import transformers

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    vocabulary = {word: n for n, word in enumerate(WORDS)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def trained(dataset: Path, base: Path, out: Path, *told: str, **given: object) -> StageResult:
    told = ("learning_rate=1e-3", "epochs=12", "batch_size=8", *told)
    options = TrainOptions(
        model=f"hf:{base}", preset="encoder", overrides=told, device="cpu", threads=1, **given
    )  # type: ignore[arg-type]
    return train(dataset, out, options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("encoder")
    base = make_bert(folder / "base")
    items = [item for n in range(32) for item in pair_items(n, "a")]
    dataset = write(folder / "dataset", "true_false", train=items)
    trained(dataset, base, folder / "out")
    return {"base": base, "dataset": dataset, "out": folder / "out"}


def prompt(statement: str, number: int = 0) -> Prompt:
    return Prompt(f"i{number}", (), statement, "", "", "", 0, 0)


def test_it_learns_and_answers_true_and_false(made: dict[str, Path]) -> None:
    details = json.loads((made["out"] / "manifest.json").read_text())["details"]
    assert details["validation"]["accuracy"] == 1.0
    model = open_encoder(str(made["out"]), ModelOptions(device="cpu"))
    asked = [prompt("The left valve 3 is normal."), prompt("The left valve 3 is dilated.", 1)]
    said = {n: output.text for n, output in model.generate(asked, Sampling())}
    assert said == {0: "True", 1: "False"}
    [[true]], [[false]] = (model.score([(asked[0], word)]) for word in ("True", "False"))
    assert true > false
    model.close()


def test_a_statement_over_the_window_is_an_error_of_its_own(made: dict[str, Path]) -> None:
    model = open_encoder(str(made["out"]), ModelOptions(device="cpu"))
    asked = [prompt("normal " * 100), prompt("The left valve is normal.", 1)]
    said = dict(model.generate(asked, Sampling()))
    assert (said[0].finish_reason, said[0].error) == ("error", "context")
    assert said[1].text in ("True", "False")


def test_an_interrupted_training_ends_like_an_undisturbed_one(
    made: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        trained(made["dataset"], made["base"], tmp_path / "out", stop_after=10)
    trained(made["dataset"], made["base"], tmp_path / "out", resume=True)
    name = "model.safetensors"
    assert (tmp_path / "out" / name).read_bytes() == (made["out"] / name).read_bytes()


def test_a_changed_classifier_is_refused(made: dict[str, Path], tmp_path: Path) -> None:
    safe = pytest.importorskip("safetensors.torch")
    changed = shutil.copytree(made["out"], tmp_path / "changed")
    tensors = safe.load_file(str(changed / "model.safetensors"))
    tensors["classifier.weight"] *= 1.5
    safe.save_file(tensors, changed / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="does not answer as it did"):
        open_encoder(str(changed), ModelOptions(device="cpu"))


def test_an_untrained_encoder_is_refused(made: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="has to be trained"):
        open_encoder(str(made["base"]), ModelOptions(device="cpu"))


def test_a_weight_for_false_moves_answers_to_false(made: dict[str, Path], tmp_path: Path) -> None:
    shares = []
    for number, weight in enumerate((0.2, 5.0)):
        out = tmp_path / f"w{number}"
        told = (f"false_weight={weight}", "max_steps=3", "best_by=none")
        trained(made["dataset"], made["base"], out, *told)
        with (out / "curves.csv").open(encoding="utf-8") as file:
            scored = [row for row in csv.DictReader(file) if row["eval_true_share"]]
        shares.append(float(scored[-1]["eval_true_share"]))
    assert shares[0] > shares[1]
