"""What only several runs together show: agreement, shared errors, frontier, difficulty, scale.

Of kinds whose answers are codes; everything over the items that all runs were asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Floats, Places
from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, known
from clinqa.kinds.facets.judges import JudgedRun
from clinqa.scoring.coded import Coded, asked_by_all, common_repeats, said_in
from clinqa.scoring.stands_on import by_size, model_facts
from clinqa.scoring.tuning import tuning_of
from clinqa.stats.agreement import Agreement, agreement, hierarchy
from clinqa.stats.comparing import compare
from clinqa.stats.measure import Measure, mean
from clinqa.stats.rank import frontier

__all__ = ["bases_of", "panel_of", "panel_tables"]

REFERENCE = "reference"
#: Two models are of one size where neither has more than this share more parameters.
_SAME_SIZE = 1.15
#: A run that was asked several times is right on what it is right on in more than half of them.
_MOSTLY = 0.5
_DIFFERENCE = ("difference", "low", "high", "p")
TUNED_TUNED, TUNED_BASE, TUNED_OTHER, PLAIN = (
    "fine-tuned with fine-tuned",
    "fine-tuned with its base",
    "fine-tuned with another that is not",
    "not fine-tuned",
)


def panel_of(
    coded: Coded, main: Sequence[Figure], tuning: Sequence[Measure] = ()
) -> dict[str, Any]:
    """Everything; `main` are the figures that stand for each run, over all items, `tuning` the
    measures by which a base is told (`facets.measures`)."""
    judged, items = coded.judged, coded.items
    rows = np.flatnonzero(asked_by_all(judged))
    bases = bases_of(judged)
    value: dict[str, dict[str, float | None]] = {}
    for figure in main:
        value.setdefault(figure.metric, {})[figure.run] = figure.value
    runs = [{"run": one.id, **model_facts(one.model)} for one in judged if not _tuned(one)]
    made: dict[str, Any] = {
        "items": len(rows),
        f"{next(iter(items.clusters))}s": len(np.unique(items.cluster[rows])),
        "repeats": max(one.repeats for one in judged),
        "bases": bases,
        "plane": _plane(coded, value, bases),
        "scale": by_size(runs, ("run", "parameters"), coded.metric, value.get(coded.metric, {})),
        "medical_general": list(_medical(coded)),
    }
    if len(rows):
        made |= _agreements(coded, bases, rows)
        made["tuning"] = tuning_of(coded, bases, rows, tuning)
        made["difficulty"] = _difficulty(coded, rows)
    return made


def bases_of(judged: Sequence[JudgedRun]) -> dict[str, str]:
    """Of each fine-tuned run, the run of its base asked in the same way, if it is there."""
    plain = {(one.model, one.shots, one.how): one.id for one in judged if not _tuned(one)}
    return {
        one.id: plain[key]
        for one in judged
        if _tuned(one) and (key := (one.model, one.shots, one.how)) in plain
    }


def _tuned(one: JudgedRun) -> bool:
    """Was it trained by us, as an adapter or as an encoder?"""
    return bool(one.run and one.run.adapters) or one.model.startswith("encoder:")


def _agreements(coded: Coded, bases: Mapping[str, str], rows: Places) -> dict[str, Any]:
    # every repeat stands beside the same repeat of the others; a cluster remains one
    judged = coded.judged
    repeats = common_repeats(judged)
    pairs = np.tile(coded.items.cluster[rows], repeats)
    gold = np.tile(coded.codes.reference(coded.items)[rows], repeats)
    said = [said_in(one, repeats)[:, rows].ravel() for one in judged]
    kappas = agreement(np.stack([*said, gold]), pairs)
    right = np.stack([own == gold for own in said])
    errors = agreement(right.astype(np.int8), pairs)
    names = [*(one.id for one in judged), REFERENCE]
    order = hierarchy(kappas.value)
    relations = [_relation(judged[a], judged[b], bases) for a, b in errors.pairs]
    return {
        "agreement": {
            "judges": [names[at] for at in order],
            **{
                key: _table(getattr(kappas, key)[np.ix_(order, order)])
                for key in ("value", "low", "high")
            },
            "n": len(rows),
            "clusters": kappas.clusters,
            "signature": f"{kappas.signature}|no answer is a class of its own",
        },
        "errors": [
            {
                "a": judged[a].id,
                "b": judged[b].id,
                "relation": relation,
                "kappa": _cell(kappas, a, b),
                "error_kappa": _cell(errors, a, b),
                "either_wrong": round(float((~right[a] | ~right[b]).sum() / repeats), 2),
                "both_wrong": round(float((~right[a] & ~right[b]).sum() / repeats), 2),
            }
            for (a, b), relation in zip(errors.pairs, relations, strict=True)
        ],
        "relations": _relations(kappas, errors, relations),
    }


def _relation(a: JudgedRun, b: JudgedRun, bases: Mapping[str, str]) -> str:
    tuned = _tuned(a) + _tuned(b)
    if tuned == 2:
        return TUNED_TUNED
    if not tuned:
        return PLAIN
    own = bases.get(a.id) == b.id or bases.get(b.id) == a.id
    return TUNED_BASE if own else TUNED_OTHER


def _relations(
    kappas: Agreement, errors: Agreement, relations: Sequence[str]
) -> list[dict[str, Any]]:
    """The mean kappa of each kind of pair; clusters are left out of all pairs at once."""
    made = []
    for name in (TUNED_TUNED, TUNED_BASE, TUNED_OTHER, PLAIN):
        pairs = [pair for pair, one in zip(errors.pairs, relations, strict=True) if one == name]
        if pairs:
            means = {"kappa": kappas.mean(pairs), "error_kappa": errors.mean(pairs)}
            ends = {key: [one.value, one.low, one.high] for key, one in means.items()}
            told = {key: [known(end) for end in own] for key, own in ends.items()}
            made.append({"relation": name, "pairs": len(pairs), **told})
    return made


def _plane(
    coded: Coded, value: Mapping[str, Mapping[str, float | None]], bases: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Where each run stands in each plane of two metrics, and whether no other dominates it."""
    runs, planes = [*coded.judged, *coded.votes], coded.codes.planes
    metrics = list(dict.fromkeys(metric for pair in planes.values() for metric in pair))
    at = {
        metric: np.array([value[metric][one.id] for one in runs], np.float64) for metric in metrics
    }
    front = {name: frontier(np.stack([at[a], at[b]], axis=1)) for name, (a, b) in planes.items()}
    return [
        {
            "run": one.id,
            **{metric: known(at[metric][place]) for metric in metrics},
            **{f"{name}_frontier": bool(on[place]) for name, on in front.items()},
            "base": bases.get(one.id),
        }
        for place, one in enumerate(runs)
    ]


