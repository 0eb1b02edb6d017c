"""What a run would read, ask, send and cost; nothing is sent or written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from clinqa.asking.assignment import Assignment
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompter import Prompter
from clinqa.asking.repeats import Repeats
from clinqa.asking.shots import draw_shots
from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.models.prices import Price, PriceList, estimate, load_prices, tokens_of
from clinqa.models.protocol import ModelOptions
from clinqa.models.registry import kind_of, open_model

__all__ = ["dry_run", "price_of"]


def price_of(options: PredictOptions) -> Price | None:
    """The price of the model, as the user's price file has it."""
    prices = _prices(options)
    price = prices.of(options.model) if prices else None
    if price is None and options.max_cost is not None:
        what = f"{options.price_file} has no price of {options.model}" if prices else "no --prices"
        raise ConfigError(f"--max-cost needs to know what {options.model} costs, but {what}")
    return price


def dry_run(told: Assignment, out: Path) -> list[str]:
    """The lines that say it."""
    options, source = told.options, told.source()
    price_of(options)
    # one repeat is counted: the others are as long but for other shots
    draws = draw_shots(
        told.dataset, told.template, told.asks.shots, options.shots, options.seed, [0]
    )
    forms, once = told.forms(source), Repeats(1, 1, "none")
    prompter = Prompter(source, told.asks, told.template, draws, once, options.seed, forms)
    tokens = [tokens_of(asked.prompt) for asked in prompter.prompts(0)]
    cost = estimate(options.model, tokens * options.repeats, options.max_tokens, _prices(options))
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


def _prices(options: PredictOptions) -> PriceList | None:
    return load_prices(options.price_file) if options.price_file else None
