"""What a validation says: loss, share of exact answers, accuracy; for True/False macro-F1.

An answer is exact if each of its tokens is the likeliest after those before it: that is just when
greedy decoding would write it, so one pass over the items tells what generating would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.training.examples import Example

__all__ = ["Choice", "Scores", "macro_f1", "scores_of"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How True is told from False: the tokens in which the two answers first differ, and where."""

    tokens: tuple[int, int]
    place: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Of `items` items. `accuracy` is of the choice where there is one, of multiple choice of the
    letter (the first token of the answer), else of exact answers."""

    items: int
    loss: float
    exact: float
    accuracy: float
    macro_f1: float | None
    true_share: float | None

    def named(self) -> dict[str, float]:
        """By name, without what does not apply."""
        found = {"loss": self.loss, "exact": self.exact, "accuracy": self.accuracy}
        if self.macro_f1 is not None and self.true_share is not None:
            found |= {"macro_f1": self.macro_f1, "true_share": self.true_share}
        return found

    def of(self, name: str) -> float:
        """The one by which the best state is chosen, higher is better."""
        value = self.named()[name]
        return -value if name == "loss" else value


def scores_of(
    examples: Sequence[Example],
    batches: Sequence[tuple[Sequence[int], Sequence[float], Sequence[bool], Any]],
    choice: Choice | None,
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
    tokens = sum(map(len, losses.values()))
    loss = sum(map(sum, losses.values())) / max(tokens, 1)
    exact_share = sum(exact.values()) / max(count, 1)
    if choice is None:
        letters = [begun[number] for number in begun if examples[number].letter_first]
        accuracy = sum(letters) / count if letters else exact_share
        return Scores(count, loss, exact_share, accuracy, None, None)
    truth = [bool(examples[number].label) for number in sorted(chosen)]
    said = [chosen[number] for number in sorted(chosen)]
    hits = sum(a == b for a, b in zip(truth, said, strict=True))
    return Scores(
        count,
        loss,
        exact_share,
        hits / max(len(said), 1),
        macro_f1(truth, said),
        sum(said) / max(len(said), 1),
    )


def macro_f1(truth: Sequence[bool], said: Sequence[bool]) -> float:
    """The mean of the F1 of True and the F1 of False; a class that neither has counts as 0.

    >>> macro_f1([True, False], [True, True])
    0.3333333333333333
    """
    total = 0.0
    for label in (True, False):
        both = sum(a == b == label for a, b in zip(truth, said, strict=True))
        either = sum(a == label for a in truth) + sum(b == label for b in said)
        total += 2 * both / either if either else 0.0
    return total / 2
