"""JSON that everybody reads alike: no key twice, and no number that is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["strict_json"]


def strict_json(text: str) -> Any:
    """The value of a JSON text; ValueError where it is none, says NaN or Infinity, or says a key
    twice: people would read the one, programs the other.

    >>> strict_json('{"a": 1}')
    {'a': 1}
    """
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_each_once)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
