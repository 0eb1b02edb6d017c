"""`clinqa study`: from a study file to matrix, tests and picture; every step is done once.

Adapters and runs lie in the folder itself (while it is unfinished, in its partial folder), each a
folder of its own with a manifest: a second call after a kill or Ctrl-C trains and asks only what
is missing, and goes on in the middle of what was begun.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from clinqa.asking.identity import RunSources
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.alike_ids import told_alike
from clinqa.core.finished import RUN, open_finished
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.origin import origin_of
from clinqa.core.records import SPLITS
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.facets.judges import Judges
from clinqa.present.canvas import need_matplotlib
from clinqa.studying.analyse import Result, analyse, arms_of
from clinqa.studying.answers import read_table, rows_of_run
from clinqa.studying.plan import Plan, Training, plan_of
from clinqa.studying.rehearsal import asking_of, rehearse, training_of
from clinqa.studying.spec import read_study
from clinqa.studying.study_options import StudyOptions, TableOptions
from clinqa.studying.write import lines_of, write_study
from clinqa.training.presets import load_preset, resolve
from clinqa.training.train import train

__all__ = ["check_study", "cross_tables", "run_study"]

VERB = "study"
_HOLDS = "this study"


def check_study(file: Path) -> StageResult:
    """What the study would train and ask, and what it will not be able to say.

    Raises whatever a run would raise, but for what hangs on its own options and folder.
    """
    spec = read_study(file)
    dataset = open_dataset(spec.dataset)
    return _rehearsed(plan_of(spec, dataset), dataset, StudyOptions())


def _rehearsed(plan: Plan, dataset: Dataset, options: StudyOptions) -> StageResult:
    checked = _checked(plan)
    rehearse(plan, dataset, options)
    return checked


def _checked(plan: Plan) -> StageResult:
    spec = plan.spec
    resolve(load_preset(spec.preset), spec.model, spec.overrides)  # an error for a key that is none
    need_matplotlib()
    trainings = sum(one.seed is not None for one in plan.trainings)
    return StageResult({"trainings": trainings}, plan.notes(), plan.lines())


def run_study(
    file: Path, out: Path, options: StudyOptions | None = None, progress: Progress = silent
) -> StageResult:
    """Do everything the study file asks for, or what of it is not done yet."""
    options = options or StudyOptions()
    options.check()
    spec = read_study(file)
    dataset = open_dataset(spec.dataset, accept=options.accept_changed)
    plan = plan_of(spec, dataset)
    _checked(plan)
    if options.dry_run:
        # what is worth a warning stands among the lines already
        return replace(_rehearsed(plan, dataset, options), warnings=[])
    inputs = dataset.records(*SPLITS)
    told = {
        **spec.told(),
        "dataset": dataset.manifest.fingerprint,
        "specialties": list(plan.specialties),
        "device": options.device,
        "threads": options.threads,
    }
    asked = PredictOptions(model=spec.model, accept_changed=options.accept_changed)
    sources = RunSources.of(dataset, asked)
    return run_stage(
        Stage(
            verb=VERB,
            holds=_HOLDS,
            out=out,
            options=options,
            # a model that was itself trained on something stricter hands that on
            data_class=sources.data_class(None),
            origin=origin_of(sources.finished),
            reads=sources.finished,
            known=lambda: _known(told, inputs),
            work=partial(_studied, plan, dataset, options, progress),
            told=_counts,
            seeds={"seed": spec.seed, **{f"training {n}": s for n, s in enumerate(spec.seeds)}},
            libraries=("numpy", "scipy", "polars", "torch", "transformers"),
            resume=True,
            keeps=("adapters/*", "runs/*"),
        )
    )


def _studied(
    plan: Plan, dataset: Dataset, options: StudyOptions, progress: Progress, place: Workplace
) -> Made:
    rehearse(plan, dataset, options)
    spec, work = plan.spec, _Work(plan, dataset, place.partial, options, progress)
    table = pl.DataFrame(pl.from_arrow(pa.concat_tables(work.do())))
    arms = arms_of(table, seed=spec.seed, draws=spec.draws)
    results = [analyse(arm, model=spec.model, seed=spec.seed) for arm in arms]
    return _made(table, results, spec.model, place, plan, [*plan.notes(), *work.warnings])


class _Work:
    """The trainings and runs, one after another."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        partial: Path,
        options: StudyOptions,
        progress: Progress,
    ) -> None:
        self._plan, self._dataset, self._partial = plan, dataset, partial
        self._options = options
        self._progress = progress
        self.warnings: list[str] = []

    def do(self) -> list[pa.Table]:
        """The answers of every model."""
        judges: Judges = self._plan.kind.facet("judges")
        assert judges.by_order is not None  # the kind has the ability `orders`
        items = _items(self._dataset, judges)
        tables = []
        for done, training in enumerate(self._plan.trainings):
            self._progress("models", done, len(self._plan.trainings), note=training.name)
            adapter = self._train(training)
            tables += rows_of_run(
                open_finished(self._ask(training, adapter), RUN),
                items,
                judges.by_order,
                training.asked,
            )
            gc.collect()  # a model holds itself in a circle
        self._progress("models", len(self._plan.trainings), len(self._plan.trainings))
        return tables

    def _train(self, training: Training) -> Path | None:
        if training.seed is None:
            return None
        options = training_of(self._plan, training, self._options)
        out = self._partial / "adapters" / training.name
        out.parent.mkdir(mode=0o700, exist_ok=True)
        result = train(self._dataset.folder, out, options, self._progress)
        self.warnings += [f"{training.name}: {one}" for one in result.warnings]
        return out

    def _ask(self, training: Training, adapter: Path | None) -> Path:
        options = asking_of(self._plan, [adapter] if adapter else [], self._options)
        out = self._partial / "runs" / training.name
        out.parent.mkdir(mode=0o700, exist_ok=True)
        result = predict(self._dataset.folder, out, options, self._progress)
        self.warnings += [f"{training.name}: {one}" for one in result.warnings]
        return out


