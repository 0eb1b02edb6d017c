"""The next token of each row, from its logits.

Each row draws from a generator of its own, by inversion of its distribution, so that the same item
with the same seed gets the same text whatever stands beside it in the batch.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from clinqa.models.protocol import Sampling

try:
    import torch
except ImportError:  # the extra `local` is not installed; torch_settings.py says so to who asks
    torch = None

__all__ = ["next_tokens"]


def next_tokens(logits: Any, sampling: Sampling, draws: Sequence[random.Random]) -> list[int]:
    """One token a row of `logits` [rows, vocabulary]; greedy at temperature 0."""
    if sampling.temperature <= 0:
        greedy: list[int] = logits.argmax(dim=-1).tolist()
        return greedy
    scaled = logits.double() / sampling.temperature
    points = torch.tensor([[draw.random()] for draw in draws], dtype=torch.double)
    points = points.to(scaled.device)
    if sampling.top_p >= 1.0:
        mass = scaled.softmax(dim=-1).cumsum(dim=-1)
        return _at(mass, points * mass[:, -1:])
    ranked, order = scaled.sort(dim=-1, descending=True, stable=True)
    chances = ranked.softmax(dim=-1)
    before = chances.cumsum(dim=-1) - chances
    # the smallest set whose chance reaches top_p: a token counts if those before it do not
    chances = chances.masked_fill(before >= sampling.top_p, 0.0)
    mass = chances.cumsum(dim=-1)
    picked = torch.tensor(_at(mass, points * mass[:, -1:]), device=order.device)
    tokens: list[int] = order.gather(1, picked[:, None])[:, 0].tolist()
    return tokens


def _at(mass: Any, points: Any) -> list[int]:
    """Where in each row's cumulated chances its point falls."""
    found = torch.searchsorted(mass, points, right=True)[:, 0]
    last = (mass < mass[:, -1:]).sum(dim=-1)  # rounding may put a point at the very end
    places: list[int] = torch.minimum(found, last).tolist()
    return places
