"""What only several runs together show: agreement, shared errors, frontier, difficulty, scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from clinqa.scoring.binary.figures import WRONG, cells
from clinqa.scoring.binary.judged import Judged, common_repeats
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.groups import model_facts
from clinqa.stats.agreement import Agreement, agreement, hierarchy
from clinqa.stats.binary import precision, sensitivity, specificity
from clinqa.stats.paired import compare
from clinqa.stats.pareto import frontier

__all__ = ["bases_of", "difficulty_rows", "panel_of"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
REFERENCE = "reference"
#: Two models are of one size where neither has more than this share more parameters.
_SAME_SIZE = 1.15
#: A run that was asked several times is right on what it is right on in more than half of them.
_MOSTLY = 0.5
TUNED_TUNED, TUNED_BASE, TUNED_OTHER, PLAIN = (
    "fine-tuned with fine-tuned",
    "fine-tuned with its base",
    "fine-tuned with another that is not",
    "not fine-tuned",
)


def panel_of(
    judged: Sequence[Judged],
    votes: Sequence[Judged],
    statements: Statements,
    *,
    seed: int,
    draws: int,
) -> dict[str, Any]:
    """Everything, over the statements that all runs were asked."""
    common = np.logical_and.reduce([one.asked for one in judged])
    rows = np.flatnonzero(common)
    bases = bases_of(judged)
    made: dict[str, Any] = {
        "items": len(rows),
        "pairs": len(np.unique(statements.pair[rows])),
        "repeats": max(one.repeats for one in judged),
        "bases": bases,
        "plane": _plane([*judged, *votes], bases),
        "scale": _scale(judged),
        "medical_general": _medical(judged, statements, seed, draws),
    }
    if len(rows):
        made |= _agreements(judged, bases, statements, rows, seed, draws)
        made["difficulty"] = _difficulty(judged, statements, rows)
    return made


def bases_of(judged: Sequence[Judged]) -> dict[str, str]:
    """Of each fine-tuned run, the run of its base asked in the same way, if it is there."""
    plain = {(one.model, one.shots, one.how): one.id for one in judged if not _tuned(one)}
    return {
        one.id: plain[key]
        for one in judged
        if _tuned(one) and (key := (one.model, one.shots, one.how)) in plain
    }


def _tuned(one: Judged) -> bool:
    """Was it trained by us, as an adapter or as an encoder?"""
    adapters = one.run.configuration.get("adapters") if one.run is not None else None
    return bool(adapters) or one.model.startswith("encoder:")


def _agreements(
    judged: Sequence[Judged],
    bases: Mapping[str, str],
    statements: Statements,
    rows: npt.NDArray[np.int64],
    seed: int,
    draws: int,
) -> dict[str, Any]:
    # every repeat stands beside the same repeat of the others; a pair remains one cluster
    repeats = common_repeats(judged)
    pairs = np.tile(statements.pair[rows], repeats)
    gold = np.tile(statements.gold[rows], repeats).astype(np.int8)
    said = [one.said(repeats)[:, rows].ravel() for one in judged]
    kappas = agreement(np.stack([*said, gold]), pairs, seed=seed, draws=draws)
    right = np.stack([own == gold for own in said])
    errors = agreement(right.astype(np.int8), pairs, seed=seed, draws=draws)
    names = [*(one.id for one in judged), REFERENCE]
    order = hierarchy(kappas.value)
    made: dict[str, Any] = {
        "agreement": {
            "judges": [names[at] for at in order],
            **{
                key: _table(getattr(kappas, key)[np.ix_(order, order)])
                for key in ("value", "low", "high")
            },
            "n": len(rows),
            "clusters": kappas.clusters,
            "signature": f"{kappas.signature}|no answer is a class of its own",
        }
    }
    relations = [
        _relation(judged[a], judged[b], bases) for a, b in combinations(range(len(judged)), 2)
    ]
    made["errors"] = [
        {
            "a": judged[a].id,
            "b": judged[b].id,
            "relation": relation,
            "kappa": _cell(kappas, a, b),
            "error_kappa": _cell(errors, a, b),
            "either_wrong": round(float((~right[a] | ~right[b]).sum() / repeats), 2),
            "both_wrong": round(float((~right[a] & ~right[b]).sum() / repeats), 2),
        }
        for (a, b), relation in zip(combinations(range(len(judged)), 2), relations, strict=True)
    ]
    made["relations"] = _relations(kappas, errors, relations)
    return made


def _relation(a: Judged, b: Judged, bases: Mapping[str, str]) -> str:
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
    """The mean kappa of each kind of pair; resamples of all pairs belong together."""
    places = {pair: at for at, pair in enumerate(kappas.pairs)}
    own = np.array([places[pair] for pair in errors.pairs], dtype=np.intp)
    made = []
    for name in (TUNED_TUNED, TUNED_BASE, TUNED_OTHER, PLAIN):
        chosen = np.array([at for at, one in enumerate(relations) if one == name], dtype=np.intp)
        if not len(chosen):
            continue
        pairs = [errors.pairs[at] for at in chosen.tolist()]
        entry: dict[str, Any] = {"relation": name, "pairs": len(pairs)}
        for key, found, columns in (
            ("kappa", kappas, own[chosen]),
            ("error_kappa", errors, chosen),
        ):
            # pairs for which kappa does not exist are left out of its mean
            values = np.array([found.value[a, b] for a, b in pairs])
            known = np.flatnonzero(np.isfinite(values))
            value = float(values[known].mean()) if len(known) else float("nan")
            some = len(found.samples) and len(known)
            means = found.samples[:, columns[known]].mean(axis=1) if some else np.zeros(0)
            means = means[np.isfinite(means)]
            bounds = np.quantile(means, [0.025, 0.975]) if len(means) >= 100 else [np.nan] * 2
            entry[key] = [_number(value), *(_number(float(one)) for one in bounds)]
        made.append(entry)
    return made


def _plane(judged: Sequence[Judged], bases: Mapping[str, str]) -> list[dict[str, Any]]:
    """Where each run stands: sensitivity against specificity, precision against recall."""
    found = [cells(one.rows.sum(axis=0), WRONG) for one in judged]
    recall = np.array([float(sensitivity(one)) for one in found])
    kept = np.array([float(specificity(one)) for one in found])
    exact = np.array([float(precision(one)) for one in found])
    on_roc = frontier(np.stack([recall, kept], axis=1))
    on_pr = frontier(np.stack([recall, exact], axis=1))
    return [
        {
            "run": one.id,
            "sensitivity": _number(recall[at]),
            "specificity": _number(kept[at]),
            "precision": _number(exact[at]),
            "roc_frontier": bool(on_roc[at]),
            "pr_frontier": bool(on_pr[at]),
            "base": bases.get(one.id),
        }
        for at, one in enumerate(judged)
    ]


def _difficulty(
    judged: Sequence[Judged], statements: Statements, rows: npt.NDArray[np.int64]
) -> dict[str, Any]:
    share = np.stack([one.right[rows] for one in judged])
    right = share > _MOSTLY
    count, gold = right.sum(axis=0), statements.gold[rows]
    strong, weak = strong_and_weak(share)
    upset = _upset(right, strong, weak)
    categories = statements.category[rows]
    return {
        "models": len(judged),
        "histogram": [
            {
                "right": k,
                "items": int((count == k).sum()),
                "true": int(((count == k) & gold).sum()),
                "false": int(((count == k) & ~gold).sum()),
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


def difficulty_rows(
    judged: Sequence[Judged], statements: Statements
) -> list[tuple[str, str, str, bool, int, int, bool]]:
    """A row a statement, hardest first, for a table: no text, its id alone."""
    rows = np.flatnonzero(np.logical_and.reduce([one.asked for one in judged]))
    if not len(rows):
        return []
    share = np.stack([one.right[rows] for one in judged])
    right = share > _MOSTLY
    count = right.sum(axis=0)
    upset = _upset(right, *strong_and_weak(share))
    order = np.lexsort((rows, count)).tolist()
    return [
        (
            statements.ids[rows[at]],
            statements.pair_ids[rows[at]],
            str(statements.category[rows[at]]),
            bool(statements.gold[rows[at]]),
            int(count[at]),
            len(judged),
            bool(upset[at]),
        )
        for at in order
    ]


def _scale(judged: Sequence[Judged]) -> dict[str, list[dict[str, Any]]]:
    """What size does within a family: its runs that are not fine-tuned, smallest first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in judged:
        facts = model_facts(one.model)
        if facts["family"] and facts["parameters"] and not _tuned(one):
            found.setdefault(str(facts["family"]), []).append(
                {
                    "run": one.id,
                    "parameters": facts["parameters"],
                    "accuracy": _accuracy(one),
                }
            )
    return {
        family: sorted(among, key=lambda one: (one["parameters"], one["run"]))
        for family, among in sorted(found.items())
        if len({one["parameters"] for one in among}) > 1
    }


