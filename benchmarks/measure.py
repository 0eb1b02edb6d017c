"""Runs one contender in a fresh process and says what it took."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Run:
    """What one run took. What the process says was given to it beforehand is taken off."""

    wall: float
    cpu: float
    peak_mb: float
    said: dict[str, Any] = field(default_factory=dict)


def run(script: str, *arguments: object) -> Run:
    """Run a script of this folder; its last line is one JSON object."""
    return run_command([sys.executable, str(HERE / script), *map(str, arguments)])


def run_command(command: list[str]) -> Run:
    """Run a command and measure it: wall from start to exit, CPU and peak memory by the kernel."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=complaints, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
        complaints.seek(0)
        errors = complaints.read().decode(errors="replace")
    if process.returncode:
        what = " ".join(Path(part).name for part in command[1:4])
        raise SystemExit(f"error: {what} ended with {process.returncode}\n{text}{errors}")
    last = text.strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else {}
    cpu = usage.ru_utime + usage.ru_stime
    # ru_maxrss counts kilobytes on Linux and bytes on macOS
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Run(
        wall - said.get("given_wall", 0.0),
        cpu - said.get("given_cpu", 0.0),
        usage.ru_maxrss / unit,
        said,
    )


def median_of(runs: list[Run]) -> Run:
    """Wall, CPU and peak, each the median of the runs; what the last run said."""

    def middle(name: str) -> float:
        return statistics.median(getattr(each, name) for each in runs)

    return Run(middle("wall"), middle("cpu"), middle("peak_mb"), runs[-1].said)


class Given:
    """Times what a contender is given before it begins: `with Given() as given: ...`."""

    def __enter__(self) -> Given:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.said = {
            "given_wall": time.perf_counter() - self._wall,
            "given_cpu": time.process_time() - self._cpu,
        }


def say(**facts: Any) -> None:
    """The last line of a contender."""
    print(json.dumps(facts))
