"""Trainings that are killed at each kind of file operation end like undisturbed ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

pytestmark = [pytest.mark.full, pytest.mark.slow]

KILLS = 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("method", ["lora", "encoder"])
def test_a_kill_at_any_file_operation_costs_no_step_and_changes_no_byte(
    tmp_path: Path, method: str
) -> None:
    tests = Path(__file__).parents[1]
    paths = [str(tests), str(tests.parent / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "training.killing", method, str(tmp_path), str(KILLS)],
        cwd=tests,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(rows) == KILLS + 1
    for row in rows[1:]:
        assert row["killed"] and row["ended"], row
        assert row["same"], row
        assert not row["repeated"] and row["all_steps"], row
