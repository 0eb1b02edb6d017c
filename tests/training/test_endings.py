"""A training that is ended while its results are written loses none of them."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.core.errors import ConfigError, ModelError
from clinqa.training import finish
from clinqa.training.checkpoints import saving
from clinqa.training.trainer import AnswerTrainer
from clinqa.training.watch import Watch
from tiny_model import make_tiny
from training.made_training import pair_items, trained, write

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


def test_a_learning_rate_that_diverges_is_said_to_do_so(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", validation=[])
    with pytest.raises(ModelError, match=r"diverged from .* with learning_rate 1e\+08; .*--fresh"):
        trained(dataset, base, tmp_path / "out", "learning_rate=1e8", "epochs=6")


def test_a_loss_that_rises_and_stays_a_number_is_a_warning() -> None:
    rose, fell = ({"loss_first": 2.0, "loss_last": last} for last in (9.0, 1.0))
    [warning] = finish._unlearnt(rose)
    assert "rose from 2 at the first step to 9" in warning and "lower learning_rate" in warning
    assert finish._unlearnt(fell) == finish._unlearnt({"loss_first": None, "loss_last": None}) == []


@pytest.mark.parametrize(("given", "says"), [({}, "both classes"), ({"limit": 3}, "--limit")])
def test_a_train_split_of_one_class_is_refused(
    tmp_path: Path, given: dict[str, object], says: str
) -> None:
    base = make_tiny(tmp_path / "base")
    items = [one for n in range(8) for one in pair_items(n, "a") if one["label"]]
    dataset = write(tmp_path / "dataset", "true_false", train=items)
    with pytest.raises(ConfigError, match=f"all [38] items of train.* are True, .*{says}"):
        trained(dataset, base, tmp_path / "out", preset="ecgquest", **given)
    assert not (tmp_path / "out").exists()


def test_a_validation_split_of_one_class_is_a_warning(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    items = [one for n in range(3) for one in pair_items(n, "v") if not one["label"]]
    dataset = write(tmp_path / "dataset", "true_false", validation=items)
    made = trained(dataset, base, tmp_path / "out", "max_steps=3", preset="ecgquest")
    assert "all 3 items of validation are False: accuracy and macro-F1 on them say little" in (
        made.warnings
    )


@pytest.mark.parametrize("bytes_left", [0, 30_000])  # torch or safetensors meets the end first
def test_a_file_that_cannot_be_written_is_what_the_system_says(
    tmp_path: Path, bytes_left: int
) -> None:
    resource = pytest.importorskip("resource", reason="POSIX only")
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", validation=[])
    told = ("checkpoint_minutes=1e-9", "max_steps=3")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limited(step: str, done: int, *_: object, **__: object) -> None:
        if done == 2:  # one checkpoint is whole by then
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000 + bytes_left, hard))

    try:
        with pytest.raises(ConfigError, match=r"--out .*out: cannot be written \(File too large\)"):
            trained(dataset, base, tmp_path / "out", *told, progress=limited)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    trained(dataset, base, tmp_path / "out", *told, resume=True)
    details = json.loads((tmp_path / "out" / "manifest.json").read_text())["details"]
    assert details["resumed_at_step"] == 1


def test_a_damaged_checkpoint_is_named_and_costs_its_steps_alone(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", "true_false")
    with pytest.raises(KeyboardInterrupt):
        trained(dataset, base, tmp_path / "out", *TOLD, preset="ecgquest", stop_after=3)
    optimizer = tmp_path / "out" / ".partial" / "checkpoint-3" / "optimizer.pt"
    body = bytearray(optimizer.read_bytes())
    body[len(body) // 2] ^= 1
    optimizer.write_bytes(bytes(body))
    made = trained(dataset, base, tmp_path / "out", *TOLD, preset="ecgquest", resume=True)
    assert made.warnings[0] == (
        "checkpoint-3 is not taken: optimizer.pt in it is damaged; it goes on after step 2"
    )
    trained(dataset, base, tmp_path / "undisturbed", *TOLD, preset="ecgquest")
    name = "adapter_model.safetensors"
    found, wanted = ((tmp_path / out / name).read_bytes() for out in ("out", "undisturbed"))
    assert found == wanted


def test_names_stand_in_order_in_the_configuration_of_an_adapter(tmp_path: Path) -> None:
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps({"target_modules": ["v", "a", "q"], "r": 4}))
    finish._name_base(path, "hf:m")
    assert json.loads(path.read_text())["target_modules"] == ["a", "q", "v"]


def test_a_full_disk_is_that_whichever_library_meets_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught, saving(tmp_path):
        raise Exception("No space left on device (os error 28)")  # as tokenizers has it
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(KeyError), saving(tmp_path):
        raise KeyError("a fault of another kind")
