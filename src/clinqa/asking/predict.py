"""`clinqa predict`: a dataset and a model in, a RUN folder out, item by item and resumable."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from clinqa.asking.answering import PREDICTIONS_FILE, answer_all
from clinqa.asking.assignment import Assignment
from clinqa.asking.dryrun import dry_run
from clinqa.asking.identity import VERB, data_class_of_run, known_of
from clinqa.asking.learnt import check_learnt
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import load_template
from clinqa.asking.reopen import reopen
from clinqa.asking.repeats import check_repeats
from clinqa.asking.source import kind_of_items
from clinqa.core.manifest import Manifest
from clinqa.core.progress import Progress, silent
from clinqa.core.stage import Known, Stage, StageResult, run_stage
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.needs import refuse_unused

__all__ = ["predict"]


def predict(
    dataset: Path,
    out: Path,
    options: PredictOptions,
    progress: Progress = silent,
    notice: Callable[[str], None] | None = None,
) -> StageResult:
    """Ask the model every item of the split, or say that it has been done.

    A second call after a kill or an error goes on where the first stopped. `notice` is told why
    nothing moves for a while.
    """
    options.check()
    check_repeats(options)
    opened = open_dataset(dataset)
    kind = kind_of_items(opened, options.split)
    refuse_unused(options, kind)
    data_class = data_class_of_run(opened, options)
    told = Assignment(opened, kind, load_template(kind.name), options, data_class)
    warnings: list[str] = []

    def known() -> Known:
        warnings.extend(check_learnt(told))
        return known_of(told)

    reopened = partial(reopen, predictions=PREDICTIONS_FILE, beside=told.asks.beside)
    return run_stage(
        Stage(
            verb=VERB,
            holds="this run",
            out=out,
            options=options,
            data_class=data_class,
            known=known,
            work=lambda place: answer_all(told, place, warnings, progress, notice),
            told=_counts,
            plan=lambda: dry_run(told, out),
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "aiohttp", "torch", "transformers"),
            resume=True,
            sends=True,
            when_done=reopened if options.retry_errors else None,
        )
    )


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
