"""Runs whose answers are codes, side by side: who was asked what, and said what in which repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from clinqa.core.arrays import Bools, Floats, Places
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.codes import NOT_ASKED, AnswerCodes, Codes
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.stats.design import Design

__all__ = ["Coded", "asked_by_all", "common_repeats", "key_of", "said_in"]

_MOST_REPEATS = 60


@dataclass(frozen=True, slots=True)
class Coded:
    """Runs of one kind with codes, and the votes that some of them cast.

    `metric` is the primary metric of the kind, whatever the tests are declared on.
    """

    kind: str
    metric: str
    codes: Codes
    items: SplitItems
    judged: Sequence[JudgedRun]
    votes: Sequence[JudgedRun]
    design: Design

    def right(self, judged: Sequence[JudgedRun], rows: Places) -> Floats:
        """By run and each of these items the share of its repeats in which it was judged right."""
        gold = self.codes.reference(self.items)[rows]
        said = [codes_by(one)[:, rows] for one in judged]
        return np.stack(
            [(one == gold).sum(axis=0) / (one != NOT_ASKED).sum(axis=0) for one in said]
        )


def key_of(run: FinishedRun, codes: Codes) -> str:
    """What a run is known by on any dataset (`JudgedRun.key`), before it is judged."""
    return f"{run.model}|{run.shots}|{','.join(map(str, run.adapters))}|{codes.how(run)}"


def codes_by(judged: JudgedRun) -> AnswerCodes:
    """Its codes, by repeat and item of the split."""
    assert judged.codes is not None
    return judged.codes


def asked_by_all(judged: Sequence[JudgedRun]) -> Bools:
    """Which items all of them were asked."""
    asked = [(codes_by(one) != NOT_ASKED).any(axis=0) for one in judged]
    return np.asarray(np.logical_and.reduce(asked))


def common_repeats(judged: Sequence[JudgedRun]) -> int:
    """In how many repeats each of them has given each of its answers equally often; of odd
    numbers together, as many as the most patient was asked."""
    times = [one.repeats for one in judged]
    together = lcm(*times)
    return together if together <= _MOST_REPEATS else max(times)


def said_in(judged: JudgedRun, repeats: int) -> AnswerCodes:
    """Its answers in so many repeats, its own in turn; where it was not asked an item in one of
    them, what it said when it was first asked."""
    own = codes_by(judged)
    first = own[(own != NOT_ASKED).argmax(axis=0), np.arange(own.shape[1])]
    whole = np.where(own == NOT_ASKED, first, own)
    made: AnswerCodes = whole[np.arange(repeats) % len(own)]
    return made
