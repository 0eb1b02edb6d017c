"""A training that is ended while its results are written loses none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.core.errors import ModelError
from clinqa.training import finish
from clinqa.training.trainer import AnswerTrainer
from clinqa.training.watch import Watch
from tiny_model import make_tiny
from training.made_training import trained, write

pytestmark = pytest.mark.full

# the first step is saved, and is the best of them
TOLD = ("best_by=loss", "validations=6", "checkpoint_minutes=1e-9", "learning_rate=1e-3")


@pytest.mark.parametrize("place", ["_reloaded", "write_seen", "plot_curves"])
def test_ctrl_c_after_the_last_step_keeps_the_best_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", "true_false")

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def again(*_: object, **__: object) -> None:
        raise AssertionError("a step was trained again")

    with monkeypatch.context() as patch:
        patch.setattr(finish, place, end)
        with pytest.raises(KeyboardInterrupt):
            trained(dataset, base, tmp_path / "out", *TOLD, preset="ecgquest")
    with monkeypatch.context() as patch:
        patch.setattr(AnswerTrainer, "training_step", again)
        trained(dataset, base, tmp_path / "out", *TOLD, preset="ecgquest", resume=True)
    trained(dataset, base, tmp_path / "undisturbed", *TOLD, preset="ecgquest")
    name = "adapter_model.safetensors"
    found, wanted = ((tmp_path / out / name).read_bytes() for out in ("out", "undisturbed"))
    assert found == wanted
    assert not list((tmp_path / "out").glob("best*"))


def test_a_kill_while_finishing_costs_no_step_where_no_state_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", validation=[])

    def end(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(finish, "_reloaded", end)
        with pytest.raises(RuntimeError):
            trained(dataset, base, tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(AnswerTrainer, "training_step", end)
        trained(dataset, base, tmp_path / "out")
    trained(dataset, base, tmp_path / "undisturbed")
    name = "adapter_model.safetensors"
    found, wanted = ((tmp_path / out / name).read_bytes() for out in ("out", "undisturbed"))
    assert found == wanted
    assert not list((tmp_path / "out").glob("checkpoint*"))


def test_weights_that_are_no_numbers_after_the_last_step_are_said_to_be_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = Watch.on_step_end

    def spoil(self: Watch, args: object, state: object, control: object, **given: object) -> object:
        weights = given["model"].parameters()  # type: ignore[attr-defined]
        next(one for one in weights if one.requires_grad).data.fill_(float("nan"))
        return goes_on(self, args, state, control, **given)

    monkeypatch.setattr(Watch, "on_step_end", spoil)
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", validation=[])
    with pytest.raises(ModelError, match="no finite numbers after step 1"):
        trained(dataset, base, tmp_path / "out", "max_steps=1")
