"""Which checkpoint is gone on from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.training.watch import last_checkpoint


def checkpoint(folder: Path, step: int, state: str | None) -> Path:
    made = folder / f"checkpoint-{step}"
    made.mkdir()
    if state is not None:
        (made / "trainer_state.json").write_text(state)
    return made


def test_the_latest_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for step in (9, 10):
        made = checkpoint(tmp_path, step, json.dumps({"global_step": step}))
    assert last_checkpoint(tmp_path) == (made, 10)


@pytest.mark.parametrize("state", [None, "", '{"global_step": 1', "{}", "[]", '{"global_step": 1}'])
def test_a_torn_checkpoint_is_passed_over(tmp_path: Path, state: str | None) -> None:
    whole = checkpoint(tmp_path, 5, json.dumps({"global_step": 5}))
    checkpoint(tmp_path, 10, state)
    (tmp_path / "checkpoint-x").mkdir()
    assert last_checkpoint(tmp_path) == (whole, 5)
