"""What an audit is: inputs, what it was told, and what decides its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.cohort import PATIENT, Cohort
from clinqa.auditing.dimensions import Dimension, Excluded
from clinqa.core.manifest import FileRecord
from clinqa.core.predictions import FinishedRun
from clinqa.core.records import DataClass
from clinqa.core.stage import Known
from clinqa.core.visible import visible
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.judges import OpenJudge, SplitItems
from clinqa.scoring.inputs import inputs_of

__all__ = ["VERB", "known_of", "plan_of"]

VERB = "audit"


def known_of(
    dataset: Dataset, runs: Sequence[FinishedRun], options: AuditOptions, judge: OpenJudge
) -> Known:
    """What decides the figures. Scores that are read instead of made anew decide nothing."""
    inputs = inputs_of(dataset, runs, options.scoring)
    tables = [*options.groups, *([options.tract_map] if options.tract_map else [])]
    inputs += map(FileRecord.of, tables)
    told = {
        "dataset": dataset.manifest.fingerprint,
        "split": runs[0].split,
        "runs": [run.id for run in runs],
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
        "pack": None,
        **judge.configuration,
        "resamples": options.draws,
        "permutations": options.permutations,
        "limit": options.limit,
        "seed": options.seed,
    }
    decides = {**judge.decides, "inputs": [record.sha256 for record in inputs]}
    return Known(told, inputs, decides)


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
        f"would audit {len(runs)} runs over {len(items):,} items of {len(cohort.patients):,} "
        f"{who.many}, by {', '.join(options.metrics)}"
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
