"""What an audit is: inputs, what it was told, and what decides its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import clinqa
from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.cohort import PATIENT, Who
from clinqa.auditing.dimensions import Dimension, Excluded
from clinqa.core.manifest import FileRecord, identity_of, sha256_file
from clinqa.core.records import DataClass
from clinqa.core.visible import visible
from clinqa.dataset.reader import Dataset
from clinqa.kinds.long_form.answer_words import words_fingerprint
from clinqa.packs.loader import Pack
from clinqa.scoring.identity import inputs_of
from clinqa.scoring.inputs import Items, Run

__all__ = ["VERB", "configuration_of", "dry_run", "identity_of_audit", "inputs_of_audit"]

VERB = "audit"


def inputs_of_audit(
    dataset: Dataset, runs: Sequence[Run], options: AuditOptions
) -> list[FileRecord]:
    """The files that decide the figures."""
    made = inputs_of(dataset, runs, options.scoring)
    tables = [*options.groups, *([options.tract_map] if options.tract_map else [])]
    for path in tables:
        made.append(FileRecord(path.name, sha256_file(path), path.stat().st_size))
    return made


def configuration_of(
    dataset: Dataset, runs: Sequence[Run], options: AuditOptions, pack: Pack | None
) -> dict[str, Any]:
    """What the audit was told, as the manifest tells it."""
    return {
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
        "pack": pack.spec.id if pack is not None else None,
        "resamples": options.draws,
        "permutations": options.permutations,
        "limit": options.limit,
        "seed": options.seed,
    }


def identity_of_audit(
    dataset: Dataset,
    runs: Sequence[Run],
    options: AuditOptions,
    pack: Pack | None,
    data_class: DataClass,
    inputs: Sequence[FileRecord],
) -> dict[str, Any]:
    """What decides the figures. Scores that are read instead of made anew decide nothing."""
    return identity_of(
        {
            **configuration_of(dataset, runs, options, pack),
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "pack_fingerprint": pack.fingerprint if pack is not None else None,
            "words_fingerprint": words_fingerprint(pack) if pack is not None else None,
            "data_class": data_class.value,
            "inputs": [record.sha256 for record in inputs],
        }
    )


def dry_run(
    items: Items,
    runs: Sequence[Run],
    dimensions: Sequence[Dimension],
    excluded: Sequence[Excluded],
    options: AuditOptions,
    data_class: DataClass,
    out: Path,
    who: Who,
) -> list[str]:
    """What would be audited; nothing is sent anywhere."""
    lines = [
        f"would audit {len(runs)} runs over {len(items):,} items of {items.clusters:,} {who.many}, "
        f"by {', '.join(options.metrics)}"
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
