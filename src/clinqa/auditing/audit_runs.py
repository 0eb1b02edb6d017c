"""`clinqa audit`: a dataset, runs and tables of attributes in, an AUDIT folder out.

audit.json      figures (scores of groups, deviations), gaps beside their nulls, and meta
tables/*.csv    the same for a spreadsheet
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from clinqa.asking.source import kind_of_items
from clinqa.auditing.about import VERB, known_of, lines_of, meta_of, plan_of, tables_of
from clinqa.auditing.answers import Means, check_metrics, judged_means, strata_of
from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.cohort import TRACT, Cohort, read_cohort
from clinqa.auditing.deviations import AuditDraws
from clinqa.auditing.dimensions import Dimension, Excluded, dimensions_of
from clinqa.auditing.engine import audit_means
from clinqa.auditing.gaps import entering, figures_of, gap_pairs_of, gaps_of, overall_figures
from clinqa.auditing.presets import preset_of
from clinqa.auditing.records import MEAN, Gap, Point, points_of
from clinqa.core.arrays import Ints
from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, GapPair, signed
from clinqa.core.finished import SCORES, Finished, change_warnings, open_finished
from clinqa.core.manifest import StageCounts
from clinqa.core.predictions import FinishedRun
from clinqa.core.records import strictest
from clinqa.core.stage import Made, Progress, Stage, StageResult, Workplace, run_stage, silent
from clinqa.core.visible import visible
from clinqa.core.wording import many
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.audited import Audited
from clinqa.kinds.facets.judges import Judges, OpenJudge, SplitItems
from clinqa.kinds.registry import ItemKind
from clinqa.scoring.inputs import ScoringSources, load_items

__all__ = ["AUDIT_FILE", "audit"]

AUDIT_FILE = "audit.json"
_FEW_TRACTS = 20


def audit(
    dataset: Path,
    runs: Sequence[Path],
    out: Path,
    options: AuditOptions,
    progress: Progress = silent,
) -> StageResult:
    """Audit these runs on the dataset they were made on, or say that it has been done."""
    options.check()
    sources = ScoringSources.of(dataset, runs, options.scoring)
    opened_set, opened = sources.dataset, sources.runs
    alike = _alike(opened)
    kind = kind_of_items(opened_set, [opened[0].split], "judges", "audited")
    audited = _audited(kind, options)
    options = replace(options, metrics=options.metrics or (audited.metric,))
    check_metrics(options.metrics, audited)
    judges: Judges = kind.facet("judges")
    judge = judges.open(opened_set.folder, opened_set.manifest, opened, options.scoring)
    kept = None
    if options.scores is not None:
        kept = open_finished(options.scores, SCORES, accept=options.accept_changed)
    reads = [*sources.finished, *([kept] if kept else [])]
    classes = [one.data_class for one in reads]
    data_class = strictest(classes, options.data_class, read="dataset or runs are", of="them")
    items = load_items(opened_set, opened[0].split, judges, options.limit)
    auditing = _Auditing(opened_set, opened, items, judge, audited, options, progress, alike, kept)
    cohort, dimensions, excluded = auditing.cohort, auditing.dimensions, auditing.excluded
    return run_stage(
        Stage(
            verb=VERB,
            holds="this audit",
            out=out,
            options=options,
            data_class=data_class,
            origin=sources.origin,
            reads=reads,
            known=lambda: known_of(sources, options, judge),
            work=auditing.audit,
            told=lambda done: {name: int(value) for name, value in done.details.items()},
            plan=lambda: plan_of(
                items, opened, dimensions, excluded, options, data_class, out, cohort
            ),
            noticed=sources.unfinished,
            foreseen=[*cohort.headlines, *cohort.told],
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "scipy"),
        )
    )


def _audited(kind: ItemKind, options: AuditOptions) -> Audited:
    """How items of this kind are audited; ConfigError where they are not, or not in this way."""
    found: Audited = kind.facet("audited")
    if options.quantiles_over == "tracts" and not found.who.in_tracts:
        raise ConfigError(
            f"--quantiles-over tracts: {found.who.many} of {found.over} are in no tract"
        )
    return found


@dataclass
class _Auditing:
    """One audit: whose the items are and what is known of them, then every figure and gap."""

    dataset: Dataset
    runs: Sequence[FinishedRun]
    items: SplitItems
    judge: OpenJudge
    audited: Audited
    options: AuditOptions
    progress: Progress
    warnings: list[str]
    kept: Finished | None = None  # scores that are not made anew
    figures: list[Figure] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    pairs: list[GapPair] = field(default_factory=list)

    def __post_init__(self) -> None:
        options, who = self.options, self.audited.who
        subjects = np.array(self.items.column(self.audited.subject))
        patients, self.patient = np.unique(subjects, return_inverse=True)
        self.cohort: Cohort = read_cohort(
            patients.tolist(),
            options.groups,
            options.tract_map,
            patient_column=options.patient_column,
            tract_column=options.tract_column,
            missing=options.missing,
            known=options.known,
            who=who,
            preset=None if options.preset is None else preset_of(options.preset),
            only=_named(options),
        )
        self.dimensions, self.excluded = dimensions_of(
            self.cohort,
            np.bincount(self.patient),
            wanted=self._wanted(),
            intersect=options.intersect,
            continuous=options.continuous,
            categorical=options.categorical,
            over=options.quantiles_over,
            least=options.min_patients,
        )
        self.drawing = AuditDraws(
            options.seed, options.draws, options.permutations, who=who.many,
            strata=self.audited.strata,
        )  # fmt: skip

    def _wanted(self) -> Sequence[str]:
        """The dimensions that are named; of a preset all that it found besides."""
        named = self.options.dimensions
        if self.options.preset is None:
            return named
        found = [one.name for one in self.cohort.attributes if one.by_preset]
        return [*found, *named]

    def audit(self, place: Workplace) -> Made:
        """Every figure, gap and point, metric by metric, written."""
        options, runs = self.options, self.runs
        self.warnings += change_warnings(place.accepted)
        means = judged_means(
            runs, self.items, self.judge, self.audited, options.metrics, self.kept,
            self.dataset.manifest.fingerprint, self.progress,
        )  # fmt: skip
        self.warnings += _warnings(
            self.cohort, self.dimensions, self.excluded, runs, means, options
        )
        strata = strata_of(self.items, self.audited.asks)
        told: list[str] = []
        for number, one in enumerate(means):
            self.progress("auditing", number, len(means))
            told += self._audit(one, strata)
        self.progress("auditing", len(means), len(means))
        if not self.gaps:
            raise ConfigError(f"no gap is left to audit: {'; '.join(told)}")
        self.warnings += told
        self._sign(place.mark)
        meta = meta_of(
            self.dataset, self.items, runs, means, self.cohort, self.dimensions, self.excluded,
            self.points, options, self.drawing, self.warnings,
        )  # fmt: skip
        body = {
            "figures": [figure.as_json() for figure in self.figures],
            "gaps": [gap.as_json() for gap in self.gaps],
            "gap_pairs": [pair.as_json() for pair in self.pairs],
            "meta": meta,
        }
        place.write(AUDIT_FILE, json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1))
        for name, text in tables_of(self.figures, self.gaps, meta, self.points, self.pairs).items():
            place.write(f"tables/{name}", text)
        return Made(
            counts={"table_rows": _row_counts(self.cohort)},
            warnings=self.warnings,
            details={
                "runs": len(runs),
                "items": len(self.items),
                "patients": len(self.cohort.patients),
                "dimensions": len(self.dimensions),
                "excluded": len(self.excluded),
                "gaps": len(self.gaps),
            },
            lines=lines_of(meta["dimensions"], meta["excluded"], self.gaps, runs, options.metrics),
        )

    def _sign(self, mark: str) -> None:
        """Say in every signature what the figures stand on that had changed."""
        self.figures = [signed(one, mark) for one in self.figures]
        self.gaps = [signed(one, mark) for one in self.gaps]
        self.pairs = [signed(one, mark) for one in self.pairs]

    def _audit(self, one: Means, strata: Ints) -> list[str]:
        """One metric; and which groups it has too few of."""
        cohort, runs, least = self.cohort, self.runs, self.options.min_patients
        of_patients = one.summed(self.patient, len(cohort.patients)).of_runs()
        entered, withheld = entering(self.dimensions, of_patients, least, cohort.who.many)
        family = f"{many(len(entered), 'dimension')} × {many(len(runs), 'run')}"
        overall = list(overall_figures(of_patients, runs, self.drawing))
        self.figures += overall
        own: list[Gap] = []
        for found in audit_means(one, self.patient, cohort.tract, strata, entered, self.drawing):
            self.figures += figures_of(found, of_patients, runs, self.drawing, least)
            own += gaps_of(found, of_patients, runs, self.drawing, family)
            self.pairs += gap_pairs_of(found, of_patients, runs, self.drawing, len(entered))
        self.gaps += own
        self.points += _points(one, overall, own, entered)
        return withheld


def _alike(runs: Sequence[FinishedRun]) -> list[str]:
    """ConfigError for a run and its copy, which would count twice; other equal answers are told."""
    told: list[str] = []
    first: dict[str, FinishedRun] = {}
    for run in runs:
        one = first.setdefault(run.record.sha256, run)
        if one is run:
            continue
        if one.manifest.identity == run.manifest.identity:
            raise ConfigError(f"{one.name} and {run.name} are copies of one run; give it once")
        told.append(f"{one.name} and {run.name} gave the same answers, byte for byte")
    return told


def _named(options: AuditOptions) -> set[str]:
    """The columns that options name; none unless they or a preset choose among the columns."""
    if not options.dimensions and options.preset is None:
        return set()
    crossed = (name for names in options.intersect for name in names)
    return {*options.dimensions, *options.continuous, *options.categorical, *crossed}


def _points(
    means: Means, overall: Sequence[Figure], gaps: Sequence[Gap], dimensions: Sequence[Dimension]
) -> list[Point]:
    excess = {
        (gap.run, gap.dimension): gap.excess
        for gap in gaps
        if gap.measure == "equality_difference" and gap.excess is not None
    }
    made: list[Point] = []
    for one in dimensions:
        rows = [(f.run, f.value, excess.get((f.run, one.name))) for f in overall]
        made += points_of(means.metric, one.name, rows, lower=means.lower)
    if len(dimensions) > 1:
        rows = []
        for figure in overall:
            known = [excess.get((figure.run, one.name)) for one in dimensions]
            there = [value for value in known if value is not None]
            whole = sum(there) / len(there) if len(there) == len(known) else None
            rows.append((figure.run, figure.value, whole))
        made += points_of(means.metric, MEAN, rows, lower=means.lower)
    return made


def _warnings(
    cohort: Cohort,
    dimensions: Sequence[Dimension],
    excluded: Sequence[Excluded],
    runs: Sequence[FinishedRun],
    means: Sequence[Means],
    options: AuditOptions,
) -> list[str]:
    """What a reader should know before trusting a gap; counts and columns' names only."""
    made = [*cohort.headlines, *cohort.told]
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
