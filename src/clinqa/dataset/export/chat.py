"""`--to chat`: one conversation an item, as chat fine-tuning takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinqa.dataset.export.items import ExportItem, asked, lines

__all__ = ["chat"]


def chat(splits: Mapping[str, Sequence[ExportItem]], name: str) -> dict[str, str]:
    """`train.jsonl` and so on: {"messages": [user, assistant], "id", "pair_id"}."""
    return {
        f"{split}.jsonl": lines(
            {
                "messages": [
                    {"role": "user", "content": asked(item)},
                    {"role": "assistant", "content": str(item.label)},
                ],
                "id": item.id,
                "pair_id": item.pair_id,
            }
            for item in items
        )
        for split, items in splits.items()
    }
