"""Answers to statements as codes, and what stands in an item's row for each of them."""

from __future__ import annotations

import numpy as np

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Bools, Floats, Ints, Strings
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.codes import NO_ANSWER, NOT_ASKED, AnswerCodes, Codes
from clinqa.kinds.facets.judges import JudgedAnswers, SplitItems

__all__ = ["CODES", "CODE_OF", "COLUMNS", "gold_of", "how_of"]

#: Of an item: which cell it falls into (an unanswered one in a cell of its own), what its pair is
#: (on the first statement of a pair that was asked whole), and the status of its answer.
COLUMNS = (
    *("true_right", "true_wrong", "true_silent", "false_right", "false_wrong", "false_silent"),
    *("pairs", "pair_both", "pair_one", "pair_none"),
    *STATUSES,
)
_PLACE = {name: place for place, name in enumerate(COLUMNS)}
CODE_OF = {"true": 1, "false": 0}


def gold_of(items: SplitItems) -> Bools:
    """The label of each statement."""
    return np.asarray(items.table["label"].to_numpy(zero_copy_only=False), dtype=np.bool_)


def how_of(run: FinishedRun) -> str:
    """How answers came about; part of every signature."""
    return "the likelier of True and False" if run.constrained else "read from the text"


def judge_codes(codes: AnswerCodes, statuses: Strings, items: SplitItems) -> JudgedAnswers:
    """A row of counts for each answer; no answer is not right."""
    gold, asked = gold_of(items), codes != NOT_ASKED
    right = (codes >= 0) & ((codes == 1) == gold)
    made = np.zeros((*codes.shape, len(COLUMNS)))
    for truth, name in ((True, "true"), (False, "false")):
        own = asked & (gold == truth)
        made[..., _PLACE[f"{name}_right"]] = own & right
        made[..., _PLACE[f"{name}_wrong"]] = own & ~right & (codes >= 0)
        made[..., _PLACE[f"{name}_silent"]] = own & (codes == NO_ANSWER)
    for status in STATUSES:
        made[..., _PLACE[status]] = statuses == status
    for rows, hits, there in zip(made, right, asked, strict=True):
        _count_pairs(rows, hits, there, items.cluster)
    item, repeat = np.nonzero(asked.T)
    return JudgedAnswers(item, repeat, np.arange(len(COLUMNS)), made[repeat, item])


def _count_pairs(made: Floats, right: Bools, asked: Bools, pair: Ints) -> None:
    """Of each pair that was asked whole: both right, one, or none."""
    order = np.argsort(pair, kind="stable")
    first = np.flatnonzero(np.diff(pair[order], prepend=-1))
    size = np.diff(np.append(first, len(order)))
    whole = np.add.reduceat(asked[order].astype(np.int64), first) == 2
    hits = np.add.reduceat(right[order].astype(np.int64), first)
    chosen = whole & (size == 2)
    heads = order[first]
    made[heads[chosen], _PLACE["pairs"]] = 1
    for number, name in ((2, "pair_both"), (1, "pair_one"), (0, "pair_none")):
        made[heads[chosen & (hits == number)], _PLACE[name]] = 1


CODES = Codes(
    reference=lambda items: gold_of(items).astype(np.int8),
    names={1: "true", 0: "false"},
    layout=COLUMNS,
    judge=judge_codes,
    how=how_of,
    cluster="pair_id",
    shown=("pair_id", "category", "label"),
    noun="statement",
    planes={"roc": ("sensitivity", "specificity"), "pr": ("sensitivity", "precision")},
)
