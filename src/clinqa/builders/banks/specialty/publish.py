"""The last step: items, votes, tables, figures, card and Croissant written, then committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.builders.banks.gather import NEAR_COLUMNS
from clinqa.builders.banks.specialty.assess import accuracy_and_coverage, sizes, totals
from clinqa.builders.banks.specialty.card import card_of
from clinqa.builders.banks.specialty.found import SpecialtyBuild
from clinqa.builders.banks.specialty.write import (
    write_figures,
    write_items,
    write_table_csv,
    write_votes,
)
from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest
from clinqa.core.stage import Made, Workplace
from clinqa.dataset.parquet import write_table
from clinqa.dataset.publish import write_card
from clinqa.dataset.written import write_rejects
from clinqa.kinds.multiple_choice.columns import COLUMNS

__all__ = ["publish"]


def publish(place: Workplace, found: SpecialtyBuild, details: Mapping[str, Any]) -> Made:
    """Write everything but card and Croissant, which come with the manifest."""
    partial, private = place.partial, place.private
    rows = write_items(partial, found.kept, private=private)
    items = found.gathered.items
    rows |= write_votes(partial, items, found.annotated.votes, found.outcomes, private=private)
    rows |= write_rejects(partial, [*found.gathered.rejects, *found.rejects], private=private)
    path = partial / "near_duplicates.parquet"
    written = write_table(path, found.near.table, NEAR_COLUMNS, private=private)
    rows |= {name.name: n for name, n in written.items()}
    figures = _figures(found)
    tables = _tables(found, figures)
    for name, table in tables.items():
        rows |= write_table_csv(partial, name, table, private=private)
    extra = {
        "sets": [report.as_json() for report in found.annotated.reports],
        "agreement": list(found.agreed),
    }
    write_figures(partial, figures, extra, private=private)

    def described(manifest: Manifest) -> None:
        write_card(place, card_of(found, tables, manifest), COLUMNS, manifest, rows)

    return Made(
        counts=found.stages(),
        rows=rows,
        warnings=found.warnings,
        details=details,
        describe=described,
    )


def _figures(found: SpecialtyBuild) -> list[Figure]:
    annotated, expert = found.annotated, found.expert
    if expert is None or not annotated.decisions:
        return []
    return accuracy_and_coverage(
        annotated.decisions,
        [expert.gold[at] for at in annotated.expert_places],
        [expert.groups[at] for at in annotated.expert_places],
        run="build",
        model=found.options.model or annotated.method,
        how=annotated.how,
        seed=found.options.seed,
    )


def _tables(found: SpecialtyBuild, figures: Sequence[Figure]) -> dict[str, list[dict[str, Any]]]:
    by_decider: dict[str, dict[str, Figure]] = {}
    for figure in figures:
        by_decider.setdefault(figure.subset["decided_by"], {})[figure.metric] = figure
    accuracy = [
        {
            "decided by": name,
            "accuracy": _share(own["accuracy"].value),
            "accuracy 95 %": _interval(own["accuracy"]),
            "coverage": _share(own["coverage"].value),
            "coverage 95 %": _interval(own["coverage"]),
            "decided": own["accuracy"].n,
            "of": own["coverage"].n,
        }
        for name, own in by_decider.items()
    ]
    tables: dict[str, list[dict[str, Any]]] = {"accuracy_coverage": accuracy}
    if found.options.annotator != "metadata":
        voted = [
            one
            for one, votes in zip(found.annotated.tallies, found.annotated.votes, strict=True)
            if not (len(votes) == 1 and votes[0].voter == "metadata")
        ]
        by_specialty, undecided = sizes(voted, [*found.pack.names, found.pack.others])
        sums, _ = totals(by_specialty)
        last: list[dict[str, Any]] = [
            {"specialty": "all", **sums},
            {"specialty": "no majority", **undecided},
        ]
        tables["sizes"] = [*by_specialty, *(last if by_specialty else [])]
    tables["sets"] = [
        {
            "alpha": report.alpha,
            "coverage": _share(report.found.covered.value),
            "of": report.found.covered.n,
            "band 95 %": "–"
            if report.found.band is None
            else f"{report.found.band[0]:.3f}–{report.found.band[1]:.3f}",
            "within": {True: "yes", False: "no", None: "–"}[report.found.within_band],
            "calibrated on": report.limit.n,
            "mean size": f"{report.found.mean_size:.2f}",
            "empty": report.found.empty,
            "F1": f"{report.found.f1:.3f}",
            "different scores": report.scores,
        }
        for report in found.annotated.reports
    ]
    tables["near_duplicates"] = [
        {"one": one, "other": other, "pairs": pairs}
        for (one, other), pairs in sorted(found.near.across.items())
    ]
    if found.agreed:
        tables["agreement"] = [dict(row) for row in found.agreed]
    return tables


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return "–"
    return f"{figure.low:.3f}–{figure.high:.3f}"
