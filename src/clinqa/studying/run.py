"""`clinqa study`: from a study file to matrix, tests and picture; every step is done once.

Adapters and runs lie in the folder itself (while it is unfinished, in its partial folder), each a
folder of its own with a manifest: a second call after a kill or Ctrl-C trains and asks only what
is missing, and goes on in the middle of what was begun.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

import clinqa
from clinqa.asking.identity import data_class_of_run
from clinqa.asking.options import PredictOptions
from clinqa.asking.predict import predict
from clinqa.core.manifest import FileRecord, Manifest, identity_of, library_versions, sha256_file
from clinqa.core.outfolder import OutFolder, open_out, writing
from clinqa.core.progress import Progress, silent
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.privacy import is_private
from clinqa.studying.analyse import Result, analyse
from clinqa.studying.answers import read_table, rows_of_run
from clinqa.studying.crossing import arms_of
from clinqa.studying.plan import Plan, Training, plan_of
from clinqa.studying.spec import StudySpec, read_study
from clinqa.studying.write import can_draw, lines_of, write_study

__all__ = ["StudyResult", "check_study", "cross_tables", "run_study"]

VERB = "study"


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What was made. `lines` are for people."""

    counts: Mapping[str, object]
    lines: Sequence[str]
    warnings: list[str] = field(default_factory=list)


def check_study(file: Path) -> StudyResult:
    """What the study would train and ask, and what it will not be able to say."""
    spec = read_study(file)
    plan = plan_of(spec, open_dataset(spec.dataset))
    can_draw()
    return StudyResult(
        {"trainings": sum(one.seed is not None for one in plan.trainings)},
        plan.lines(),
        plan.notes(),
    )


def run_study(
    file: Path,
    out: Path,
    *,
    device: str | None = None,
    threads: int | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> StudyResult:
    """Do everything the study file asks for, or what of it is not done yet."""
    spec = read_study(file)
    dataset = open_dataset(spec.dataset)
    plan = plan_of(spec, dataset)
    can_draw()
    # a model that was itself trained on something stricter hands that on
    data_class = data_class_of_run(dataset, PredictOptions(model=spec.model))
    inputs = [one for one in dataset.manifest.outputs if one.name.startswith("data/")]
    told = {**spec.model_dump(mode="json"), "dataset": dataset.manifest.fingerprint}
    told["specialties"] = list(plan.specialties)
    identity = _identity(told, data_class, inputs)
    with open_out(
        out, identity, fresh=fresh, private=is_private(data_class), resume=True
    ) as folder:
        if folder.done is not None:
            return _already(folder.done, out)
        with writing(folder.path):
            started, clock = _now(), time.monotonic()
            work = _Work(plan, dataset, folder.partial, device, threads, progress)
            tables = work.do()
            table = pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))
            results, rows = _crossed(table, spec, spec.model, folder, is_private(data_class))
            notes = [*plan.notes(), *work.warnings]
            manifest = Manifest(
                verb=VERB,
                data_class=data_class.value,
                identity=identity,
                clinqa=clinqa.__version__,
                command=["clinqa", *sys.argv[1:]],
                configuration={**told, "device": device, "threads": threads},
                seeds={"seed": spec.seed, **{f"training {n}": s for n, s in enumerate(spec.seeds)}},
                inputs=inputs,
                counts={f"questions of {one.arm.name}": one.arm.counts for one in results},
                started=started,
                finished=_now(),
                seconds=round(time.monotonic() - clock, 3),
                versions=library_versions(("numpy", "scipy", "polars", "torch", "transformers")),
                warnings=notes,
                details=_details(results, plan),
            )
            finished = folder.commit(manifest, rows)
    return StudyResult(_counts(finished), lines_of(results), notes)


