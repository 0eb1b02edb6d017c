"""How right the voters are, alone and together, and how much they decide (accuracy × coverage).

Agreement of annotators' files, the expert's and others'; they may overlap in part only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from clinqa.builders.banks.specialty.expert import Expert, read_expert
from clinqa.builders.banks.specialty.specialty_options import QUORUMS
from clinqa.builders.banks.specialty.votes import VoteTally
from clinqa.core.figures import Figure, known
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankItem
from clinqa.sources.banks.bank_item import matching_text
from clinqa.stats.agreement import kappa
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.krippendorff import MISSING, alpha, coded, fleiss_kappa
from clinqa.stats.measure import share

__all__ = ["accuracy_and_coverage", "agreement", "sizes", "totals"]

#: Rows are (items, decided, right).
_MEASURES = (share("accuracy", 2, 1), share("coverage", 1, 0))


def accuracy_and_coverage(
    decisions: Mapping[str, Sequence[str | None]],
    gold: Sequence[frozenset[str]],
    groups: Sequence[str],
    *,
    run: str,
    model: str,
    how: str,
    seed: int,
    draws: int = 1000,
) -> list[Figure]:
    """Two figures for each decider (a voter, a quorum, the sum of probabilities).

    A decision is right if it is one of the gold labels; None is not decided. `accuracy` is over
    what is decided, `coverage` the share decided; intervals over groups of near-duplicates.
    """
    figures = []
    for name, decided in decisions.items():
        rows = [
            [1.0, float(label is not None), float(label is not None and label in right)]
            for label, right in zip(decided, gold, strict=True)
        ]
        accuracy, coverage = estimates(_MEASURES, rows, Design(groups, seed=seed, draws=draws))
        # both are of a draw of all groups
        found = {"accuracy": replace(accuracy, clusters=coverage.clusters), "coverage": coverage}
        figures += [
            one.figure(
                metric,
                f"{metric}|{how}|{one.signature}",
                run=run,
                model=model,
                subset={"decided_by": name},
            )
            for metric, one in found.items()
        ]
    return figures


def sizes(
    tallies: Sequence[VoteTally], names: Sequence[str]
) -> tuple[list[dict[str, int | str]], dict[str, int]]:
    """Questions of each specialty at each quorum (Table 3), and what stays undecided at each."""
    counts = {name: dict.fromkeys(QUORUMS, 0) for name in names}
    undecided = {f"{quorum}+": 0 for quorum in QUORUMS}
    for tally in tallies:
        for quorum in QUORUMS:
            label = tally.decided(quorum)
            if label is None:
                undecided[f"{quorum}+"] += 1
            else:
                counts.setdefault(label, dict.fromkeys(QUORUMS, 0))[quorum] += 1
    rows: list[dict[str, int | str]] = [
        {"specialty": name, **{f"{quorum}+": own[quorum] for quorum in QUORUMS}}
        for name, own in counts.items()
        if any(own.values())
    ]
    rows.sort(key=lambda row: (-int(row["3+"]), str(row["specialty"])))
    return rows, undecided


def totals(
    rows: Sequence[Mapping[str, int | str]], printed: Mapping[str, int] | None = None
) -> tuple[dict[str, int], list[str]]:
    """The sums of a table's columns by its rows, and which printed totals they contradict.

    >>> totals([{"specialty": "A", "3+": 2}, {"specialty": "B", "3+": 3}], {"3+": 6})
    ({'3+': 5}, ['3+: the rows sum to 5, the table prints 6'])
    """
    sums: dict[str, int] = {}
    for row in rows:
        for column, value in row.items():
            if isinstance(value, int):
                sums[column] = sums.get(column, 0) + value
    wrong = [
        f"{column}: the rows sum to {sums.get(column, 0):,}, the table prints {value:,}"
        for column, value in (printed or {}).items()
        if sums.get(column, 0) != value
    ]
    return sums, wrong


def agreement(
    paths: Sequence[Path],
    items: Sequence[BankItem],
    expert: Expert | None,
    pack: Specialties,
    seed: int,
) -> list[dict[str, Any]]:
    """Rows of a table: Krippendorff's alpha of all, over questions and as Krippendorff's own;
    Cohen's kappa of each pair on what both labelled; Fleiss' kappa on what all labelled. Empty
    without two annotators."""
    raters: dict[str, dict[str, str]] = {}
    if expert is not None:
        raters["expert"] = _labels(expert)
    for path in paths:
        name, number = path.stem, 2
        while name in raters:
            name, number = f"{path.stem} {number}", number + 1
        raters[name] = _labels(read_expert([path], pack, seed=seed))
    if len(raters) < 2:
        return []
    questions = sorted(set().union(*raters.values()))
    values = sorted(set().union(*(own.values() for own in raters.values())))
    table = coded([[own.get(q) for q in questions] for own in raters.values()], values)
    rows: list[dict[str, Any]] = []
    for resampling in ("unit", "krippendorff"):
        found = alpha(table, len(values), seed=seed, resampling=resampling)
        rows.append(_row("krippendorff_alpha", "all", found))
    for (one, a), (other, b) in combinations(zip(raters, table, strict=True), 2):
        both = (a != MISSING) & (b != MISSING)
        if both.sum() < 2:
            continue
        groups = [questions[at] for at in np.flatnonzero(both)]
        design = Design(groups, seed=seed)
        pair = kappa(a[both].tolist(), b[both].tolist(), range(len(values)), design)
        rows.append(_row("cohen_kappa", f"{one} and {other}", pair))
    whole = (table != MISSING).all(axis=0)
    if whole.sum() >= 2 and len(raters) > 2:
        value = fleiss_kappa(table[:, whole], len(values))
        n = int(whole.sum())
        rows.append(
            {"metric": "fleiss_kappa", "raters": "all", "value": value, "low": None, "high": None}
            | {"n": n, "clusters": n, "signature": "fleiss kappa|questions that all labelled"}
        )
    return rows


def _labels(expert: Expert) -> dict[str, str]:
    pairs = zip(expert.items, expert.labels, strict=True)
    return {matching_text(item.question): label for item, label in pairs}


def _row(metric: str, raters: str, found: Estimate) -> dict[str, Any]:
    return (
        {"metric": metric, "raters": raters}
        | {name: known(getattr(found, name)) for name in ("value", "low", "high")}
        | {"n": found.n, "clusters": found.clusters, "signature": found.signature}
    )
