"""Killed at any write, run again: the same rows as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clinqa.dataset.verify import verify
from made_reports import REPORTS, build, rows

FEW = REPORTS[:12]


class Killed(BaseException):
    """Stands for a kill: nothing in the code may catch it."""


def killed_at(n: int, real: Callable[..., object], after: bool) -> Callable[..., object]:
    """`real`, but at the n-th call there is a kill, before or after it has done its work."""
    calls = 0

    def dying(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls == n and not after:
            raise Killed
        try:
            return real(*args, **kwargs)
        finally:
            if calls == n:
                raise Killed

    return dying


@pytest.mark.parametrize("call", ["replace", "fsync", "open", "mkdir", "unlink", "rmdir"])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, after: bool
) -> None:
    undisturbed = tmp_path / "undisturbed"
    build(undisturbed, FEW)
    expected = rows(undisturbed)
    real = getattr(os, call)
    for n in range(1, 200):
        out = tmp_path / f"{call}-{n}"
        dying = killed_at(n, real, after)
        monkeypatch.setattr(os, call, dying)
        try:
            build(out, FEW)
        except Killed:
            monkeypatch.setattr(os, call, real)
        else:
            monkeypatch.setattr(os, call, real)
            assert n > 1, f"os.{call} is never called"
            break
        finished = (out / "manifest.json").exists()
        assert (build(out, FEW) is None) == finished
        assert rows(out) == expected
        assert verify(out) == []
        assert build(out, FEW) is None
        assert not (out / ".partial").exists()
    else:
        pytest.fail("it never got through")


def test_a_kill_while_an_old_folder_is_taken_away_is_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path / "expected", FEW)
    real = os.unlink
    for n in range(1, 100):
        out = tmp_path / f"out-{n}"
        build(out, REPORTS[20:30])
        dying = killed_at(n, real, after=False)
        monkeypatch.setattr(os, "unlink", dying)
        try:
            build(out, FEW, fresh=True)
        except Killed:
            monkeypatch.setattr(os, "unlink", real)
            build(out, FEW, fresh=True)
            assert rows(out) == rows(tmp_path / "expected")
            assert verify(out) == []
        else:
            monkeypatch.setattr(os, "unlink", real)
            break
    assert n > 5


PROGRAM = """
import sys, time
from pathlib import Path
from made_reports import REPORTS, Maker
from clinqa.core.outfolder import open_out
import made_reports as made
real = made.Maker.batch
def slow(self, *args):
    time.sleep(0.005)
    return real(self, *args)
made.Maker.batch = slow
print("ready", flush=True)
made.build(Path(sys.argv[1]), batch=1)
"""


def test_kill_9_and_a_second_run_give_the_same_rows(tmp_path: Path) -> None:
    build(tmp_path / "expected")
    out = tmp_path / "out"
    here = Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])}
    for wait in (0.0, 0.08, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(out)],
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    build(out)
    assert rows(out) == rows(tmp_path / "expected")
    assert verify(out) == []
