"""The bank that comes with clinqa: about 120 questions in our own words, for demo and tests."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

__all__ = ["BUNDLED", "bundled"]

#: What the command line calls it.
BUNDLED = "bundled"


def bundled(path: Path) -> Path:
    """The file of the bundled bank if that is what is named, else the same path."""
    if str(path) != BUNDLED or path.exists():
        return path
    return Path(str(resources.files("clinqa.packs"))) / "specialty" / "bank.jsonl"
