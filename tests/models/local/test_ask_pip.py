"""`make demo-model` asks pip first; CUDA packages never come unasked."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "ask_pip.py"


@pytest.fixture
def ask_pip() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ask_pip", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("wanted", "flags", "code"),
    [
        (["torch 2.13.0+cpu", "sympy 1.14.0"], [], 0),
        ([], [], 0),
        (["torch 2.14.0", "nvidia-cublas 13.1.1.3"], [], 2),
        (["torch 2.14.0", "triton 3.8.0"], [], 2),
        (["torch 2.14.0", "triton 3.8.0"], ["--cuda"], 0),
    ],
)
def test_cuda_packages_stop_the_install_unless_asked_for(
    ask_pip: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wanted: list[str],
    flags: list[str],
    code: int,
) -> None:
    monkeypatch.setattr(ask_pip, "would_install", lambda requirements: wanted)
    monkeypatch.setattr(sys, "argv", ["ask_pip.py", *flags, ".[local]"])
    assert ask_pip.main() == code
    said = capsys.readouterr()
    assert ("pip install torch" in said.err) == (code == 2)
    assert all(one in said.out + said.err for one in wanted)
