"""The loss of learnt tokens only, each with the weight of its item.

The head is by far the widest layer of a small model, and nine of ten positions are prompt: a hook
lets it see the learnt positions alone. It sits before the head, so it works the same under LoRA,
quantization and FSDP.

The loss of a step is the sum over its learnt tokens of weight x negative log-likelihood, divided by
the number of learnt tokens of the whole step. The divisor knows no weights: an item of weight w
has w times the gradient it would have had, however the step is cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    import torch
except ImportError:  # the extra `train` is not installed; lora.py says so to who asks
    torch = None

__all__ = ["learnt_logits", "token_losses"]

IGNORED = -100


def learnt_logits(model: Any, head: Any, batch: dict[str, Any]) -> tuple[Any, Any]:
    """Logits [learnt, vocabulary] in float32, and the token to learn at each."""
    learnt = batch["labels"] != IGNORED
    with _only(head, learnt):
        found = model(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            position_ids=batch["position_ids"],
            use_cache=False,
        )
    return found.logits.float(), batch["labels"][learnt]


def token_losses(logits: Any, targets: Any) -> Any:
    """The negative log-likelihood of each learnt token."""
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")


@contextmanager
def _only(head: Any, learnt: Any) -> Iterator[None]:
    """Within, the head gets hidden states of the learnt positions: [batch, length] to [learnt]."""

    def choose(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (given[0][learnt], *given[1:])

    hook = head.register_forward_pre_hook(choose)
    try:
        yield
    finally:
        hook.remove()
