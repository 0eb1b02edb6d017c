"""`clinqa predict`: a dataset and a model in, a RUN folder out, item by item and resumable.

The work of a run goes from the journal to the files in the partial folder, and what it counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from clinqa.asking.ask import Asking, open_journal
from clinqa.asking.budget import Budget, price_of, prices_of
from clinqa.asking.done import Done
from clinqa.asking.identity import (
    VERB,
    Assignment,
    RunSources,
    check_learnt,
    known_of,
)
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompter import Prompter
from clinqa.asking.prompts import load_template
from clinqa.asking.reopen import reopen
from clinqa.asking.repeats import Repeats, check_repeats, plan_repeats
from clinqa.asking.results import PromptKeeper, write_predictions
from clinqa.asking.run_models import Models
from clinqa.asking.shots import draw_shots
from clinqa.asking.source import ItemSource, kind_of_items, train_answers, train_texts
from clinqa.core.errors import PrivacyError, refuse
from clinqa.core.journal import Journal
from clinqa.core.manifest import Manifest
from clinqa.core.origin import origin_of
from clinqa.core.predictions import PREDICTIONS_FILE
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
from clinqa.core.visible import visible
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.facets.baseline import Baseline
from clinqa.kinds.registry import refuse_unused
from clinqa.models.prices import estimate, tokens_of
from clinqa.models.protocol import ModelOptions
from clinqa.models.registry import kind_of, open_model, unused_options

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
    opened = open_dataset(dataset, accept=options.accept_changed)
    kind = kind_of_items(opened, [options.split], "asks", "reads")
    refuse_unused(options, kind)
    sources = RunSources.of(opened, options)
    data_class = sources.data_class(options.data_class)
    told = Assignment(sources, kind, load_template(kind.name), options, data_class)
    warnings: list[str] = []

    def known() -> Known:
        warnings.extend(check_learnt(told))
        return known_of(told)

    reopened = partial(reopen, beside=told.asks.beside)
    return run_stage(
        Stage(
            verb=VERB,
            holds="this run",
            out=out,
            options=options,
            data_class=data_class,
            origin=origin_of(sources.finished),
            reads=sources.finished,
            known=known,
            work=lambda place: answer_all(told, place, warnings, progress, notice),
            told=_counts,
            plan=lambda: _plan(told, out),
            noticed=_of_no_use(options),
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "aiohttp", "torch", "transformers"),
            resume=True,
            sends=True,
            when_done=reopened if options.retry_errors else None,
        )
    )


def _of_no_use(options: PredictOptions) -> list[str]:
    """What was given and changes nothing, said once."""
    given = unused_options(options.model, options)
    return [f"{', '.join(given)}: of no use to {options.model}, and ignored"] if given else []


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
    options, source = told.options, _items_of(told)
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
    return [
        f"would read {part} items of split {options.split} in {told.dataset.folder}",
        f"would ask {options.model} with {options.shots} shots, "
        + (
            f"at most {options.repeats} times each (once where it can only say the same)"
            if options.repeats > 1
            else "once each"
        ),
        *([f"in {forms.total:,} {forms.says}"] if forms else []),
        f"the longest prompt has about {max(tokens, default=0):,} tokens",
        *([str(cost)] if kind_of(options.model).takes_shots else []),
        _destination(told, out),
        f"would write a run ({told.data_class.value}) to {out}",
    ]


def _items_of(told: Assignment) -> ItemSource:
    """The items that are asked; ConfigError where there are none, which says why."""
    source, split = told.source(), f"{told.dataset.folder}: the split {told.options.split}"
    if not source.total:
        categories = ", ".join(map(visible, told.options.categories))
        refuse(
            (not source.in_split, f"{split} holds no items"),
            (source.unaskable, f"{split} holds no items that can be asked"),
            (True, f"{split} holds no items of --category {categories}; `clinqa show` lists them"),
        )
    return source


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
        leave_out=tuple(options.leave_out),
        attestations=options.attestations,
        egress_log=out / "egress.jsonl",  # named, and opened at the first request: there is none
    )
    try:
        with closing(open_model(options.model, given)) as model:
            where = getattr(model, "destination", options.model)
    except PrivacyError as error:
        raise PrivacyError(f"would be refused for privacy: {error}") from error
    return f"would send questions and contexts ({told.data_class.value}) to {where}"


PROMPTS_FILE = "prompts.jsonl"


def answer_all(
    told: Assignment,
    place: Workplace,
    warnings: Sequence[str],
    progress: Progress,
    notice: Callable[[str], None] | None,
) -> Made:
    """Ask what is not answered yet; write predictions and prompts. `warnings` are told first."""
    options, source = told.options, _items_of(told)
    forms = told.forms(source)
    done = Done(told, source, forms.total if forms else source.total)
    done.notes += forms.notes if forms else []
    weighs = told.asks.weighs if options.constrained or told.weighs_beside else None
    with ExitStack() as stack:
        given = _model_options(told, place, notice, done.changed)
        models = Models(options, given, stack, done.facts, weighs.words if weighs else None)
        done.repeats = repeats = plan_repeats(options, models(0))
        draws = draw_shots(
            told.dataset,
            told.template,
            told.asks.shots,
            options.shots,
            options.seed,
            sorted({repeats.draw(repeat) for repeat in range(repeats.run)}),
        )
        done.shots = {str(number): list(draw.ids) for number, draw in draws.items()}
        prompter = Prompter(source, told.asks, told.template, draws, repeats, options.seed, forms)
        journal = stack.enter_context(Journal(place.journal, private=place.private))
        done.journal = journal
        keeper = stack.enter_context(
            PromptKeeper(place.partial / PROMPTS_FILE, private=place.private)
        )
        budget = Budget(price_of(options), options.max_cost)
        earlier = open_journal(journal, budget)
        done.resume(earlier, prompter.total, repeats.note)
        asking = Asking(
            prompter=prompter,
            model=models,
            sampling=options.sampling,
            journal=journal,
            keeper=keeper,
            budget=budget,
            progress=progress,
            chunk=options.chunk,
            patience=max(10, 2 * options.max_parallel),
            context_window=options.context_window,
            answered=earlier.answered,
        )
        asking.run(repeats)
    done.models = models
    done.tally = write_predictions(
        place.journal,
        place.partial / PREDICTIONS_FILE,
        options.model,
        options.shots,
        place.private,
        asking.expected,
        told.kind.facet("reads"),
        forms,
        told.asks.beside,
    )
    done.tally.check(prompter.total)
    return done.made(warnings, None if budget.price is None else round(budget.spent, 6))


def _model_options(
    told: Assignment,
    place: Workplace,
    notice: Callable[[str], None] | None,
    changed: Callable[[str, str], None],
) -> ModelOptions:
    options = told.options
    baseline = told.kind.facet("baseline") if told.kind.has("baseline") else Baseline()
    learnt = told.sources.learnt or told.dataset  # from whose train a baseline learns
    return ModelOptions(
        data_class=told.data_class,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        api_version=options.api_version,
        region=options.region,
        leave_out=tuple(options.leave_out),
        max_parallel=options.max_parallel,
        timeout=options.timeout,
        price_file=options.price_file,
        cache_dir=options.cache_dir,
        attestations=options.attestations,
        egress_log=place.egress,
        notice=notice,
        changed=changed,
        dtype=options.dtype,
        device=options.device,
        batch_size=options.batch_size,
        context_window=options.context_window,
        extra={"threads": str(options.threads)} if options.threads else {},
        baseline=baseline,
        train_answers=train_answers(learnt, baseline),
        train_texts=train_texts(learnt),
    )
