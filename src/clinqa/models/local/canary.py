"""Canaries: made-up prompts whose log-probabilities prove that an adapter is applied.

They are taken when an adapter was trained, read back from its folder, and again when it is used:
what comes back must be what was saved, as closely as the number format lets it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.models.local.render import Renderer
from clinqa.models.protocol import Message

__all__ = ["Canary", "apart", "canary_scores", "check_canaries", "saved_canaries"]

_EXACT = {"float32": 2e-3, "bfloat16": 0.15, "float16": 0.03}
"""How far a token's log-probability may be off on average, in the same format on the same kind of
device: rounding differs with threads and kernels."""
_NEARER = 0.5
"""Elsewhere: at most this share of the way from the saved value to the base model's."""
_FORMATS = 2.0
"""Or so many times what both formats round: where little was learnt, rounding is more than that.
Whether the adapter is in place, and its file the one that was saved, is checked apart from this."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A prompt and a continuation of it, neither from anybody's records."""

    messages: tuple[Message, ...]
    continuation: str


def canary_scores(model: Any, renderer: Renderer, canaries: Sequence[Canary]) -> list[list[float]]:
    """The log-probability of each token of each continuation, by a plain forward pass."""
    torch = importlib.import_module("torch")
    found = []
    for canary in canaries:
        tokens, count = renderer.encode_pair(canary.messages, canary.continuation)
        row = torch.tensor([tokens], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=row, use_cache=False).logits[0, -count - 1 : -1].float()
        wanted = row[0, -count:, None]
        found.append([float(x) for x in logits.log_softmax(dim=-1).gather(1, wanted)[:, 0]])
    return found


def apart(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """How far log-probabilities are from each other on average."""
    gaps = [abs(a - b) for pair in zip(one, other, strict=True) for a, b in zip(*pair, strict=True)]
    return sum(gaps) / len(gaps)


def saved_canaries(
    canaries: Sequence[Canary],
    base: Sequence[Sequence[float]],
    adapted: Sequence[Sequence[float]],
    facts: Mapping[str, str],
) -> dict[str, Any]:
    """As they stand in `canaries.json`."""
    return {
        "dtype": facts["dtype"],
        "device": facts["device"].partition(":")[0],
        "canaries": [
            {
                "messages": [[turn.role, turn.text] for turn in canary.messages],
                "continuation": canary.continuation,
                "base": list(before),
                "adapted": list(after),
            }
            for canary, before, after in zip(canaries, base, adapted, strict=True)
        ],
    }


def check_canaries(
    name: str, model: Any, renderer: Renderer, saved: Mapping[str, Any], facts: Mapping[str, str]
) -> float:
    """ModelError unless the saved log-probabilities come back; how far they are off on average."""
    try:
        entries = list(saved["canaries"])
        canaries = [
            Canary(
                tuple(Message(str(role), str(text)) for role, text in one["messages"]),
                str(one["continuation"]),
            )
            for one in entries
        ]
        base = [float(x) for one in entries for x in one["base"]]
        adapted = [float(x) for one in entries for x in one["adapted"]]
        same_numbers = (
            saved["dtype"] == facts["dtype"]
            and saved["device"] == facts["device"].partition(":")[0]
        )
        if saved["dtype"] not in _EXACT:
            raise ValueError("no number format")
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{name}: the saved canaries cannot be read; train it again") from error
    now = [x for scores in canary_scores(model, renderer, canaries) for x in scores]
    if len(now) != len(adapted) or not now:
        raise ModelError(f"{name}: the canaries have other tokens here; another tokenizer?")
    off, moved = apart([now], [adapted]), apart([base], [adapted])
    allowed = _NEARER * moved
    if same_numbers:
        allowed = min(allowed, _EXACT[facts["dtype"]])
    else:
        allowed = max(allowed, _FORMATS * (_EXACT[saved["dtype"]] + _EXACT[facts["dtype"]]))
    if not off <= allowed:
        raise ModelError(
            f"{name}: the adapter does not answer as it did when it was trained: log-probabilities "
            f"of its canaries are off by {off:.3g} on average, where {allowed:.3g} is rounding; "
            "was a file of it changed, or the model it belongs to?"
        )
    return off
