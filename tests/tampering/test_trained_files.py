"""The files of adapters, and those that trainings read, harmed in turn: refused, by their name."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from tampering.stages import Stage, call, harmed, names
from tiny_model import make_tiny

pytestmark = pytest.mark.slow

SETTINGS = "precision=f32 quantization=none lora_rank=4 batch_size=4 accumulation=1 epochs=1"
TRAIN = " ".join(
    ["train set --model hf:base --preset ecgquest --limit 8 --set learning_rate=5e-3"]
    + [f"--set {one}" for one in SETTINGS.split()]
)
STAGES = {
    "train": Stage(TRAIN, ["set"]),
    "predict": Stage(
        "predict set --model hf:base --adapter adapter --limit 2 --max-tokens 2",
        ["set", "adapter"],
    ),
    "merge": Stage("train set --merge adapter --merge-items 2", ["set", "adapter"]),
}


@pytest.fixture(scope="module")
def trained(made: Path) -> Path:
    make_tiny(made / "base")
    code, said = call([*TRAIN.split(), "--out", "adapter"])
    assert code == 0, said
    return made


@pytest.mark.parametrize("name", STAGES)
def test_every_file_that_is_read_is_checked(trained: Path, name: str) -> None:
    for file, fault, code, said in harmed(STAGES[name], trained):
        assert code in (1, 2, 3) and names(file, said), (file, fault, code, said)