def _difficulty(coded: Coded, rows: Places) -> dict[str, Any]:
    judged, names = coded.judged, coded.codes.names
    share = coded.right(judged, rows)
    right = share > _MOSTLY
    count, gold = right.sum(axis=0), coded.codes.reference(coded.items)[rows]
    strong, weak = strong_and_weak(share)
    upset = _upset(right, strong, weak)
    categories = np.array(coded.items.column("category"), dtype=np.str_)[rows]
    return {
        "models": len(judged),
        "histogram": [
            {
                "right": k,
                "items": int((count == k).sum()),
                **{
                    name: int(((count == k) & (gold == code)).sum()) for code, name in names.items()
                },
            }
            for k in range(len(judged) + 1)
        ],
        "nobody": int((count == 0).sum()),
        "everybody": int((count == len(judged)).sum()),
        "strong": [judged[at].id for at in strong],
        "weak": [judged[at].id for at in weak],
        "strong_fail_weak_succeed": int(upset.sum()),
        "categories": [
            {
                "category": name,
                "items": int((categories == name).sum()),
                "mean_share": float(share[:, categories == name].mean()),
                "nobody": int(((count == 0) & (categories == name)).sum()),
            }
            for name in sorted(set(categories.tolist()))
        ],
    }


def strong_and_weak(right: Bools | Floats) -> tuple[list[int], list[int]]:
    """The better and the worse half of the models by accuracy; the middle one is neither."""
    order = np.argsort(-right.mean(axis=1), kind="stable").tolist()
    half = len(order) // 2
    return order[:half], order[len(order) - half :]


