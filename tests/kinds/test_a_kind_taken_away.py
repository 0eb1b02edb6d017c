"""A kind is one folder: the others do not notice when it goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clinqa

ROOT = Path(__file__).parents[2]
GONE = "true_false"


@pytest.mark.slow
def test_without_a_kind_the_other_kinds_give_what_they_gave(tmp_path: Path) -> None:
    shutil.copytree(
        Path(clinqa.__file__).parent,
        tmp_path / "src" / "clinqa",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copytree(ROOT / "tests" / "golden", tmp_path / "tests" / "golden")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.rmtree(tmp_path / "src" / "clinqa" / "kinds" / GONE)
    goldens = [
        str(path.relative_to(tmp_path))
        for path in sorted((tmp_path / "tests" / "golden").glob("test_*.py"))
        if path.stem != f"test_{GONE}"
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2",
         "--dist", "loadfile", "--import-mode=importlib",
         "-o", f"pythonpath={tmp_path / 'tests'}", "--rootdir", str(tmp_path), *goldens],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src"), "GOLDEN_WITHOUT": GONE},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert not done.returncode, done.stdout[-3000:]
    assert " passed" in done.stdout
