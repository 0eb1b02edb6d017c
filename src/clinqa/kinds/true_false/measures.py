"""Figures of a run on statements, each with an interval over pairs and one over documents.

An unanswered statement counts as wrong: True that is not answered is a false negative, False that
is not answered a false positive. Beside it stands the other convention, over answered items only,
under a signature of its own.

Two statements that differ in one edit are a pair, and pairs are what intervals are over. A model
that says True to everything has one of each pair right, so that its accuracy is 0.5 on any pairs:
its interval holds only what as many pairs could hide, and is narrow for that reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import (
    EVERY,
    FigureTables,
    Measured,
    Measures,
    TestedTogether,
    Wording,
)
from clinqa.kinds.true_false.codes import gold_of
from clinqa.kinds.true_false.judges import PAIR, SOURCE
from clinqa.kinds.true_false.two_way import BY_PAIR, BY_SOURCE, PRIMARY, WRONG, measures_of
from clinqa.stats.two_way import contradictions

__all__ = ["ALWAYS_ONE", "MEASURES"]

_BY_CATEGORY = frozenset({"accuracy", "sensitivity", "specificity", "macro_f1", "pair_both"})
_EXPLORED = ("macro_f1", "youden_j", "mcc", "pair_both")
#: Figures of one computation differ by rounding only.
_WITHIN = 1e-9
_CHECKED = ("accuracy", "macro_f1", "kappa", "youden_j", "mcc", "sensitivity", "specificity")
ALWAYS_ONE = (
    "The two statements of a pair have opposite labels. A model that always gives one answer has "
    "exactly one of each pair right, so that its accuracy is 0.5 on any pairs: its interval holds "
    "only what so many pairs could hide, and is narrow for that reason, as are those of models "
    "near it."
)


def _figures(judged: JudgedRun, items: SplitItems) -> Iterator[Measured]:
    """All figures over all items, by pair and by source; accuracy and pairs by category."""
    for by, unit in ((PAIR, BY_PAIR), (SOURCE, BY_SOURCE)):
        yield Measured([(one, EVERY) for one in measures_of(unit, judged.how).values()], by=by)
    few = [
        one
        for (name, convention), one in measures_of(BY_PAIR, judged.how).items()
        if convention == WRONG and name in _BY_CATEGORY
    ]
    categories = np.array(items.column("category"), dtype=np.str_)[judged.items]
    for category in sorted(set(categories.tolist())):
        subset = {"category": category}
        yield Measured([(one, subset) for one in few], categories == category)


_TESTED = {name: one for (name, how), one in measures_of(BY_PAIR, "").items() if how == WRONG}


def _tests(_: Any, __: Any, a: JudgedRun, b: JudgedRun, primary: str) -> list[TestedTogether]:
    names = [primary, *(name for name in _EXPLORED if name != primary)]
    once = a.repeats == b.repeats == 1
    twofold = (PRIMARY,) if once else ()
    return [TestedTogether([_TESTED[name] for name in names], both=False, twofold=twofold)]


def _is_main(figure: Figure) -> bool:
    return f"|{WRONG}|{BY_PAIR}|" in figure.signature


def _about_items(items: SplitItems, _: Any, manifest: Manifest) -> dict[str, Any]:
    return {
        "pairs": items.many(PAIR),
        "sources": items.many(SOURCE),
        "true_share": float(gold_of(items).mean()),
        "unit": "statement; two statements that differ in one edit are a pair",
        "topics": dict(manifest.details.get("topics") or {}),
    }


def _warns_of_items(items: SplitItems) -> Iterator[str]:
    share = float(gold_of(items).mean())
    if items.many(PAIR) < len(items) and abs(share - 0.5) > 1e-9:
        yield (
            f"{share:.1%} of the statements are True: the set is not made of whole pairs, and what "
            "holds on balanced sets holds only roughly"
        )
    if items.many(SOURCE) == 1:
        yield "all statements are of one document: no interval over documents exists"


def _warns_of_all(judged: Sequence[JudgedRun], *_: Any) -> Iterator[str]:
    if len({one.how for one in judged if one.run}) > 1:
        yield (
            "some runs were read from what they wrote and some weighed True against False: their "
            "figures have different signatures and do not share a ranking"
        )


def contradicted(figures: Sequence[Figure], judged: Sequence[JudgedRun]) -> Iterator[str]:
    """Where our own figures contradict each other: each computed apart, together they must fit."""
    main = [one for one in figures if not one.subset and _is_main(one)]
    for run in judged:
        own = {one.metric: one for one in main if one.run == run.id}
        values: Mapping[str, float] = {
            name: own[name].value  # type: ignore[misc]
            for name in _CHECKED
            if name in own and own[name].value is not None
        }
        true, false = (own[name].n if name in own else 0 for name in _CHECKED[-2:])
        if values and true + false:
            for said in contradictions(values, true / (true + false), within=_WITHIN):
                yield f"{run.name}: figures contradict each other: {said}"


MEASURES = Measures(
    primary=PRIMARY,
    primaries=tuple(_TESTED),
    figures=_figures,
    tests=_tests,
    wording=Wording(
        drawn="pairs",
        unit="pair; beside it source document",
        test="McNemar's exact test where each item is a pair of its own, else sign-flip of the "
        "summed difference of each pair ({flips} random flips, or all)",
        flipped="sign-flip of pairs",
        label="{metric:<12} {run:<36}",
        interval={"always_one_answer": ALWAYS_ONE},
    ),
    tables=FigureTables(keys=("category",), files={"by_category.csv": "category"}),
    lines=("macro_f1", "youden_j", "pair_both"),
    main=_is_main,
    against=lambda items: (
        f"{len(items):,} statements of {items.many(PAIR):,} pairs from {items.many(SOURCE):,} "
        "documents or questions"
    ),
    about_items=_about_items,
    about_run=lambda judged: {"key": judged[0].key, "how": judged[0].how},
    warns_of_items=_warns_of_items,
    warns_of_all=_warns_of_all,
    contradicts=contradicted,
    tuning=(_TESTED["accuracy"], _TESTED["directional_bias"]),
)