def _upset(right: Bools, strong: Sequence[int], weak: Sequence[int]) -> Bools:
    """All the strong are wrong, and half of the weak or more are right."""
    if not strong:
        return np.zeros(right.shape[1], dtype=np.bool_)
    return np.asarray(~right[strong].any(axis=0) & (2 * right[weak].sum(axis=0) >= len(weak)))


def panel_tables(coded: Coded, panel: Mapping[str, Any]) -> dict[str, str]:
    """The panel as CSV: difficulty of each item, kappa of all pairs, shared errors."""
    shown = coded.codes.shown
    header = ("item_id", *shown, "models_right", "models", "strong_fail_weak_succeed")
    made = {"difficulty.csv": csv_text(header, _hardest_first(coded))}
    if "agreement" in panel:
        found = panel["agreement"]
        bounds = [found[key] for key in ("value", "low", "high")]
        made["kappa.csv"] = csv_text(
            ("a", "b", "kappa", "low", "high"),
            [
                (a, b, *(table[i][j] for table in bounds))
                for (i, a), (j, b) in combinations(enumerate(found["judges"]), 2)
            ],
        )
        made["errors.csv"] = csv_text(
            ("a", "b", "relation", "kappa", "kappa_low", "kappa_high", "error_kappa",
             "error_kappa_low", "error_kappa_high", "either_wrong", "both_wrong"),
            [
                (e["a"], e["b"], e["relation"], *e["kappa"], *e["error_kappa"],
                 e["either_wrong"], e["both_wrong"])
                for e in panel["errors"]
            ],
        )  # fmt: skip
    return made


def _hardest_first(coded: Coded) -> Iterator[tuple[object, ...]]:
    """A row an item: no text, its id and what tells it apart."""
    rows = np.flatnonzero(asked_by_all(coded.judged))
    if not len(rows):
        return
    share = coded.right(coded.judged, rows)
    right = share > _MOSTLY
    count = right.sum(axis=0)
    upset = _upset(right, *strong_and_weak(share))
    names = ("id", *coded.codes.shown)
    told = list(zip(*(coded.items.column(name) for name in names), strict=True))
    for at in np.lexsort((rows, count)).tolist():
        yield *told[rows[at]], int(count[at]), len(coded.judged), bool(upset[at])


def _medical(coded: Coded) -> Iterator[dict[str, Any]]:
    """Biomedical against general models of one size, asked in one way; none fine-tuned by us."""
    models = [(one, model_facts(one.model)) for one in coded.judged if not _tuned(one)]
    for a, medical in models:
        for b, general in models:
            if (medical["group"], general["group"]) != ("biomedical", "general"):
                continue
            sizes = medical["parameters"], general["parameters"]
            if not all(sizes) or max(sizes) > _SAME_SIZE * min(sizes):
                continue
            common = np.flatnonzero(asked_by_all([a, b]))
            if (a.shots, a.how) != (b.shots, b.how) or not len(common):
                continue
            right = coded.right([a, b], common)
            ours, theirs = (np.stack([np.ones(len(common)), own], axis=1) for own in right)
            design = replace(coded.design, clusters=coded.items.cluster[common])
            (found,) = compare([mean()], ours, theirs, design)
            yield {
                "medical": a.id,
                "general": b.id,
                "parameters": list(sizes),
                **{name: known(getattr(found, name)) for name in _DIFFERENCE},
            }


def _cell(found: Agreement, a: int, b: int) -> list[float | None]:
    return [known(float(table[a, b])) for table in (found.value, found.low, found.high)]


def _table(values: Floats) -> list[list[float | None]]:
    return [[known(one) for one in row] for row in values.tolist()]
