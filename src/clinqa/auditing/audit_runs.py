"""`clinqa audit`: a dataset, runs and tables of attributes in, an AUDIT folder out.

audit.json      figures (scores of groups, deviations), gaps beside their nulls, and meta
tables/*.csv    the same for a spreadsheet
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import clinqa
from clinqa.auditing.about import meta_of
from clinqa.auditing.answers import Means, lower_is_better, strata_of
from clinqa.auditing.asked import entering
from clinqa.auditing.audit_options import AuditOptions, AuditResult
from clinqa.auditing.cohort import DOCUMENTS, PATIENTS, TRACT, Cohort, read_cohort
from clinqa.auditing.csv_tables import tables_of
from clinqa.auditing.dimensions import Dimension, Excluded, dimensions_of
from clinqa.auditing.drawing import Drawing
from clinqa.auditing.engine import audit_means
from clinqa.auditing.gaps import figures_of, gaps_of, overall_figures
from clinqa.auditing.identity import (
    VERB,
    configuration_of,
    dry_run,
    identity_of_audit,
    inputs_of_audit,
)
from clinqa.auditing.lines import lines_of
from clinqa.auditing.pareto import MEAN, Point, points_of
from clinqa.auditing.records import Gap
from clinqa.auditing.scoring import check_metrics, from_runs, from_scores
from clinqa.auditing.statements import STRATA, items_of, judged_means, measures_named
from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest, StageCounts, library_versions
from clinqa.core.outfolder import OutFolder, open_out, write_durably, writing
from clinqa.core.progress import Progress, silent
from clinqa.core.records import Kind
from clinqa.core.visible import visible
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.privacy import is_private
from clinqa.scoring.binary.compared import PRIMARY
from clinqa.scoring.binary.statements import Statements, kind_of_split, load_statements
from clinqa.scoring.identity import data_class_of, pack_of
from clinqa.scoring.inputs import Items, Run, load_items, open_runs

__all__ = ["AUDIT_FILE", "audit"]

AUDIT_FILE = "audit.json"
_FEW_TRACTS = 20
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Made:
    figures: Sequence[Figure]
    gaps: Sequence[Gap]
    points: Sequence[Point]
    meta: Mapping[str, Any]
    warnings: Sequence[str]


def audit(
    dataset: Path,
    runs: Sequence[Path],
    out: Path,
    options: AuditOptions,
    progress: Progress = silent,
) -> AuditResult:
    """Audit these runs on the dataset they were made on, or say that it has been done."""
    options.check()
    opened_set = open_dataset(dataset)
    opened = open_runs(runs, opened_set)
    alike = _alike(opened)
    statements, items, options = _asked(opened_set, opened[0].split, options)
    pack = pack_of(opened_set, options.scoring) if statements is None else None
    data_class = data_class_of(opened_set, opened, options.scoring)
    patients, patient = np.unique(np.array(items.column("group")), return_inverse=True)
    cohort = read_cohort(
        patients.tolist(),
        options.groups,
        options.tract_map,
        patient_column=options.patient_column,
        tract_column=options.tract_column,
        missing=options.missing,
        who=PATIENTS if statements is None else DOCUMENTS,
    )
    dimensions, excluded = dimensions_of(
        cohort,
        np.bincount(patient),
        wanted=options.dimensions,
        intersect=options.intersect,
        continuous=options.continuous,
        categorical=options.categorical,
        over=options.quantiles_over,
        least=options.min_patients,
    )
    if options.dry_run:
        told = dry_run(items, opened, dimensions, excluded, options, data_class, out, cohort.who)
        return AuditResult({}, warnings=list(cohort.told), lines=told)
    inputs = inputs_of_audit(opened_set, opened, options)
    identity = identity_of_audit(opened_set, opened, options, pack, data_class, inputs)
    with open_out(out, identity, fresh=options.fresh, private=is_private(data_class)) as folder:
        if folder.done is not None:
            return AuditResult(
                _counts(folder.done),
                list(folder.done.warnings),
                [f"already done: {out} holds this audit"],
                already_done=True,
            )
        with writing(folder.path):
            started, clock = _now(), time.monotonic()
            names, scores = options.metrics, options.scores
            fingerprint = opened_set.manifest.fingerprint
            drawing = Drawing(options.seed, options.draws, options.permutations)
            if statements is not None:
                drawing = replace(drawing, who=DOCUMENTS.many, strata=STRATA)
                means = judged_means(opened, statements, names, scores, fingerprint, progress)
            elif scores is not None:
                means = from_scores(scores, opened, items, fingerprint, names)
            else:
                assert pack is not None
                means = from_runs(opened, items, pack, names, progress)
            warnings = [*alike, *_warnings(cohort, dimensions, excluded, opened, means, options)]
            figures, gaps, points, told = _audited(
                means, items, patient, cohort, dimensions, opened, drawing, options, progress
            )
            warnings += told
            meta = meta_of(
                opened_set, items, opened, means, cohort, dimensions, excluded, points, options,
                drawing, warnings,
            )  # fmt: skip
            made = _Made(figures, gaps, points, meta, warnings)
            _write(folder, made)
            manifest = Manifest(
                verb=VERB,
                data_class=data_class.value,
                identity=identity,
                clinqa=clinqa.__version__,
                command=["clinqa", *sys.argv[1:]],
                configuration=configuration_of(opened_set, opened, options, pack),
                seeds={"seed": options.seed},
                inputs=inputs,
                counts={"table_rows": _row_counts(cohort)},
                started=started,
                finished=_now(),
                seconds=round(time.monotonic() - clock, 3),
                versions=library_versions(("pyarrow", "numpy", "scipy")),
                warnings=warnings,
                details={
                    "runs": len(opened),
                    "items": len(items),
                    "patients": len(cohort.patients),
                    "dimensions": len(dimensions),
                    "excluded": len(excluded),
                    "gaps": len(gaps),
                },
            )
            finished = folder.commit(manifest)
    lines = lines_of(meta["dimensions"], meta["excluded"], gaps, opened, options.metrics)
    return AuditResult(_counts(finished), warnings, lines)


def _alike(runs: Sequence[Run]) -> list[str]:
    """ConfigError for a run and its copy, which would count twice; other equal answers are told."""
    told: list[str] = []
    first: dict[str, Run] = {}
    for run in runs:
        one = first.setdefault(run.sha256, run)
        if one is run:
            continue
        if one.manifest.identity == run.manifest.identity:
            raise ConfigError(f"{one.name} and {run.name} are copies of one run; give it once")
        told.append(f"{one.name} and {run.name} gave the same answers, byte for byte")
    return told


def _asked(
    dataset: Dataset, split: str, options: AuditOptions
) -> tuple[Statements | None, Items, AuditOptions]:
    """The items (of statements both what they are and as items), and options with their metrics."""
    if kind_of_split(dataset, split) == Kind.TRUE_FALSE:
        options = replace(options, metrics=options.metrics or (PRIMARY,))
        measures_named(options.metrics)
        if options.quantiles_over == "tracts":
            raise ConfigError("--quantiles-over tracts: documents of statements are in no tract")
        statements = load_statements(dataset, split, options.limit)
        return statements, items_of(statements), options
    options = replace(options, metrics=options.metrics or ("token_f1",))
    check_metrics(options.metrics)
    return None, load_items(dataset, split, options.limit), options


def _audited(
    means: Sequence[Means],
    items: Items,
    patient: Ints,
    cohort: Cohort,
    dimensions: Sequence[Dimension],
    runs: Sequence[Run],
    drawing: Drawing,
    options: AuditOptions,
    progress: Progress,
) -> tuple[list[Figure], list[Gap], list[Point], list[str]]:
    """Every figure, gap and point, metric by metric; and which groups a metric has too few of."""
    figures: list[Figure] = []
    gaps: list[Gap] = []
    points: list[Point] = []
    told: list[str] = []
    strata = strata_of(items)
    least = options.min_patients
    for number, one in enumerate(means):
        progress("auditing", number, len(means))
        of_patients = one.summed(patient, len(cohort.patients)).of_runs()
        entered, withheld = entering(dimensions, of_patients, least, cohort.who.many)
        told += withheld
        family = f"{len(entered)} dimensions × {len(runs)} runs"
        overall = list(overall_figures(of_patients, runs, drawing))
        figures += overall
        own: list[Gap] = []
        for found in audit_means(one, patient, cohort.tract, strata, entered, drawing):
            figures += figures_of(found, of_patients, runs, drawing, least)
            own += gaps_of(found, of_patients, runs, drawing, family)
        gaps += own
        points += _points(one.metric, overall, own, entered)
    progress("auditing", len(means), len(means))
    if not gaps:
        raise ConfigError(f"no gap is left to audit: {'; '.join(told)}")
    return figures, gaps, points, told


def _points(
    metric: str, overall: Sequence[Figure], gaps: Sequence[Gap], dimensions: Sequence[Dimension]
) -> list[Point]:
    excess = {
        (gap.run, gap.dimension): gap.excess
        for gap in gaps
        if gap.measure == "equality_difference" and gap.excess is not None
    }
    made: list[Point] = []
    lower = lower_is_better(metric)
    for one in dimensions:
        rows = [(f.run, f.value, excess.get((f.run, one.name))) for f in overall]
        made += points_of(metric, one.name, rows, lower=lower)
    if len(dimensions) > 1:
        rows = []
        for figure in overall:
            known = [excess.get((figure.run, one.name)) for one in dimensions]
            there = [value for value in known if value is not None]
            whole = sum(there) / len(there) if len(there) == len(known) else None
            rows.append((figure.run, figure.value, whole))
        made += points_of(metric, MEAN, rows, lower=lower)
    return made


def _write(folder: OutFolder, made: _Made) -> None:
    private, partial = folder.private, folder.partial
    body = {
        "figures": [figure.as_json() for figure in made.figures],
        "gaps": [gap.as_json() for gap in made.gaps],
        "meta": made.meta,
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
    write_durably(partial / AUDIT_FILE, text.encode(), private=private)
    (partial / "tables").mkdir(mode=0o700)
    tables = tables_of(made.figures, made.gaps, made.meta, made.points)
    for name, content in tables.items():
        write_durably(partial / "tables" / name, content.encode(), private=private)


def _warnings(
    cohort: Cohort,
    dimensions: Sequence[Dimension],
    excluded: Sequence[Excluded],
    runs: Sequence[Run],
    means: Sequence[Means],
    options: AuditOptions,
) -> list[str]:
    """What a reader should know before trusting a gap; counts and columns' names only."""
    made = list(cohort.told)
    made += [f"{visible(one.name)}: left out: {one.reason}" for one in excluded]
    for one in dimensions:
        if one.small:
            made.append(
                f"{visible(one.name)}: {len(one.small)} of {len(one.groups)} groups have fewer "
                f"than {options.min_patients} {cohort.who.many}: withheld, and not in the gap"
            )
        if one.note:
            made.append(f"{visible(one.name)}: {one.note}")
        made += _few_tracts(one, cohort)
    asked = [len(one.repeats_of(at)) or 1 for one in means[:1] for at in range(len(runs))]
    if len(set(asked)) > 1:
        made.append(
            "the runs have different numbers of repeats: a mean over fewer repeats is noisier, and "
            "its gap larger by chance; compare the excess, not the gap"
        )
    sets = {
        one.under[:, one.under_of[at]].tobytes() for one in means[:1] for at in range(len(runs))
    }
    if len(sets) > 1:
        made.append("the runs answered different items: their gaps are of different questions")
    return made