def cross_tables(
    paths: Sequence[Path],
    out: Path,
    options: TableOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Matrix, tests and picture of answers that come from elsewhere."""
    options = options or TableOptions()
    options.check()
    progress("reading", 0)
    need_matplotlib()
    table = pl.concat([read_table(path) for path in paths])
    model = options.model or "models of the table"
    told = {"model": model, "seed": options.seed, "draws": options.draws}

    def crossed(place: Workplace) -> Made:
        arms = arms_of(table, seed=options.seed, draws=options.draws)
        results = [analyse(arm, model=model, seed=options.seed) for arm in arms]
        return _made(table, results, model, place, None, _alike(table))

    return run_stage(
        Stage(
            verb=f"{VERB} table",
            holds=_HOLDS,
            out=out,
            options=options,
            data_class=options.data_class,
            known=lambda: _known(told, [FileRecord.of(path) for path in paths]),
            work=crossed,
            told=_counts,
            seeds={"seed": options.seed},
            libraries=("numpy", "scipy", "polars"),
        )
    )


def _alike(table: pl.DataFrame) -> list[str]:
    """What is to be said of names in tables of answers that are alike."""
    named = {*table["specialty"].unique().to_list(), *table["trained_on"].unique().to_list()}
    return told_alike("", questions=table["item_id"].unique().to_list(), specialties=named)


def _known(told: Mapping[str, Any], inputs: Sequence[FileRecord]) -> Known:
    hashes = [record.sha256 for record in inputs]
    return Known(told, inputs, {"verb": VERB, "inputs": hashes}, frozenset({"device"}))


def _made(
    table: pl.DataFrame,
    results: list[Result],
    model: str,
    place: Workplace,
    plan: Plan | None,
    warnings: Sequence[str],
) -> Made:
    return Made(
        counts={f"questions of {one.arm.name}": one.arm.counts for one in results},
        rows=write_study(
            place.partial, table, results, model=model, private=place.private, origin=place.origin
        ),
        warnings=warnings,
        details=_details(results, plan),
        lines=lines_of(results),
    )


def _items(dataset: Dataset, judges: Judges) -> dict[str, Mapping[str, Any]]:
    """What is needed of each question of test to tell a right answer, by its id."""
    columns = ["id", "group", "category", *judges.columns]
    tables = dataset.batches("test", columns)
    return {row["id"]: row for table in tables for row in table.to_pylist()}


def _details(results: Sequence[Result], plan: Plan | None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "arms": [one.arm.name for one in results],
        "cells": sum(len(one.cells) for one in results),
        "tests": sum(len(one.tests) for one in results),
        "notes": {one.arm.name: list(one.notes) for one in results},
    }
    if plan is not None:
        made["trainings"] = sum(one.seed is not None for one in plan.trainings)
        made["models"] = {
            one.name: {"trained_on": one.trained_on, "seed": one.seed, "items": one.items}
            for one in plan.trainings
        }
    return made


def _counts(manifest: Manifest) -> dict[str, object]:
    details = manifest.details
    names = ("trainings", "cells", "tests")
    return {name: details[name] for name in names if name in details}
