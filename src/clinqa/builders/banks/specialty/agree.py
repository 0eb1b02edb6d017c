"""Agreement of annotators' files, the expert's and others'; they may overlap in part only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from clinqa.builders.banks.specialty.expert import Expert, read_expert
from clinqa.core.figures import known
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankItem
from clinqa.sources.banks.bank_item import matching_text
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate
from clinqa.stats.kappa import kappa
from clinqa.stats.krippendorff import MISSING, alpha, coded, fleiss_kappa

__all__ = ["agreement"]


def agreement(
    paths: Sequence[Path],
    items: Sequence[BankItem],
    expert: Expert | None,
    pack: Specialties,
    seed: int,
) -> list[dict[str, Any]]:
    """Rows of a table: Krippendorff's alpha of all, with both bootstraps; Cohen's kappa of each
    pair on what both labelled; Fleiss' kappa on what all labelled. Empty without two annotators."""
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
