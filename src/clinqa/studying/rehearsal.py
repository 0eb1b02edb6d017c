"""What a study would be refused for, found before the first of its trainings is paid for.

Every training and run is gone through as a dry run, with the options that it will have: the model,
what it needs to be installed, the preset, each specialty's items, the length of each prompt. And
what is known only when a trained model is asked: whether test holds what it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.asking.identity import Assignment, RunSources, check_learnt
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import load_template
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset
from clinqa.models.local.place import place_of
from clinqa.models.trained import seen_among, seen_rows
from clinqa.studying.plan import Plan, Training
from clinqa.studying.study_options import StudyOptions
from clinqa.training.prepare import read_split
from clinqa.training.train import train
from clinqa.training.train_options import TrainOptions

__all__ = ["asking_of", "rehearse", "training_of"]


def training_of(plan: Plan, training: Training, options: StudyOptions) -> TrainOptions:
    """How one of the trainings is done."""
    spec = plan.spec
    assert training.seed is not None
    return TrainOptions(
        model=spec.model,
        preset=spec.preset,
        overrides=spec.overrides,
        seed=training.seed,
        limit=training.limit,
        # another seed takes other items of a specialty, never those of predict's own limit
        sample=training.seed + 1 if training.limit is not None else 0,
        categories=training.categories,
        accept_changed=options.accept_changed,
        device=options.device,
        threads=options.threads,
    )


def asking_of(plan: Plan, adapters: Sequence[Path], options: StudyOptions) -> PredictOptions:
    """How each model is asked."""
    spec = plan.spec
    return PredictOptions(
        model=spec.model,
        adapters=adapters,
        orders=spec.orders,
        order_design=spec.order_design,
        constrained=spec.reading == "letters",
        first_token=False,
        max_tokens=spec.max_tokens,
        dtype=spec.dtype,
        limit=spec.test_items,
        categories=plan.specialties,
        seed=spec.seed,
        accept_changed=options.accept_changed,
        device=options.device,
        threads=options.threads,
    )


def rehearse(plan: Plan, dataset: Dataset, options: StudyOptions) -> None:
    """Raise what `study run` would raise, at once or after hours, as far as it can be known."""
    place_of(plan.spec.model)
    here = Path("study")  # named, and never made
    asked = asking_of(plan, (), options)
    sources = RunSources.of(dataset, asked)
    template = load_template(plan.kind.name)
    told = Assignment(sources, plan.kind, template, asked, sources.data_class(None))
    if plan.spec.untrained:
        check_learnt(told)
    predict(dataset.folder, here, replace(asked, dry_run=True))
    rows = seen_rows((item.id, item.group, item.question, item.context) for item in told.source())
    gone: set[Any] = set()
    for training in plan.trainings:
        if training.seed is None:
            continue
        own = training_of(plan, training, options)
        if (own.categories, own.limit, own.sample) not in gone:  # the seed chooses no items then
            gone.add((own.categories, own.limit, own.sample))
            train(dataset.folder, here, replace(own, dry_run=True))
            _refuse_seen(plan, dataset, own, rows)
    _check_format(asked)


def _refuse_seen(plan: Plan, dataset: Dataset, own: TrainOptions, rows: pa.Table) -> None:
    """What predict would refuse once the model is trained."""
    items = read_split(dataset, "train", plan.kind.facet("trains"), own.limit, own)
    learnt = seen_rows((item.id, item.group, item.question, item.context) for item in items)
    seen = seen_among(learnt, rows)
    if seen.items or seen.groups:
        raise ConfigError(
            f"{dataset.folder}: of the {seen.asked:,} questions of test that would be asked some "
            f"are trained on, too: {seen.items:,} word for word, {seen.groups:,} more by their "
            "group; build it with --drop-leaks, or from banks without them"
        )


def _check_format(asked: PredictOptions) -> None:
    """ConfigError for a format of numbers that the model would be loaded with and is none."""
    from clinqa.models.weights import device_of, dtype_of, import_torch

    torch = import_torch("local", asked.threads)
    dtype_of(torch, device_of(torch, asked.device), asked.dtype)
