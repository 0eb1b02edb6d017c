"""The `meta` of audit.json: what figures and gaps stand on; no patient stands in it.

dataset     as in scores.json
runs        run, name, model, shots, repeats, vary, deterministic
metrics     name, signature, whether lower is better
dimensions  name, unit, kind, cuts, groups with ranges and patients (None where withheld), note;
            `patients` are documents where `settings.who` says so
excluded    name, reason
settings    what was told, and how nulls and intervals are made
rows        what became of the tables' rows
pareto      performance against bias

And the audit for the terminal: cut points, what was left out, each gap beside chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.auditing.answers import Means
from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.cohort import PATIENT, Cohort
from clinqa.auditing.deviations import AuditDraws
from clinqa.auditing.dimensions import Dimension, Excluded
from clinqa.auditing.records import Gap, Point
from clinqa.core.predictions import FinishedRun
from clinqa.core.visible import visible
from clinqa.core.wording import decimals, p_value
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.audited import PATIENTS, Who
from clinqa.kinds.facets.judges import SplitItems
from clinqa.present.audit.says import by_chance
from clinqa.scoring.stands_on import model_facts
from clinqa.stats.verdicts import gap_verdict

__all__ = [
    "dimension_record",
    "lines_of",
    "meta_of",
]


def dimension_record(dimension: Dimension, least: int, who: Who = PATIENTS) -> dict[str, Any]:
    """A dimension with its groups; a small group's number of patients is withheld."""
    sizes = dimension.sizes()
    missing = int((dimension.codes < 0).sum())
    groups = [
        {
            "name": name,
            "range": dimension.ranges[code] if dimension.ranges else "",
            "patients": None if code in dimension.small else sizes[code],
            "withheld": code in dimension.small,
        }
        for code, name in enumerate(dimension.groups)
    ]
    return {
        "name": dimension.name,
        "unit": who.word if dimension.unit == PATIENT else dimension.unit,
        "kind": dimension.kind,
        "cuts": list(dimension.cuts),
        "groups": groups,
        "missing": missing if missing == 0 or missing >= least else None,
        "note": dimension.note,
    }


def meta_of(
    dataset: Dataset,
    items: SplitItems,
    runs: Sequence[FinishedRun],
    means: Sequence[Means],
    cohort: Cohort,
    dimensions: Sequence[Dimension],
    excluded: Sequence[Excluded],
    points: Sequence[Point],
    options: AuditOptions,
    drawing: AuditDraws,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """The object."""
    manifest = dataset.manifest
    repeats = [max(1, len(means[0].repeats_of(at))) for at in range(len(runs))]
    settings: Mapping[str, Any] = {
        "quantiles_over": options.quantiles_over,
        "min_patients": options.min_patients,
        "permutations": drawing.permutations,
        "resamples": drawing.draws,
        "level": drawing.level,
        "seed": drawing.seed,
        "family": f"{len(dimensions)} dimensions × {len(runs)} runs, each measure and metric alone",
        "tracts": cohort.tracts,
        "who": cohort.who.many,
        "strata": drawing.strata,
        "patients": len(cohort.patients),
    }
    return {
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            "split": runs[0].split,
            "items": len(items),
            "patients": len(cohort.patients),
        },
        "runs": [
            {
                "run": run.id,
                "name": run.name,
                "model": run.model,
                "shots": run.shots,
                "repeats": repeats[at],
                "vary": "" if run.vary in ("none", "deterministic") else run.vary,
                "deterministic": run.deterministic,
                **model_facts(run.model),
            }
            for at, run in enumerate(runs)
        ],
        "metrics": [
            {"metric": m.metric, "signature": m.signature, "lower": m.lower} for m in means
        ],
        "dimensions": [
            dimension_record(one, options.min_patients, cohort.who) for one in dimensions
        ],
        "excluded": [{"name": one.name, "reason": one.reason} for one in excluded],
        "settings": settings,
        "rows": dict(cohort.counts),
        "pareto": [point.as_json() for point in points],
        "warnings": list(warnings),
    }


def lines_of(
    dimensions: Sequence[Mapping[str, Any]],
    excluded: Sequence[Mapping[str, Any]],
    gaps: Sequence[Gap],
    runs: Sequence[FinishedRun],
    metrics: Sequence[str],
) -> list[str]:
    """Dimensions with their groups, then a line a metric, dimension and run."""
    lines = []
    for one in dimensions:
        lines.append(f"{visible(one['name'])} ({one['unit']} level): {_groups(one)}")
    lines += [f"{visible(one['name'])}: left out: {one['reason']}" for one in excluded]
    names = {run.id: run.name for run in runs}
    for metric in metrics:
        lines += ["", f"{metric}: gap between groups, beside what chance alone gives"]
        for gap in gaps:
            if gap.metric == metric and gap.measure == "equality_difference":
                lines.append(f"  {visible(gap.dimension)}, {visible(names[gap.run])}: {_told(gap)}")
    return lines


def _groups(one: Mapping[str, Any]) -> str:
    parts = []
    for group in one["groups"]:
        held = f" ({group['range']})" if group["range"] else ""
        n = "withheld" if group["withheld"] else f"{group['patients']:,}"
        parts.append(f"{visible(group['name'])}{held} {n}")
    if one["missing"] is None or one["missing"]:
        parts.append(f"missing {'few' if one['missing'] is None else format(one['missing'], ',')}")
    return "; ".join(parts)


def _told(gap: Gap) -> str:
    if gap.value is None:
        return "no figure"
    return (
        f"{decimals(gap.value)} (by chance {decimals(gap.expected)}, excess "
        f"{decimals(gap.excess)}), p {p_value(gap.p)}, over all {p_value(gap.p_max)}: "
        f"{gap_verdict(gap.p, gap.p_max)}; this much arises by chance {by_chance(gap.p)}"
    )
