"""What the tests of all kinds share: names of steps, what they gave now, and the differences."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from golden.compared import told
from golden.work import kept_of, read_kept

__all__ = ["AGAIN", "WITHOUT", "before", "check", "made_now"]

HERE = Path(__file__).resolve().parent
WITHOUT = frozenset(os.environ.get("GOLDEN_WITHOUT", "").split(","))
"""Kinds that are not there (GOLDEN_WITHOUT=true_false): calls that need them are passed over."""
AGAIN = "if it was meant to change: python scripts/golden.py keep tests/golden --kind "


def before(kind: str) -> dict[str, Any]:
    """What was kept."""
    return read_kept(HERE / f"{kind}.json.gz")


def made_now(kind: str, folder: Path) -> dict[str, Any]:
    """The same steps, done again."""
    return kept_of(importlib.import_module(f"golden.steps_{kind}").STAGES, folder / "work")


def check(kind: str, step: str, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Fail with the first differences of a step."""
    if lacking := WITHOUT & set(kept[step].get("needs", ())):
        pytest.skip(f"needs {', '.join(sorted(lacking))}")
    found = told(kept[step], now.get(step, "(the step was not done)"), step)
    if found:
        broken = [one["broke"] for one in now.values() if isinstance(one, dict) and "broke" in one]
        raise AssertionError("\n".join([f"{kind}: the product gives something else", found,
                                        *broken[:1], f"({AGAIN}{kind})"]))  # fmt: skip
