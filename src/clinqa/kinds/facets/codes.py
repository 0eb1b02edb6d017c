"""The facet `codes`: answers that are one of a few, so that runs agree, vote, and rank alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from clinqa.core.arrays import Int8s, Strings
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import JudgedAnswers, JudgedRun, SplitItems, averaged

__all__ = ["NOT_ASKED", "NO_ANSWER", "AnswerCodes", "Codes"]

AnswerCodes = Int8s
NO_ANSWER, NOT_ASKED = -1, -2
"""The codes of an answer that is none, and of an item that was not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """The answers of a kind as numbers from 0 on.

    `reference` gives the code of each item's right answer; `names` is how references of a code
    are called; `judge` judges codes and statuses (each of repeats by items) as if a run had given
    them; `how` is how a run's answers came about. `cluster` is the column of items.parquet that
    names an item's cluster, `shown` are columns that tell items apart in tables. `planes` are pairs
    of metrics with a frontier, by name.
    """

    reference: Callable[[SplitItems], AnswerCodes]
    names: Mapping[int, str]
    layout: Sequence[str]
    judge: Callable[[AnswerCodes, Strings, SplitItems], JudgedAnswers]
    how: Callable[[FinishedRun], str]
    cluster: str
    shown: Sequence[str]
    noun: str = "item"
    planes: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def judged(
        self,
        codes: AnswerCodes,
        statuses: Strings,
        items: SplitItems,
        *,
        id: str,
        name: str,
        how: str,
        run: FinishedRun | None = None,
        unknown: int = 0,
        members: tuple[str, ...] = (),
    ) -> JudgedRun:
        """A run, or a vote of runs, of these answers."""
        answers = self.judge(codes, statuses, items)
        asked, statistics = averaged(answers)
        words, counts = np.unique(statuses[statuses != ""], return_counts=True)
        return JudgedRun(
            id=id,
            name=name,
            model=run.model if run else id,
            shots=run.shots if run else 0,
            items=asked,
            layout=self.layout,
            columns=answers.columns,
            statistics=statistics,
            statuses=dict(zip(words.tolist(), counts.tolist(), strict=True)),
            repeats=len(codes),
            unknown=unknown,
            run=run,
            how=how,
            codes=codes,
            members=members,
        )