def _few_tracts(one: Dimension, cohort: Cohort) -> list[str]:
    """What few tracts mean for an attribute that was assigned to tracts."""
    if one.unit != TRACT:
        return []
    codes, name = one.entering(), visible(one.name)
    enter = codes >= 0
    tracts = len(np.unique(cohort.tract[enter]))
    pairs = np.unique(np.stack([codes[enter], cohort.tract[enter]]), axis=1)
    alone = int((np.bincount(pairs[0], minlength=1) == 1).sum())
    made = []
    if tracts < _FEW_TRACTS:
        made.append(
            f"{name}: assigned to {tracts} tracts only: chance alone gives large gaps, and no test "
            "can be sharp"
        )
    if alone:
        made.append(
            f"{name}: {alone} of its groups {'are' if alone > 1 else 'is'} a single tract: what is "
            "said of the group is said of that place"
        )
    return made


def _row_counts(cohort: Cohort) -> StageCounts:
    """What became of the rows of the tables."""
    counts = cohort.counts
    outside = counts["not_in_the_split"]
    return StageCounts(
        read=counts["of_the_split"] + outside + counts["repeated"] + counts["without_id"],
        kept=counts["of_the_split"],
        rejected=counts["without_id"],
        duplicates=counts["repeated"],
        out_of_scope=outside,
        rejected_by_reason={"no_id": counts["without_id"]} if counts["without_id"] else {},
        out_of_scope_by_reason={"not_in_split": outside} if outside else {},
    )


def _counts(manifest: Manifest) -> dict[str, int]:
    return {name: int(value) for name, value in manifest.details.items()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
