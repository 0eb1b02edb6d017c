"""What a validation says: loss, share of exact answers, accuracy; of two classes macro-F1.

An answer is exact if each of its tokens is the likeliest after those before it: that is just when
greedy decoding would write it, so one pass over the items tells what generating would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clinqa.training.examples import TrainExample

__all__ = ["Choice", "Scores", "macro_f1", "of_classes", "scores_of"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How two classes are told apart: the tokens in which their answers first differ, that of the
    second class first, where that is, and what the classes are called."""

    tokens: tuple[int, int]
    place: int
    words: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Scores:
    """Of `items` items. `accuracy` is of the choice where there is one, of the first token of the
    answer where that decides, else of exact answers; `classes` has the figures of two classes."""

    items: int
    loss: float
    exact: float
    accuracy: float
    classes: Mapping[str, float] = field(default_factory=dict)

    def named(self) -> dict[str, float]:
        """By name, without what does not apply."""
        return {
            "loss": self.loss,
            "exact": self.exact,
            "accuracy": self.accuracy,
            **self.classes,
        }

    def of(self, name: str) -> float:
        """The one by which the best state is chosen, higher is better."""
        value = self.named()[name]
        return -value if name == "loss" else value


def scores_of(
    examples: Sequence[TrainExample],
    batches: Sequence[tuple[Sequence[int], Sequence[float], Sequence[bool], Any]],
    choice: Choice | None,
    first_decides: bool = False,
) -> Scores:
    """From the learnt tokens of each batch: number of the item, loss, is it likeliest, chosen."""
    losses: dict[int, list[float]] = {}
    exact: dict[int, bool] = {}
    chosen: dict[int, bool] = {}
    begun: dict[int, bool] = {}
    for numbers, values, right, picks in batches:
        for place, (number, value, hit) in enumerate(zip(numbers, values, right, strict=True)):
            held = losses.setdefault(number, [])
            if choice is not None and len(held) == choice.place:
                chosen[number] = bool(picks[place])
            if not held:
                begun[number] = hit
            held.append(value)
            exact[number] = exact.get(number, True) and hit
    count = len(losses)
    loss = sum(map(sum, losses.values())) / max(sum(map(len, losses.values())), 1)
    exact_share = sum(exact.values()) / max(count, 1)
    if choice is None:
        accuracy = sum(begun.values()) / max(count, 1) if first_decides else exact_share
        return Scores(count, loss, exact_share, accuracy)
    truth = [examples[number].label or 0 for number in sorted(chosen)]
    said = [int(chosen[number]) for number in sorted(chosen)]
    hits = sum(a == b for a, b in zip(truth, said, strict=True)) / max(len(said), 1)
    return Scores(count, loss, exact_share, hits, of_classes(truth, said, choice.words))


def of_classes(
    truth: Sequence[int], said: Sequence[int], words: tuple[str, str]
) -> dict[str, float]:
    """Macro-F1 of two classes, and how often the second was said."""
    share = sum(said) / max(len(said), 1)
    return {"macro_f1": macro_f1(truth, said), f"{words[1].lower()}_share": share}


def macro_f1(truth: Sequence[int], said: Sequence[int]) -> float:
    """The mean of the F1 of two classes, 0 and 1; one that neither has counts as 0.

    >>> macro_f1([1, 0], [1, 1])
    0.3333333333333333
    """
    total = 0.0
    for label in (1, 0):
        both = sum(a == b == label for a, b in zip(truth, said, strict=True))
        either = sum(a == label for a in truth) + sum(b == label for b in said)
        total += 2 * both / either if either else 0.0
    return total / 2
