"""`clinqa predict`: a dataset and a model in, a RUN folder out, item by item and resumable."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from clinqa.asking.answering import PREDICTIONS_FILE, answer_all
from clinqa.asking.assignment import Assignment
from clinqa.asking.budget import price_of, prices_of
from clinqa.asking.identity import VERB, check_learnt, data_class_of_run, known_of
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompter import Prompter
from clinqa.asking.prompts import load_template
from clinqa.asking.reopen import reopen
from clinqa.asking.repeats import Repeats, check_repeats
from clinqa.asking.shots import draw_shots
from clinqa.asking.source import kind_of_items
from clinqa.core.errors import PrivacyError
from clinqa.core.manifest import Manifest
from clinqa.core.stage import Known, Progress, Stage, StageResult, run_stage, silent
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.needs import refuse_unused
from clinqa.models.prices import estimate, tokens_of
from clinqa.models.protocol import ModelOptions
from clinqa.models.registry import kind_of, open_model

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
            plan=lambda: _plan(told, out),
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


def _plan(told: Assignment, out: Path) -> list[str]:
    """What a run would read, ask, send and cost; nothing is sent or written."""
    options, source = told.options, told.source()
    price_of(options)
    # one repeat is counted: the others are as long but for other shots
    draws = draw_shots(
        told.dataset, told.template, told.asks.shots, options.shots, options.seed, [0]
    )
    forms, once = told.forms(source), Repeats(1, 1, "none")
    prompter = Prompter(source, told.asks, told.template, draws, once, options.seed, forms)
    tokens = [tokens_of(asked.prompt) for asked in prompter.prompts(0)]
    cost = estimate(options.model, tokens * options.repeats, options.max_tokens, prices_of(options))
    part = (
        f"{source.total:,} of {source.in_split:,}"
        if options.limit or options.categories
        else f"{source.total:,}"
    )
    lines = [
        f"would read {part} items of split {options.split} in {told.dataset.folder}",
        f"would ask {options.model} with {options.shots} shots, "
        + (
            f"at most {options.repeats} times each (once where it can only say the same)"
            if options.repeats > 1
            else "once each"
        ),
        *([f"in {forms.total:,} {forms.says}"] if forms else []),
        f"the longest prompt has about {max(tokens, default=0):,} tokens",
    ]
    if kind_of(options.model).takes_shots:
        lines.append(f"{cost}")
    lines.append(_destination(told, out))
    lines.append(f"would write a run ({told.data_class.value}) to {out}")
    return lines


def _destination(told: Assignment, out: Path) -> str:
    """Where the texts would go, as the model's guard judges it; nothing is sent to find out."""
    options = told.options
    if not kind_of(options.model).remote:
        return "would send nothing anywhere: the model runs on this machine"
    given = ModelOptions(
        data_class=told.data_class,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        api_version=options.api_version,
        region=options.region,
        attestations=options.attestations,
        egress_log=out / "egress.jsonl",  # named, and opened at the first request: there is none
    )
    try:
        with closing(open_model(options.model, given)) as model:
            where = getattr(model, "destination", options.model)
    except PrivacyError as error:
        raise PrivacyError(f"would be refused for privacy: {error}") from error
    return f"would send questions and contexts ({told.data_class.value}) to {where}"
