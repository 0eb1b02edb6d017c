"""The same build gives the same bytes, whatever the process it runs in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clinqa.core.manifest import Manifest
from clinqa.simulate.echo import simulate

BUILD = """
import sys
from pathlib import Path
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.pipeline import build_reports

if __name__ == "__main__":
    reports, out, engine, workers = sys.argv[1:]
    options = BuildOptions(
        engine=engine, workers=int(workers), questions="full", context="section", batch_rows=40
    )
    build_reports([Path(reports)], Path(out), options)
"""


def test_the_same_build_gives_the_same_bytes(tmp_path: Path) -> None:
    simulate(150, 4, tmp_path / "r.csv")
    script = tmp_path / "build.py"
    script.write_text(BUILD, encoding="utf-8")
    written = []
    for number, (seed, workers) in enumerate([("1", "1"), ("2", "1"), ("3", "2")]):
        out = tmp_path / f"d{number}"
        subprocess.run(
            [sys.executable, str(script), str(tmp_path / "r.csv"), str(out), "python", workers],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            timeout=120,
        )
        outputs = Manifest.read(out / "manifest.json").outputs
        # croissant.json holds the date of publication
        written.append({r.name: r.sha256 for r in outputs if r.name != "croissant.json"})
    assert written[0] == written[1] == written[2]


@pytest.mark.slow
def test_engines_give_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    simulate(150, 5, tmp_path / "r.csv")
    script = tmp_path / "build.py"
    script.write_text(BUILD, encoding="utf-8")
    written = []
    for engine in ("python", "compiled"):
        command = [sys.executable, str(script), str(tmp_path / "r.csv"), str(tmp_path / engine)]
        subprocess.run([*command, engine, "1"], check=True, timeout=300)
        outputs = Manifest.read(tmp_path / engine / "manifest.json").outputs
        written.append({r.name: r.sha256 for r in outputs if r.name.endswith(".parquet")})
    assert written[0] == written[1]
