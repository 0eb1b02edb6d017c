"""`clinqa predict`: a dataset and a model in, a RUN folder out, item by item and resumable."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import clinqa
from clinqa.asking.ask import Asking, open_journal
from clinqa.asking.budget import Budget
from clinqa.asking.dryrun import dry_run, price_of
from clinqa.asking.identity import (
    VERB,
    configuration_of,
    data_class_of_run,
    identity_of_run,
    inputs_of,
    weighs_beside,
)
from clinqa.asking.kept import PromptKeeper
from clinqa.asking.learnt import check_learnt
from clinqa.asking.opened import Models
from clinqa.asking.options import PredictOptions, PredictResult
from clinqa.asking.prompter import Prompter, forms_of
from clinqa.asking.prompts import Template, load_template
from clinqa.asking.reopen import reopen
from clinqa.asking.repeats import Repeats, check_repeats, plan_repeats
from clinqa.asking.results import Tally, write_predictions
from clinqa.asking.shots import draw_shots
from clinqa.asking.source import ItemSource, TrainAnswers, TrainTexts, kind_of_items
from clinqa.core.errors import ClinqaError, ConfigError, ModelError
from clinqa.core.journal import Journal
from clinqa.core.manifest import (
    FileRecord,
    Manifest,
    StageCounts,
    library_versions,
)
from clinqa.core.outfolder import JOURNAL, OutFolder, create_file, open_out, writing
from clinqa.core.progress import Progress, silent
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.facets.asks import Asks
from clinqa.kinds.facets.baseline import Baseline
from clinqa.kinds.registry import ItemKind, can
from clinqa.models.protocol import ModelOptions
from clinqa.privacy import is_private

__all__ = ["predict"]

PREDICTIONS_FILE = "predictions.parquet"
PROMPTS_FILE = "prompts.jsonl"
EGRESS_FILE = "egress.jsonl"


def predict(
    dataset: Path,
    out: Path,
    options: PredictOptions,
    progress: Progress = silent,
    notice: Callable[[str], None] | None = None,
) -> PredictResult:
    """Ask the model every item of the split, or say that it has been done.

    A second call after a kill or an error goes on where the first stopped. `notice` is told why
    nothing moves for a while.
    """
    options.check()
    check_repeats(options)
    opened = open_dataset(dataset)
    kind = kind_of_items(opened, options.split)
    _check_kind(kind, options)
    asks: Asks = kind.facet("asks")
    template = load_template(kind.name)
    data_class = data_class_of_run(opened, options)
    if options.dry_run:
        return PredictResult({}, notes=dry_run(opened, template, options, data_class, out, asks))
    learnt = check_learnt(opened, asks, options, template)
    inputs = inputs_of(opened, options)
    configuration = configuration_of(opened, template, options, kind)
    identity = identity_of_run(configuration, options, data_class, inputs)
    private = is_private(data_class)
    with open_out(out, identity, fresh=options.fresh, private=private, resume=True) as opened_out:
        folder = opened_out
        if options.retry_errors and folder.done is not None:
            with writing(folder.path):
                folder = reopen(folder, PREDICTIONS_FILE, asks.beside)
        if folder.done is not None:
            notes = [f"already done: {out} holds this run"]
            return PredictResult(
                _counts(folder.done), list(folder.done.warnings), notes, already_done=True
            )
        with writing(folder.path):
            run = _Run(opened, kind, template, options, data_class, progress, folder, notice)
            try:
                tally = run.ask()
            except (ClinqaError, KeyboardInterrupt):
                run.leave()
                raise
            run.warnings += learnt
            manifest = run.manifest(tally, identity, configuration, inputs)
            finished = folder.commit(manifest, {PREDICTIONS_FILE: tally.total})
    return PredictResult(_counts(finished), list(finished.warnings), run.notes)


def _check_kind(kind: ItemKind, options: PredictOptions) -> None:
    """ConfigError for what items of this kind do not have."""
    wanted = {
        "constrained": options.constrained,
        "orders": options.orders is not None,
        "first_token": bool(options.first_token),
    }
    for ability, given in wanted.items():
        if given and not kind.has(ability):
            flag = f"--{ability.replace('_', '-')}"
            raise ConfigError(f"{flag} is for {can(ability)} items, not {kind.name}")


class _Run:
    """One run from the journal to the files in the partial folder, with what it counted."""

    def __init__(
        self,
        dataset: Dataset,
        kind: ItemKind,
        template: Template,
        options: PredictOptions,
        data_class: DataClass,
        progress: Progress,
        folder: OutFolder,
        notice: Callable[[str], None] | None,
    ) -> None:
        self._dataset, self._template, self._options = dataset, template, options
        self._kind = kind
        self._asks: Asks = kind.facet("asks")
        self._data_class, self._progress, self._folder = data_class, progress, folder
        self._notice = notice
        self._started, self._clock = _now(), time.monotonic()
        self._journal = folder.partial / JOURNAL
        self._resumed = 0
        self._repeats = Repeats(options.repeats, options.repeats, "none")
        self._shots: dict[str, list[str]] = {}
        self._items = self._in_split = self._unaskable = self._elsewhere = 0
        self._prompts = 0  # of one repeat
        self._facts: list[dict[str, Any]] = []
        self._budget = Budget(price_of(options), options.max_cost)
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def ask(self) -> Tally:
        """Ask what is not answered yet; write predictions and prompts."""
        options, folder = self._options, self._folder
        source = ItemSource(
            self._dataset, self._asks, options.split, options.limit, options.categories
        )
        if not source.total:
            raise ConfigError(f"{self._dataset.folder}: the split {options.split} holds no items")
        self._items, self._in_split = source.total, source.in_split
        self._unaskable, self._elsewhere = source.unaskable, source.elsewhere
        forms = forms_of(self._asks, source, options)
        self._prompts = forms.total if forms else source.total
        self.notes += forms.notes if forms else []
        weighs = options.constrained or weighs_beside(self._kind, options)
        words = self._asks.weighs.words if self._asks.weighs and weighs else None
        with ExitStack() as stack:
            models = Models(options, self._model_options(), stack, self._facts, words)
            self._repeats = repeats = plan_repeats(options, models(0))
            if repeats.note:
                self.notes.append(repeats.note)
            draws = draw_shots(
                self._dataset,
                self._template,
                self._asks.shots,
                options.shots,
                options.seed,
                sorted({repeats.draw(repeat) for repeat in range(repeats.run)}),
            )
            self._shots = {str(number): list(draw.ids) for number, draw in draws.items()}
            prompter = Prompter(
                source, self._asks, self._template, draws, repeats, options.seed, forms
            )
            journal = stack.enter_context(Journal(self._journal, private=folder.private))
            keeper = stack.enter_context(
                PromptKeeper(folder.partial / PROMPTS_FILE, private=folder.private)
            )
            earlier = open_journal(journal, self._budget)
            self._resumed = earlier.answers
            if earlier.damaged:
                self.notes.append(
                    f"{earlier.damaged:,} records of an earlier run are damaged; asked again"
                )
            if self._resumed:
                self.notes.append(
                    f"{self._resumed:,} of {prompter.total:,} answers are from an earlier run"
                )
            asking = Asking(
                prompter=prompter,
                model=models,
                sampling=options.sampling,
                journal=journal,
                keeper=keeper,
                budget=self._budget,
                progress=self._progress,
                chunk=options.chunk,
                patience=max(10, 2 * options.max_parallel),
                context_window=options.context_window,
                answered=earlier.answered,
            )
            asking.run(repeats)
        tally = write_predictions(
            self._journal,
            folder.partial / PREDICTIONS_FILE,
            options.model,
            options.shots,
            folder.private,
            asking.expected,
            self._kind.facet("reads"),
            forms,
            self._asks.beside,
        )
        tally.check(prompter.total)
        if tally.statuses["error"] == tally.total and not set(tally.errors) <= {"context"}:
            raise ModelError(
                f"not one of {tally.total:,} prompts was answered ({_named(tally.errors)})"
            )
        if tally.cached:
            self.notes.append(f"{tally.cached:,} of {tally.total:,} answers came from the cache")
        if not (folder.partial / EGRESS_FILE).exists():  # nothing was sent: an empty list says so
            _touch(folder.partial / EGRESS_FILE, folder.private)
        return tally

    def leave(self) -> None:
        """After an error: keep what was paid for, or leave a folder that any run may take."""
        if not self._journal.exists() or not self._journal.stat().st_size:
            self._folder.abandon()

    def manifest(
        self,
        tally: Tally,
        identity: Mapping[str, Any],
        configuration: Mapping[str, Any],
        inputs: list[FileRecord],
    ) -> Manifest:
        """The manifest, but for outputs."""
        repeats, cannot = self._repeats, self._asks.cannot
        others = {name: n for name, n in tally.statuses.items() if name != "answered" and n}
        # an item is asked in each of its forms
        total = (self._in_split - self._items + self._prompts) * repeats.run
        outside = {
            "limit": (self._in_split - self._elsewhere - self._unaskable - self._items)
            * repeats.run,
            "category": self._elsewhere * repeats.run,
            **({cannot.reason: self._unaskable * repeats.run} if cannot else {}),
        }
        return Manifest(
            verb=VERB,
            data_class=self._data_class.value,
            identity=identity,
            clinqa=clinqa.__version__,
            command=["clinqa", *sys.argv[1:]],
            configuration={
                **configuration,
                "repeats": repeats.run,
                "repeats_asked": repeats.asked,
                "vary": repeats.vary,
            },
            seeds={"seed": self._options.seed},
            inputs=inputs,
            counts={
                "predictions": StageCounts(
                    read=total,
                    kept=tally.statuses["answered"],
                    rejected=sum(others.values()),
                    out_of_scope=sum(outside.values()),
                    rejected_by_reason=others,
                    out_of_scope_by_reason={why: n for why, n in outside.items() if n},
                )
            },
            started=self._started,
            finished=_now(),
            seconds=round(time.monotonic() - self._clock, 3),
            versions=library_versions(("pyarrow", "numpy", "aiohttp", "torch", "transformers")),
            warnings=[*self.warnings, *self._warnings(tally)],
            details={
                "items": self._items,
                "items_in_split": self._in_split,
                **({"prompts": self._prompts} if self._prompts != self._items else {}),
                "statuses": dict(tally.statuses),
                "errors": dict(sorted(tally.errors.items())),
                "input_tokens": tally.input_tokens,
                "output_tokens": tally.output_tokens,
                "model_seconds": round(tally.seconds, 3),
                "cost": None if self._budget.price is None else round(self._budget.spent, 6),
                "resumed": self._resumed,
                "cached": tally.cached,
                "models": self._facts,
                "shots": self._shots,
                "notes": self.notes,
            },
        )

    def _model_options(self) -> ModelOptions:
        options = self._options
        baseline = self._kind.facet("baseline") if self._kind.has("baseline") else Baseline()
        return ModelOptions(
            data_class=self._data_class,
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            api_version=options.api_version,
            region=options.region,
            max_parallel=options.max_parallel,
            timeout=options.timeout,
            price_file=options.price_file,
            cache_dir=options.cache_dir,
            attestations=options.attestations,
            egress_log=self._folder.partial / EGRESS_FILE,
            notice=self._notice,
            dtype=options.dtype,
            device=options.device,
            batch_size=options.batch_size,
            context_window=options.context_window,
            extra={"threads": str(options.threads)} if options.threads else {},
            baseline=baseline,
            train_answers=TrainAnswers(self._learnt(), baseline),
            train_texts=TrainTexts(self._learnt()),
        )

    def _learnt(self) -> Dataset:
        """The dataset whose train a baseline learns from."""
        other = self._options.train_from
        return self._dataset if other is None else open_dataset(other)

    def _warnings(self, tally: Tally) -> list[str]:
        found = []
        if tally.errors:
            found.append(
                f"{tally.statuses['error']:,} of {tally.total:,} prompts ended in an error "
                f"({_named(tally.errors)}); they are counted, not dropped"
            )
        if self._asks.cannot and self._unaskable:
            found.append(f"{self._unaskable:,} items {self._asks.cannot.says}")
        if self._options.constrained and self._asks.weighs and tally.statuses["ambiguous"]:
            found.append(
                f"{self._asks.weighs.says} were equally likely {tally.statuses['ambiguous']:,} "
                "times: half precision rounds small differences away; --dtype float32 keeps them"
            )
        for status in tally.statuses:
            if status not in ("answered", "error") and tally.statuses[status]:
                found.append(f"{tally.statuses[status]:,} of {tally.total:,} answers are {status}")
        return found


def _counts(manifest: Manifest) -> dict[str, int]:
    statuses = manifest.details["statuses"]
    return {
        "items": manifest.details["items"],
        "repeats": manifest.configuration["repeats"],
        "asked": sum(statuses.values()),
        **statuses,
        "input_tokens": manifest.details["input_tokens"],
        "output_tokens": manifest.details["output_tokens"],
    }


def _named(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.items()))


def _touch(path: Path, private: bool) -> None:
    os.close(create_file(path, private=private))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
