"""The `meta` of audit.json: what figures and gaps stand on; no patient stands in it.

dataset     as in scores.json
runs        run, name, model, shots, repeats, vary, deterministic
metrics     name, signature, whether lower is better
dimensions  name, unit, kind, cuts, groups with ranges and patients (None where withheld), note;
            `patients` are documents where `settings.who` says so
excluded    name, reason
settings    what was told, and how nulls and intervals are made
rows        what became of the tables' rows
joins       by table, how many patients of the split it says nothing of, and by which rules ids met
headlines   what must be seen first: joins that lost more than a twentieth
pareto      performance against bias

And the audit for the terminal: cut points, what was left out, each gap beside chance. And figures
and gaps as CSV: a file for each metric's scores, deviations and every measure, so that a score and
a gap never share a column, nor do figures that were made in two ways.

What an audit is: inputs, what it was told, and what decides its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinqa.auditing.answers import Means
from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.cohort import PATIENT, Cohort
from clinqa.auditing.deviations import AuditDraws
from clinqa.auditing.dimensions import Dimension, Excluded
from clinqa.auditing.records import Gap, Point
from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, GapPair
from clinqa.core.manifest import FileRecord
from clinqa.core.origin import with_origin
from clinqa.core.predictions import FinishedRun
from clinqa.core.records import DataClass
from clinqa.core.stage import Known
from clinqa.core.visible import visible
from clinqa.core.wording import decimals, many, p_value
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.audited import PATIENTS, Who
from clinqa.kinds.facets.judges import OpenJudge, SplitItems
from clinqa.present.audit.says import by_chance
from clinqa.scoring.inputs import ScoringSources, inputs_of
from clinqa.scoring.stands_on import model_facts
from clinqa.stats.verdicts import gap_verdict

__all__ = [
    "VERB",
    "dimension_record",
    "known_of",
    "lines_of",
    "meta_of",
    "plan_of",
    "tables_of",
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
        "missing": _least(missing, least),
        "unknown": [
            {"stands": code, "patients": n if n >= least else None, "withheld": n < least}
            for code, n in dimension.unknown.items()
        ],
        "note": dimension.note,
    }


def _least(n: int, least: int) -> int | None:
    """A number of patients, None where it is small and not 0."""
    return n if n == 0 or n >= least else None


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
        "family": f"{many(len(dimensions), 'dimension')} × {many(len(runs), 'run')}, each measure "
        "and metric alone",
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
            **with_origin(manifest.origin),
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
        "joins": [
            {
                "table": one.table,
                "of": one.of,
                "patients": one.patients,
                "lost": one.lost,
                "share": round(one.share, 4),
                "by": list(one.by),
            }
            for one in cohort.losses
        ],
        "headlines": list(cohort.headlines),
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
        stands = [_stands(code) for code in one["unknown"]]
        parts[-1] += f" ({', '.join(stands)})" if stands else ""
    return "; ".join(parts)


def _stands(code: Mapping[str, Any]) -> str:
    n = "few" if code["withheld"] else format(code["patients"], ",")
    return f"{visible(code['stands'])}: {n}"


def _told(gap: Gap) -> str:
    if gap.value is None:
        return "no figure"
    return (
        f"{decimals(gap.value)} (by chance {decimals(gap.expected)}, excess "
        f"{decimals(gap.excess)}), p {p_value(gap.p)}, over all {p_value(gap.p_max)}: "
        f"{gap_verdict(gap.p, gap.p_max)}; this much arises by chance {by_chance(gap.p)}"
    )


def tables_of(
    figures: Sequence[Figure],
    gaps: Sequence[Gap],
    meta: Mapping[str, Any],
    points: Sequence[Point],
    pairs: Sequence[GapPair] = (),
) -> dict[str, str]:
    """The tables by file name."""
    made: dict[str, str] = {}
    who = meta["settings"]["who"]
    for metric in dict.fromkeys(f.metric for f in figures):
        made[f"groups_{metric}.csv"] = csv_text(
            (
                "dimension",
                "group",
                "run",
                "model",
                "shots",
                metric,
                "low",
                "high",
                "n",
                who,
                "signature",
            ),
            [
                (
                    f.subset.get("dimension", "all"),
                    f.subset.get("group", "all"),
                    f.run,
                    f.model,
                    f.shots,
                    f.value,
                    f.low,
                    f.high,
                    f.n or None,
                    f.clusters or None,
                    f.signature,
                )
                for f in figures
                if f.metric == metric
            ],
        )
    for metric, measure in dict.fromkeys((g.metric, g.measure) for g in gaps):
        made[f"gaps_{metric}_{measure}.csv"] = csv_text(
            (
                "dimension",
                "run",
                "model",
                "shots",
                measure,
                "sd_over_repeats",
                "expected",
                "excess",
                "null_low",
                "null_high",
                "p",
                "p_max",
                "low",
                "high",
                "groups",
                "n",
                who,
                "units",
                "signature",
            ),
            [
                (
                    g.dimension,
                    g.run,
                    g.model,
                    g.shots,
                    g.value,
                    g.sd,
                    g.expected,
                    g.excess,
                    g.null_low,
                    g.null_high,
                    g.p,
                    g.p_max,
                    g.low,
                    g.high,
                    g.groups,
                    g.n,
                    g.clusters,
                    g.units,
                    g.signature,
                )
                for g in gaps
                if (g.metric, g.measure) == (metric, measure)
            ],
        )
    if pairs:
        made["gap_pairs.csv"] = csv_text(
            ("metric", "dimension", "a", "b", "excess_difference", "p", "p_max", "signature"),
            [(p.metric, p.dimension, p.a, p.b, p.difference, p.p, p.p_max, p.signature)
             for p in pairs],
        )  # fmt: skip
    return made | {
        "dimensions.csv": csv_text(
            ("dimension", "unit", "kind", "group", "range", who),
            [(d["name"], d["unit"], d["kind"], g["name"], g.get("range") or None, g["patients"])
             for d in meta["dimensions"] for g in d["groups"]],
        ),
        "performance_and_bias.csv": csv_text(
            ("dimension", "metric", "run", "performance", "excess_gap", "on_the_front"),
            [(p.dimension, p.metric, p.run, p.performance, p.bias, "yes" if p.front else "no")
             for p in points],
        ),
    }  # fmt: skip


VERB = "audit"


def known_of(sources: ScoringSources, options: AuditOptions, judge: OpenJudge) -> Known:
    """What decides the figures. Scores that are read instead of made anew decide nothing."""
    inputs, brought = inputs_of(sources, options.scoring)
    tables = [*options.groups, *([options.tract_map] if options.tract_map else [])]
    brought |= {path: FileRecord.of(path) for path in tables}
    inputs += map(FileRecord.of, tables)
    told = {
        "dataset": sources.dataset.manifest.fingerprint,
        "split": sources.runs[0].split,
        "runs": [run.id for run in sources.runs],
        "metrics": list(options.metrics),
        "dimensions": list(options.dimensions),
        "intersections": [list(names) for names in options.intersect],
        "continuous": list(options.continuous),
        "categorical": list(options.categorical),
        "quantiles_over": options.quantiles_over,
        "min_patients": options.min_patients,
        "patient_column": options.patient_column,
        "tract_column": options.tract_column,
        "missing": list(options.missing),
        "known": list(options.known),
        "preset": options.preset,
        "pack": None,
        **judge.configuration,
        "resamples": options.draws,
        "permutations": options.permutations,
        "limit": options.limit,
        "seed": options.seed,
    }
    decides = {**judge.decides, "inputs": [record.sha256 for record in inputs]}
    return Known(told, inputs, decides, brought=brought)


def plan_of(
    items: SplitItems,
    runs: Sequence[FinishedRun],
    dimensions: Sequence[Dimension],
    excluded: Sequence[Excluded],
    options: AuditOptions,
    data_class: DataClass,
    out: Path,
    cohort: Cohort,
) -> list[str]:
    """What would be audited; nothing is sent anywhere."""
    who = cohort.who
    lines = [
        f"would audit {many(len(runs), 'run')} over {many(len(items), 'item')} of "
        f"{len(cohort.patients):,} {who.many}, by {', '.join(options.metrics)}"
    ]
    for one in dimensions:
        shown = len(one.groups) - len(one.small)
        unit = who.word if one.unit == PATIENT else one.unit
        lines.append(f"would compare {shown} groups of {visible(one.name)} ({unit} level)")
    lines += [f"would leave out {visible(one.name)}: {one.reason}" for one in excluded]
    lines.append(
        f"would permute {options.permutations:,} times, draw {options.draws:,} samples of "
        f"{who.many} and write the audit ({data_class.value}) to {out}"
    )
    return [*lines, "would send nothing anywhere"]