def _medical(
    judged: Sequence[Judged], statements: Statements, seed: int, draws: int
) -> list[dict[str, Any]]:
    """Biomedical against general models of one size, asked in one way; none fine-tuned by us."""
    made = []
    known = [(one, model_facts(one.model)) for one in judged if not _tuned(one)]
    for a, medical in known:
        for b, general in known:
            if (medical["group"], general["group"]) != ("biomedical", "general"):
                continue
            sizes = medical["parameters"], general["parameters"]
            if not all(sizes) or max(sizes) > _SAME_SIZE * min(sizes):
                continue
            common = np.flatnonzero(a.asked & b.asked)
            if (a.shots, a.how) != (b.shots, b.how) or not len(common):
                continue
            ours, theirs = (
                np.stack([np.ones(len(common)), one.right[common]], axis=1) for one in (a, b)
            )
            (found,) = compare(ours, theirs, statements.pair[common], seed=seed, draws=draws)
            made.append(
                {
                    "medical": a.id,
                    "general": b.id,
                    "parameters": list(sizes),
                    "difference": _number(found.difference),
                    "low": _number(found.low),
                    "high": _number(found.high),
                    "p": _number(found.p),
                }
            )
    return made


def _accuracy(one: Judged) -> float | None:
    found = cells(one.rows.sum(axis=0), WRONG)
    return _number(float((found.tp + found.tn) / found.n)) if found.n > 0 else None


def _cell(found: Agreement, a: int, b: int) -> list[float | None]:
    return [_number(float(table[a, b])) for table in (found.value, found.low, found.high)]


def _table(values: npt.NDArray[np.float64]) -> list[list[float | None]]:
    return [[_number(one) for one in row] for row in values.tolist()]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
