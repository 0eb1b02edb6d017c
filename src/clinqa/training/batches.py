"""A laid-out batch as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinqa.training.examples import TrainExample
from clinqa.training.tree import Laid, TreeRow, lay_out

try:
    import torch
except ImportError:  # the extra `train` is not installed; lora.py says so to who asks
    torch = None

__all__ = ["Collator", "to_tensors"]

IGNORED = -100
_STEP = 32
"""Widths are multiples of it: kernels are prepared for each width anew, and kept."""


class Collator:
    """Numbers of examples to one batch: the trainer's `data_collator`.

    `labels` holds, in the column where it is predicted, the token to learn; so it is shifted
    already. `weights` has one entry for each learnt token, in the order in which `labels != -100`
    walks through them, and `numbers` the example it belongs to.
    """

    def __init__(
        self, examples: Sequence[TrainExample], *, pad: int, row_tokens: int, share: bool
    ) -> None:
        self._examples, self._pad = examples, pad
        self._row_tokens, self._share = row_tokens, share

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        numbers = [int(row["number"]) for row in rows]
        items = [
            Laid(number, self._examples[number].tokens, self._examples[number].answer_from)
            for number in numbers
        ]
        laid = lay_out(items, row_tokens=self._row_tokens, share=self._share)
        weights = {number: self._examples[number].weight for number in numbers}
        batch = to_tensors(laid, self._pad, weights)
        batch["useful"] = sum(len(item.tokens) for item in items)
        return batch


def to_tensors(rows: Sequence[TreeRow], pad: int, weights: dict[int, float]) -> dict[str, Any]:
    """Rows padded on the right to the longest, with the mask of who sees whom."""
    longest = max(len(row.tokens) for row in rows)
    width = -(-longest // _STEP) * _STEP
    shape = (len(rows), width)
    branching = any(len(row.parents) > 1 for row in rows)
    tokens = torch.full(shape, pad, dtype=torch.long)
    positions = torch.zeros(shape, dtype=torch.long)
    labels = torch.full(shape, IGNORED, dtype=torch.long)
    # rows that are plain sequences need no mask of their own: attention is causal by itself
    sees = torch.zeros((len(rows), 1, width, width) if branching else shape, dtype=torch.bool)
    order: list[tuple[int, int, int]] = []
    for place, row in enumerate(rows):
        length = len(row.tokens)
        tokens[place, :length] = torch.tensor(row.tokens)
        positions[place, :length] = torch.tensor(row.positions)
        if branching:
            sees[place, 0, :length, :length] = _mask(row)
            # padding sees itself, so that its attention is a number; nothing sees padding
            sees[place, 0].diagonal()[length:] = True
        else:
            sees[place, :length] = True
        for target in row.targets:
            labels[place, target.column] = target.token
            order.append((place, target.column, target.number))
    order.sort()
    return {
        "input_ids": tokens,
        "position_ids": positions,
        "attention_mask": sees,
        "labels": labels,
        "weights": torch.tensor([weights[number] for *_, number in order], dtype=torch.float32),
        "numbers": torch.tensor([number for *_, number in order], dtype=torch.long),
    }


def _mask(row: TreeRow) -> Any:
    """Who sees whom: what stands before, in one's own segment and in those above it."""
    above = torch.zeros((len(row.parents), len(row.parents)), dtype=torch.bool)
    for segment, seen in enumerate(row.above()):
        above[segment, seen] = True
    of = torch.tensor(row.segments)
    return above[of][:, of].tril()
