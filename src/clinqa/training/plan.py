"""A dry run of a training: what would be read, trained and written, and one example's mask."""

from __future__ import annotations

import math
from pathlib import Path

from clinqa.training.examples import Encoder, TrainExample
from clinqa.training.job import PreparedLora
from clinqa.training.order import Order
from clinqa.training.tree import Laid, lay_out

__all__ = ["mask_lines", "plan_lines"]

_SHOWN = 320  # characters of a long prompt's beginning and end


def plan_lines(job: PreparedLora, out: Path) -> list[str]:
    """The lines, the mask last. What they show of a record goes to the person who asked."""
    settings = job.settings
    train, validation = job.train, job.validation
    items = len(train.examples)
    tokens = sum(len(example.tokens) for example in train.examples)
    learnt = sum(len(example.answer) for example in train.examples)
    longest = max(len(example.tokens) for example in train.examples)
    steps = math.ceil(items / settings.step_items) * settings.epochs
    if settings.max_steps is not None:
        steps = min(steps, settings.max_steps)
    left = f" ({train.too_long:,} left out, too long)" if train.too_long else ""
    lines = [
        f"would read {train.read:,} items of train{left} and {validation.read:,} of validation "
        f"in {job.dataset.folder}",
        f"{tokens:,} tokens an epoch, {learnt:,} of them learnt; the longest item has {longest:,} "
        f"of {job.shape.window:,}",
        f"about {math.ceil(steps):,} steps of {settings.step_items:,} items",
    ]
    if job.shares:
        share = 1 - _laid_tokens(job) / tokens
        lines.append(f"{share:.0%} of the tokens are shared within batches and computed once")
    lines += [
        "would send nothing anywhere: the model is trained on this machine",
        f"would write an adapter ({job.data_class.value}) to {out}",
        "",
        *mask_lines(job.encoder, train.examples[0]),
    ]
    return lines


def mask_lines(encoder: Encoder, example: TrainExample) -> list[str]:
    """One example as the model gets it; what is learnt stands behind |."""
    read, learnt = encoder.shown(example)
    lines = [f"example {example.item_id}: > is read, | is learnt (weight {example.weight:g})"]
    lines += [f"  > {line}" for line in _middle_out(read).split("\n")]
    lines += [f"  | {line}" for line in learnt.split("\n")]
    lines.append(f"  {example.answer_from:,} tokens read, {len(example.answer):,} learnt")
    return lines


def _middle_out(text: str) -> str:
    if len(text) <= 2 * _SHOWN:
        return text
    return f"{text[:_SHOWN]}\n[… {len(text) - 2 * _SHOWN:,} characters …]\n{text[-_SHOWN:]}"


def _laid_tokens(job: PreparedLora) -> int:
    """Tokens of the first epoch as they are laid out."""
    settings, examples = job.settings, job.train.examples
    order = Order(
        [example.item_id for example in examples],
        [example.context for example in examples],
        seed=job.options.seed,
        batch_size=settings.batch_size,
        accumulation=settings.accumulation,
        together=settings.together,
    )
    total = 0
    for batch in order:
        laid = [Laid(n, examples[n].tokens, examples[n].answer_from) for n in batch]
        rows = lay_out(laid, row_tokens=settings.row_tokens)
        total += len(rows) * len(rows[0].tokens)
    return total
