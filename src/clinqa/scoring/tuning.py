"""What tuning did to a panel: who gained, by what the base was; and whether the tuned are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np

from clinqa.core.arrays import Floats, Places
from clinqa.core.figures import known
from clinqa.kinds.facets.judges import JudgedRun
from clinqa.scoring.coded import Coded, common_repeats, said_in
from clinqa.stats.comparing import adjusted
from clinqa.stats.gains import FEWEST_MODELS, KappaApart, Related, alike, related
from clinqa.stats.measure import Measure

__all__ = ["tuning_of"]


def tuning_of(
    coded: Coded, bases: Mapping[str, str], rows: Places, measures: Sequence[Measure]
) -> dict[str, Any]:
    """`models`: how many were tuned from a base that is here, `needed` how many a correlation
    needs; `gains`: of each measure of a base the correlation with the gain; `alike`: mean kappa of
    the tuned with each other less that of others. What could not be tested is not there, and has
    no p. `p_holm` is adjusted over all that were."""
    by_id = {one.id: one for one in coded.judged}
    pairs = [(by_id[tuned], by_id[base]) for tuned, base in bases.items()]
    told = [*_gains(coded, pairs, rows, measures), *_alike(coded, pairs, rows)]
    tested = [one for one in told if one["p"] is not None]
    for one, p in zip(
        tested, adjusted([o["p"] for o in tested], ["tuning"] * len(tested)), strict=True
    ):
        one["p_holm"] = p
    return {
        "models": len(pairs),
        "bases": len(set(bases.values())),
        "needed": FEWEST_MODELS,
        "gains": [one for one in told if "gain" in one],
        "alike": [one for one in told if "of" in one],
    }


def _gains(
    coded: Coded,
    pairs: Sequence[tuple[JudgedRun, JudgedRun]],
    rows: Places,
    measures: Sequence[Measure],
) -> Iterator[dict[str, Any]]:
    if not measures:
        return
    skill, *_ = measures
    design = replace(coded.design, clusters=coded.items.cluster[rows])
    tuned, base = ([_wide(pair[end], rows) for pair in pairs] for end in (0, 1))
    for measure in measures:
        found = related(measure, skill, base, tuned, design)
        if found is not None:
            yield {"base": measure.name, "gain": skill.name, **_told(found)}


def _wide(judged: JudgedRun, rows: Places) -> Floats:
    """The rows of these items, all of which it was asked."""
    return judged.wide(judged.statistics[np.searchsorted(judged.items, rows)])


def _alike(
    coded: Coded, pairs: Sequence[tuple[JudgedRun, JudgedRun]], rows: Places
) -> Iterator[dict[str, Any]]:
    """Of answers and of errors: the tuned with each other against each with its base, and against
    the bases with each other. Two that were tuned from one base are alike already: no pair."""
    names = list(dict.fromkeys(one.id for pair in pairs for one in pair))
    at = {name: place for place, name in enumerate(names)}
    own = [(at[tuned.id], at[base.id]) for tuned, base in pairs]
    tuned = [(a[0], b[0]) for a, b in combinations(own, 2) if a[1] != b[1]]
    plain = list(combinations(sorted({base for _, base in own}), 2))
    if not tuned:
        return
    by_id = {one.id: one for pair in pairs for one in pair}
    repeats = common_repeats(list(by_id.values()))
    said = np.stack([said_in(by_id[name], repeats)[:, rows].ravel() for name in names])
    gold = np.tile(coded.codes.reference(coded.items)[rows], repeats)
    right = (said == gold).astype(np.int8)
    design = replace(coded.design, clusters=np.tile(coded.items.cluster[rows], repeats))
    for other, against in (("own base", own), ("bases", plain)):
        for what, codes in (("answers", said), ("errors", right)):
            found = alike(codes, tuned, against, design)
            yield {"of": what, "against": other, **_told(found), "n": len(rows)}


def _told(found: Related | KappaApart) -> dict[str, Any]:
    return {
        name: known(value) if isinstance(value, float) else value
        for name, value in asdict(found).items()
    }
