"""`--to chat`: one conversation an item, as chat fine-tuning takes it."""

from __future__ import annotations

from clinqa.dataset.export.splits import SplitItems, jsonl
from clinqa.kinds.facets.exports import Exports

__all__ = ["chat"]


def chat(splits: SplitItems, facet: Exports, name: str) -> dict[str, str]:
    """`train.jsonl` and so on: {"messages": [user, assistant], "id", and what the kind tells}."""
    return jsonl(
        splits,
        lambda item: {
            "messages": [
                {"role": "user", "content": facet.asked(item)},
                {"role": "assistant", "content": facet.answer(item)},
            ],
            "id": item["id"],
            **{column: item[column] for column in facet.told},
        },
    )
