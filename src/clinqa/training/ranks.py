"""Several processes started by `accelerate launch`: the first one owns the output folder."""

from __future__ import annotations

import importlib
import os

__all__ = ["is_first", "processes", "wait_for_all"]


def processes() -> int:
    """How many processes train together."""
    return int(os.environ.get("WORLD_SIZE", "1") or 1)


def is_first() -> bool:
    """Is this the process that writes manifest, card and curves?"""
    return int(os.environ.get("RANK", "0") or 0) == 0


def wait_for_all() -> None:
    """Go on when all processes are here; at once where there is one."""
    if processes() > 1:
        importlib.import_module("accelerate").PartialState().wait_for_everyone()
