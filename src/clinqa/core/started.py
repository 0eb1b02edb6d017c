"""`started.json`: whose an unfinished folder is, what it read, and which files it had moved.

It lies in `OUT/.partial` from the first moment to the last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from clinqa.core.durable import write_durably
from clinqa.core.manifest import TOOL

__all__ = ["STARTED", "Started", "read_started"]

STARTED = "started.json"


@dataclass(frozen=True, slots=True)
class Started:
    """`identity` decides the rows; `moved` may lie in their places already; `inputs` are hashes by
    name."""

    identity: Mapping[str, Any] = field(default_factory=dict)
    moved: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    def write(self, partial: Path, *, private: bool) -> None:
        """Write it into the partial folder, whole or not at all."""
        body = json.dumps({"tool": TOOL, **asdict(self)})
        write_durably(partial / STARTED, body.encode("utf-8"), private=private)


def read_started(partial: Path) -> Started | None:
    """What stands in a partial folder; None if it is not ours. FileNotFoundError if it has none."""
    try:
        data = json.loads((partial / STARTED).read_text(encoding="utf-8"))
        inputs = {str(name): str(one) for name, one in dict(data.get("inputs", {})).items()}
        return Started(dict(data["identity"]), [str(name) for name in data["moved"]], inputs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
