"""Keys and values of a batch, and attention over what its rows share.

A batch's rows begin alike (system line, shots, perhaps the report). The keys and values of that
beginning are held once, as one row, and every row's queries look at it and at their own keys in one
softmax: nothing is copied per row, and a step reads it once, not once a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

try:
    import torch
except ImportError:  # the extra `local` is not installed; weights.py says so to who asks
    torch = None

__all__ = ["ATTENTION", "BEGINNING", "Beginning", "Slots", "shared_attention"]

ATTENTION = "clinqa_shared"
"""The name under which `shared_attention` is registered with transformers."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What rows share: its tokens, and per layer keys and values [1, heads, tokens, size]."""

    tokens: list[int]
    layers: list[tuple[Any, Any]]


BEGINNING: ContextVar[Beginning | None] = ContextVar("beginning", default=None)
"""What the forward pass under way stands after; transformers gives attention no way to be told."""


class Slots:
    """Keys and values of each row's own tokens, in buffers made once and filled in place.

    Stands where a model expects its cache. `positions` [rows, slots] says what each slot holds.
    """

    def __init__(self, positions: Any, capacity: int) -> None:
        self.positions = positions
        self.capacity = capacity
        self._layers: dict[int, tuple[Any, Any, int]] = {}

    def update(self, keys: Any, values: Any, layer: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Add a layer's new keys and values; all of that layer's so far come back."""
        if layer not in self._layers:
            shape = (*keys.shape[:2], self.capacity)
            self._layers[layer] = (
                keys.new_empty((*shape, keys.shape[-1])),
                values.new_empty((*shape, values.shape[-1])),
                0,
            )
        all_keys, all_values, used = self._layers[layer]
        end = used + keys.shape[2]
        all_keys[:, :, used:end] = keys
        all_values[:, :, used:end] = values
        self._layers[layer] = (all_keys, all_values, end)
        return all_keys[:, :, :end], all_values[:, :, :end]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Slots used; part of what a model may ask of a cache."""
        return self._layers[layer_idx][2] if layer_idx in self._layers else 0

    def layers(self) -> list[tuple[Any, Any]]:
        """Per layer the keys and values of all used slots."""
        return [
            (keys[:, :, :used], values[:, :, :used])
            for _, (keys, values, used) in sorted(self._layers.items())
        ]

    def rows(self, chosen: Sequence[int], capacity: int) -> Slots:
        """A copy holding the chosen rows (a row may be chosen many times) and more room."""
        picked = torch.tensor(chosen, device=self.positions.device)
        copy = Slots(self.positions.index_select(0, picked), capacity)
        for number, (keys, values) in enumerate(self.layers()):
            copy.update(keys.index_select(0, picked), values.index_select(0, picked), number)
        return copy


def shared_attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    **others: Any,
) -> tuple[Any, None]:
    """Attention over the shared beginning and each row's own keys, as one softmax over both.

    `attention_mask` [rows, 1, queries, beginning + own] is 0 where a query sees, else -inf.
    """
    if others.get("softcap") is not None or others.get("s_aux") is not None:
        raise NotImplementedError("attention with a soft cap or sinks")
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    beginning = BEGINNING.get()
    if beginning is not None and beginning.tokens:
        keys, values = beginning.layers[module.layer_idx]
        if query.shape[2] == 1:
            return _one_query(query, (keys, values), (key, value), attention_mask, scaling), None
        key = torch.cat([keys.expand(len(key), -1, -1, -1), key], dim=2)
        value = torch.cat([values.expand(len(value), -1, -1, -1), value], dim=2)
    fewer = key.shape[1] != query.shape[1]  # heads that share their keys with others
    if fewer and query.device.type != "cpu":  # there a mask and this flag give the slow kernel
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
        fewer = False
    seen = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=attention_mask, scale=scaling, enable_gqa=fewer
    )
    return seen.transpose(1, 2).contiguous(), None


def _one_query(
    query: Any, shared: tuple[Any, Any], own: tuple[Any, Any], mask: Any, scaling: float
) -> Any:
    """One query a row: all rows' queries meet the shared keys in one product."""
    rows, heads, _, size = query.shape
    groups, length = shared[0].shape[1:3]
    grouped = query.reshape(rows, groups, heads // groups, size)
    flat = grouped.transpose(0, 1).reshape(groups, -1, size)  # [groups, rows × heads a group, size]
    to_shared = torch.bmm(flat, shared[0][0].transpose(1, 2))
    to_shared = to_shared.view(groups, rows, -1, length).transpose(0, 1)
    to_own = torch.matmul(grouped, own[0].transpose(2, 3))
    scores = torch.cat([to_shared, to_own], dim=-1).float() * scaling
    weights = (scores + mask).softmax(dim=-1).to(query.dtype)
    flat = weights[..., :length].transpose(0, 1).reshape(groups, -1, length)
    seen = torch.bmm(flat, shared[1][0]).view(groups, rows, heads // groups, -1).transpose(0, 1)
    seen = seen + torch.matmul(weights[..., length:], own[1])
    return seen.reshape(rows, 1, heads, -1)