class _Work:
    """The trainings and runs, one after another."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        partial: Path,
        device: str | None,
        threads: int | None,
        progress: Progress,
    ) -> None:
        self._plan, self._dataset, self._partial = plan, dataset, partial
        self._device, self._threads, self._progress = device, threads, progress
        self.warnings: list[str] = []

    def do(self) -> list[pa.Table]:
        """The answers of every model."""
        items = _items(self._dataset, self._plan.specialties)
        tables = []
        for done, training in enumerate(self._plan.trainings):
            self._progress("models", done, len(self._plan.trainings), note=training.name)
            adapter = self._train(training)
            tables += rows_of_run(self._ask(training, adapter), items, training.asked)
            gc.collect()  # a model holds itself in a circle
        self._progress("models", len(self._plan.trainings), len(self._plan.trainings))
        return tables

    def _train(self, training: Training) -> Path | None:
        if training.seed is None:
            return None
        from clinqa.training.options import TrainOptions
        from clinqa.training.run import train

        spec = self._plan.spec
        options = TrainOptions(
            model=spec.model,
            preset=spec.preset,
            overrides=spec.overrides,
            seed=training.seed,
            limit=training.limit,
            # another seed takes other items of a specialty, never those of predict's own limit
            sample=training.seed + 1 if training.limit is not None else 0,
            categories=training.categories,
            device=self._device,
            threads=self._threads,
        )
        out = self._partial / "adapters" / training.name
        out.parent.mkdir(mode=0o700, exist_ok=True)
        result = train(self._dataset.folder, out, options, self._progress)
        self.warnings += [f"{training.name}: {one}" for one in result.warnings]
        return out

    def _ask(self, training: Training, adapter: Path | None) -> Path:
        spec = self._plan.spec
        options = PredictOptions(
            model=spec.model,
            adapters=[adapter] if adapter else [],
            orders=spec.orders,
            order_design=spec.order_design,
            constrained=spec.reading == "letters",
            first_token=False,
            max_tokens=spec.max_tokens,
            dtype=spec.dtype,
            limit=spec.test_items,
            categories=self._plan.specialties,
            seed=spec.seed,
            device=self._device,
            threads=self._threads,
        )
        out = self._partial / "runs" / training.name
        out.parent.mkdir(mode=0o700, exist_ok=True)
        result = predict(self._dataset.folder, out, options, self._progress)
        self.warnings += [f"{training.name}: {one}" for one in result.warnings]
        return out


def cross_tables(
    paths: Sequence[Path],
    out: Path,
    *,
    model: str,
    data_class: DataClass,
    seed: int,
    draws: int,
    fresh: bool = False,
) -> StudyResult:
    """Matrix, tests and picture of answers that come from elsewhere."""
    can_draw()
    table = pl.concat([read_table(path) for path in paths])
    inputs = [FileRecord(path.name, sha256_file(path), path.stat().st_size) for path in paths]
    told = {"model": model, "seed": seed, "draws": draws}
    identity = _identity(told, data_class, inputs)
    private = is_private(data_class)
    with open_out(out, identity, fresh=fresh, private=private) as folder:
        if folder.done is not None:
            return _already(folder.done, out)
        with writing(folder.path):
            started, clock = _now(), time.monotonic()
            results, rows = _crossed(table, told, model, folder, private)
            manifest = Manifest(
                verb=f"{VERB} table",
                data_class=data_class.value,
                identity=identity,
                clinqa=clinqa.__version__,
                command=["clinqa", *sys.argv[1:]],
                configuration=told,
                seeds={"seed": seed},
                inputs=inputs,
                counts={f"questions of {one.arm.name}": one.arm.counts for one in results},
                started=started,
                finished=_now(),
                seconds=round(time.monotonic() - clock, 3),
                versions=library_versions(("numpy", "scipy", "polars")),
                details=_details(results, None),
            )
            finished = folder.commit(manifest, rows)
    return StudyResult(_counts(finished), lines_of(results))


def _crossed(
    table: pl.DataFrame,
    told: StudySpec | Mapping[str, Any],
    model: str,
    folder: OutFolder,
    private: bool,
) -> tuple[list[Result], dict[str, int]]:
    given = told.model_dump() if isinstance(told, StudySpec) else told
    arms = arms_of(table, seed=given["seed"], draws=given["draws"])
    results = [analyse(arm, model=model, seed=given["seed"]) for arm in arms]
    return results, write_study(folder.partial, table, results, model=model, private=private)


def _items(dataset: Dataset, specialties: Sequence[str]) -> dict[str, tuple[str, str, int]]:
    """Group, specialty and right option of each question that is asked."""
    wanted, found = set(specialties), {}
    columns = ["id", "group", "category", "answer_index"]
    for table in dataset.batches("test", columns):
        for row in table.to_pylist():
            if row["category"] in wanted:
                found[row["id"]] = (row["group"], row["category"], row["answer_index"])
    return found


def _identity(
    told: Mapping[str, Any], data_class: DataClass, inputs: Sequence[FileRecord]
) -> dict[str, Any]:
    return identity_of(
        {
            **told,
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "data_class": data_class.value,
            "inputs": [record.sha256 for record in inputs],
        }
    )


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


def _already(done: Manifest, out: Path) -> StudyResult:
    lines = [f"already done: {out} holds this study"]
    return StudyResult(_counts(done), lines, list(done.warnings))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
