"""The items of each split, and how they become lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["SplitItems", "jsonl"]

SplitItems = Mapping[str, Sequence[Mapping[str, Any]]]


def jsonl(
    splits: SplitItems, line: Callable[[Mapping[str, Any]], Mapping[str, object]]
) -> dict[str, str]:
    """A file a split, an object a line."""
    return {
        f"{split}.jsonl": "".join(
            json.dumps(line(item), ensure_ascii=False) + "\n" for item in items
        )
        for split, items in splits.items()
    }
