"""Workers end with their parent, also when it is killed and tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from clinqa.core.processes import end_with_parent

IDLE = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from clinqa.core.processes import end_with_parent
if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, get_context("spawn"), end_with_parent)
    list(pool.map(time.sleep, [0.1] * 4))
    print(*pool._processes, flush=True)
    time.sleep(60)
"""
BUILD = """
import multiprocessing, sys, time
from pathlib import Path
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.pipeline import build_reports

def progress(stage, done, total=None, *, fraction=None):
    if stage == "reading and labelling":
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        time.sleep(60)

if __name__ == "__main__":
    options = BuildOptions(engine="python", batch_rows=5, workers=2)
    build_reports([Path(sys.argv[1])], Path(sys.argv[2]), options, progress)
"""


def lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()


@pytest.mark.skipif(os.name != "posix", reason="looks for processes as POSIX does")
@pytest.mark.parametrize("script", [IDLE, BUILD], ids=["idle", "build"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, script: str) -> None:
    (tmp_path / "run.py").write_text(script, encoding="utf-8")
    rows = [f's{i},p{i},"MITRAL VALVE: Mild MR."' for i in range(60)]
    (tmp_path / "r.csv").write_text("\n".join(["study_id,subject_id,text", *rows]))
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py"), str(tmp_path / "r.csv"), str(tmp_path / "d")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    workers = [int(pid) for pid in parent.stdout.readline().split()]
    assert workers and all(map(lives, workers))
    parent.kill()
    parent.wait()
    until = time.monotonic() + 20
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [pid for pid in workers if lives(pid)]
    for pid in left:
        os.kill(pid, 9)  # ours, by their numbers
    assert not left
    parent.stdout.close()


def test_what_is_no_worker_is_left_alone() -> None:
    before = threading.active_count()
    end_with_parent()
    assert threading.active_count() == before
