"""`make` on a bare machine: one line where something is missing, nothing twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def python_that(project: Path, body: str) -> str:
    script = project / "python-stub"
    script.write_text(f'#!/bin/sh\n{body}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return f"PYTHON={script}"


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What stands on stderr, but for make's own last word."""
    return [line for line in done.stderr.splitlines() if not line.startswith("make")]


def test_make_alone_lists_what_there_is(project: Path) -> None:
    done = make(project)
    assert done.returncode == 0
    for target in ("demo", "test", "test-all", "slow", "bench", "lint", "clean"):
        assert f"make {target} " in done.stdout


def test_a_python_without_venv_is_one_line_naming_the_package(project: Path) -> None:
    stub = python_that(project, 'case "$2" in *ensurepip*) exit 1;; esac')
    done = make(project, "demo", stub)
    assert done.returncode != 0
    assert len(complaints(done)) == 1
    assert "apt install python3-venv" in complaints(done)[0]
    assert not (project / ".venv").exists()


def test_a_python_too_old_is_one_line(project: Path) -> None:
    stub = python_that(project, 'case "$2" in *version_info*) exit 1;; esac')
    done = make(project, "test", stub)
    assert done.returncode != 0
    assert len(complaints(done)) == 1
    assert "not Python 3.11 or newer" in complaints(done)[0]


def test_no_python_at_all_is_one_line(project: Path) -> None:
    done = make(project, "test", "PYTHON=")
    assert done.returncode != 0
    assert complaints(done) == [
        "error: no Python found; install Python 3.11 or set PYTHON=/path/to/python"
    ]


def test_a_second_call_installs_nothing(project: Path) -> None:
    (project / ".venv").mkdir()
    for stamp in (".made", ".core", ".test"):
        (project / ".venv" / stamp).touch()
    planned = make(project, "--dry-run", "test").stdout
    assert "pip" not in planned
    assert "pytest" in planned


def test_a_changed_pyproject_installs_again(project: Path) -> None:
    (project / ".venv").mkdir()
    for stamp in (".made", ".core", ".test"):
        (project / ".venv" / stamp).touch()
    later = (project / ".venv" / ".core").stat().st_mtime + 10
    os.utime(project / "pyproject.toml", (later, later))
    assert "pip install" in make(project, "--dry-run", "demo").stdout
