"""The arithmetic of a step: sharing, weights and accumulation change nothing they should not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch

from clinqa.models.local.runtime import load_plain
from clinqa.training.batches import Collator
from clinqa.training.examples import TrainExample
from clinqa.training.steps import learnt_logits, token_losses
from tiny_model import make_tiny
from training.made_training import FAST, trained, write

pytestmark = pytest.mark.full


def examples(weights: list[float]) -> list[TrainExample]:
    """Items of two contexts, with answers of unlike length."""
    system = list(range(20, 50))
    found = []
    for number, weight in enumerate(weights):
        context = [100 + 3 * (number % 2) + n for n in range(25)]
        question = [200 + number, 201 + number]
        answer = [300 + number + n for n in range(2 + number % 3)]
        tokens = [*system, *context, *question, *answer, 1]
        found.append(
            TrainExample(f"i{number}", f"c{number % 2}", tokens, 30 + 25 + 2, weight, None)
        )
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = make_tiny(tmp_path_factory.mktemp("base") / "m")
    return load_plain("tiny", base, "cpu", "float32")


def gradient(
    model: Any, given: list[TrainExample], *, share: bool, divide: int | None = None
) -> Any:
    """Of the loss of one batch, over all weights of the model."""
    collate = Collator(given, pad=0, row_tokens=120, share=share)
    batch = collate([{"number": n} for n in range(len(given))])
    logits, targets = learnt_logits(model, model.get_output_embeddings(), batch)
    model.zero_grad()
    count = len(targets) if divide is None else divide
    ((token_losses(logits, targets) * batch["weights"]).sum() / count).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_shared_beginnings_give_the_gradient_of_separate_items(model: Any) -> None:
    given = examples([1.0, 3.0, 0.5, 2.0, 1.0, 1.0])
    shared = gradient(model, given, share=True)
    tokens = sum(len(one.answer) for one in given)
    alone = sum(gradient(model, [one], share=False, divide=tokens) for one in given)
    assert torch.allclose(shared, alone, atol=1e-5, rtol=1e-4)
    assert shared.norm() > 0.1


def test_a_batch_of_plain_rows_gives_it_too(model: Any) -> None:
    given = examples([1.0, 3.0, 0.5])
    shared, plain = (gradient(model, given, share=share) for share in (True, False))
    assert torch.allclose(shared, plain, atol=1e-5, rtol=1e-4)


def test_the_head_sees_learnt_positions_only_and_says_what_the_whole_model_says(
    model: Any,
) -> None:
    given = examples([1.0, 1.0])
    collate = Collator(given, pad=0, row_tokens=120, share=True)
    batch = collate([{"number": 0}, {"number": 1}])
    with torch.no_grad():
        logits, targets = learnt_logits(model, model.get_output_embeddings(), batch)
        one = model(input_ids=torch.tensor([given[0].tokens])).logits[0]
    assert len(logits) == len(targets) == sum(len(example.answer) for example in given)
    places = range(given[0].answer_from - 1, len(given[0].tokens) - 1)
    mine = batch["numbers"] == 0
    assert torch.allclose(logits[mine], one[list(places)], atol=1e-4)
    assert targets[mine].tolist() == given[0].answer


@pytest.mark.parametrize("weight", [0.8, 1.5, 3.0])
def test_a_weighted_item_has_weight_times_its_gradient(model: Any, weight: float) -> None:
    plain = examples([1.0, 1.0, 1.0])
    weighted = examples([1.0, weight, 1.0])
    tokens = sum(len(one.answer) for one in plain)
    only = gradient(model, [plain[1]], share=False, divide=tokens)
    difference = gradient(model, weighted, share=True) - gradient(model, plain, share=True)
    assert torch.allclose(difference, (weight - 1) * only, atol=1e-5, rtol=1e-4)


def test_four_batches_of_two_are_one_of_eight(tmp_path: Path) -> None:
    safe = pytest.importorskip("safetensors.torch")
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", validation=[])
    found = []
    for batch, accumulation in ((8, 1), (2, 4)):
        out = tmp_path / f"{batch}x{accumulation}"
        trained(
            dataset, base, out, f"batch_size={batch}", f"accumulation={accumulation}",
            "lora_dropout=0", "together=3", "epochs=2",
        )  # fmt: skip
        tensors = safe.load_file(str(out / "adapter_model.safetensors"))
        details = json.loads((out / "manifest.json").read_text())["details"]
        found.append((torch.cat([v.flatten() for _, v in sorted(tensors.items())]), details))
    (eight, first), (two, second) = found
    assert first["steps"] == second["steps"] == 6
    assert first["loss_last"] == pytest.approx(second["loss_last"], abs=1e-5)
    assert torch.allclose(eight, two, atol=1e-5)


@pytest.mark.slow
def test_two_processes_are_one_with_twice_the_batch(tmp_path: Path) -> None:
    make_tiny(tmp_path / "base")
    write(tmp_path / "dataset", validation=[])
    sets = [f"--set={one}" for one in (*FAST, "lora_dropout=0", "together=1", "max_steps=3")]
    found = []
    for processes, batch in ((1, 4), (2, 2)):
        out = tmp_path / f"out{processes}"
        command = [
            sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={processes}",
            "--standalone", "-m", "clinqa", "train", str(tmp_path / "dataset"),
            f"--model=hf:{tmp_path / 'base'}", "--preset=echoqa", *sets,
            f"--set=batch_size={batch}", "--device=cpu", "--threads=1", f"--out={out}",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        details = json.loads((out / "manifest.json").read_text())["details"]
        assert (details["processes"], details["steps"]) == (processes, 3)
        found.append(details["loss_last"])
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    # what is done is not done again, and no process waits for another that has ended
    again = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert "already done" in again.stdout + again.stderr
    assert details == json.loads((out / "manifest.json").read_text())["details"]
