"""Which checkpoint is gone on from, and what is said of one that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clinqa.training.checkpoints import SEAL, drop_old, keep_best, resume_point, seal


def checkpoint(folder: Path, step: int, best: int | None = None, *, sealed: bool = True) -> Path:
    made = folder / f"checkpoint-{step}"
    (made / "shards").mkdir(parents=True)
    for name in ("model.safetensors", "optimizer.pt", "shards/0.bin"):
        (made / name).write_text(f"{name} of {step}")
    if sealed:
        seal(made, {"step": step, "best": best}, private=False)
    return made


def best_state(folder: Path, step: int) -> None:
    fresh = folder / "best.new"
    fresh.mkdir()
    (fresh / "model.safetensors").write_text(f"best of {step}")
    seal(fresh, {"step": step, "by": "loss", "value": 1.0, "higher": -1.0}, private=False)
    keep_best(folder, fresh)


def test_the_latest_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    assert resume_point(tmp_path).checkpoint is None
    for step in (9, 10):
        made = checkpoint(tmp_path, step)
    (tmp_path / "checkpoint-x").mkdir()
    found = resume_point(tmp_path)
    assert (found.checkpoint, found.step, found.notes, found.best) == (made, 10, (), {})


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "shards/0.bin", SEAL])
@pytest.mark.parametrize("harm", [cut, flip, Path.unlink])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    whole, latest = checkpoint(tmp_path, 5), checkpoint(tmp_path, 10)
    harm(latest / name)
    found = resume_point(tmp_path)
    assert (found.checkpoint, found.step, found.useless) == (whole, 5, (latest,))
    [note] = found.notes
    assert note.startswith("checkpoint-10 is not taken: ") and note.endswith("after step 5")
    assert name in note or "not whole" in note


def test_a_checkpoint_that_was_being_written_is_not_whole(tmp_path: Path) -> None:
    checkpoint(tmp_path, 10, sealed=False)
    found = resume_point(tmp_path)
    assert found.checkpoint is None
    assert found.notes == (
        "checkpoint-10 is not taken: it is not whole (the run ended while it was written); it "
        "begins again at the first step",
    )


def test_two_checkpoints_are_kept(tmp_path: Path) -> None:
    for step in (1, 2, 10):
        checkpoint(tmp_path, step)
        drop_old(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-2"]


def test_a_best_state_of_an_earlier_step_must_be_whole_too(tmp_path: Path) -> None:
    first = checkpoint(tmp_path, 5)
    best_state(tmp_path, 8)
    latest = checkpoint(tmp_path, 10, best=8)
    assert resume_point(tmp_path).best["step"] == 8
    flip(tmp_path / "best" / "model.safetensors")
    found = resume_point(tmp_path)
    assert (found.checkpoint, found.useless, found.best) == (first, (latest,), {})
    assert "the best state, of step 8, model.safetensors in it is damaged" in found.notes[0]


def test_a_best_state_of_steps_that_are_done_again_comes_back(tmp_path: Path) -> None:
    best_state(tmp_path, 8)
    latest = checkpoint(tmp_path, 10, best=8)
    best_state(tmp_path, 12)  # and then the run was killed
    found = resume_point(tmp_path)
    assert (found.checkpoint, found.best) == (latest, {})
    assert (tmp_path / "best").is_dir()  # until it is written again: a second kill may come


def test_a_best_state_that_a_kill_left_aside_is_put_back(tmp_path: Path) -> None:
    best_state(tmp_path, 8)
    latest = checkpoint(tmp_path, 10, best=8)
    (tmp_path / "best").rename(tmp_path / "best.old")
    found = resume_point(tmp_path)
    assert (found.checkpoint, found.best["step"]) == (latest, 8)
