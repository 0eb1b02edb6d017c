"""clinqa predict: a dataset and a model in, a RUN folder out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import (
    ApiKeyEnv,
    ApiVersion,
    Attestations,
    BaseUrl,
    DryRun,
    Fresh,
    Json,
    MaxCost,
    MaxParallel,
    Out,
    Prices,
    RaisedClass,
    Region,
    Seed,
    Timeout,
)
from clinqa.cli.outcome import Outcome, counted
from clinqa.cli.terminal import Progress, say

__all__ = ["predict"]


class Split(StrEnum):
    """Which part of the dataset is asked."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Vary(StrEnum):
    """What differs between repeats."""

    SAMPLING = "sampling"
    SHOTS = "shots"
    TRAINING_SEED = "training-seed"


class OrderDesign(StrEnum):
    """How several orders of an item's options are drawn."""

    RANDOM = "random"
    CYCLIC = "cyclic"


def predict(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder made by a build.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="M",
            help="baseline:retrieval, baseline:prior, baseline:bag-of-words, embedded:smollm2,"
            " embedded:gemma3-270m, hf:PATH, encoder:DIR, gguf:FILE, openai:NAME, azure:NAME,"
            " anthropic:NAME, bedrock:NAME or scripted:FILE.",
        ),
    ],
    out: Out,
    shots: Annotated[
        int, typer.Option("--shots", min=0, metavar="K", help="Solved questions of train shown.")
    ] = 0,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="R", help="How often each item is asked.")
    ] = 1,
    split: Annotated[Split, typer.Option(help="Which items are asked.")] = Split.TEST,
    vary: Annotated[
        Vary | None,
        typer.Option(
            help="What repeats vary; by default sampling with a temperature, else the shots."
        ),
    ] = None,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.0, metavar="X", help="0: greedy.")
    ] = 0.0,
    top_p: Annotated[
        float, typer.Option("--top-p", min=0.0, max=1.0, metavar="X", help="Nucleus sampling.")
    ] = 1.0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, metavar="N", help="Longest answer.")
    ] = 128,
    stop: Annotated[
        list[str] | None, typer.Option("--stop", metavar="TEXT", help="Ends an answer; repeatable.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="Ask N items by chance, the same ones for every model and seed.",
        ),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="C", help="Ask items of this category; repeatable."),
    ] = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    api_version: ApiVersion = None,
    region: Region = None,
    max_parallel: MaxParallel = 32,
    timeout: Timeout = 120.0,
    prices: Prices = None,
    max_cost: MaxCost = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="DIR", help="Answers kept by content, over all runs."),
    ] = None,
    attestations: Attestations = None,
    adapter: Annotated[
        list[Path] | None,
        typer.Option("--adapter", metavar="DIR", help="A trained adapter; one a repeat."),
    ] = None,
    allow_seen: Annotated[
        bool,
        typer.Option("--allow-seen", help="Ask items that the adapter was trained on; noted."),
    ] = False,
    train_from: Annotated[
        Path | None,
        typer.Option(
            "--train-from",
            metavar="DATASET",
            help="For baselines that learn: another dataset, whose train they learn from.",
        ),
    ] = None,
    constrained: Annotated[
        bool,
        typer.Option(
            "--constrained",
            help="Take the likeliest of True and False, or of the letters, by log-probability;"
            " nothing is written.",
        ),
    ] = False,
    orders: Annotated[
        int | None,
        typer.Option(
            "--orders",
            min=1,
            metavar="K",
            help="Multiple choice: ask each item in K drawn orders of its options.",
        ),
    ] = None,
    order_design: Annotated[
        OrderDesign,
        typer.Option(help="cyclic: rotations, each option once in each place."),
    ] = OrderDesign.RANDOM,
    first_token: Annotated[
        bool | None,
        typer.Option(
            "--first-token/--no-first-token",
            help="Multiple choice: weigh the letters beside what is written; by default if the"
            " model runs here.",
        ),
    ] = None,
    dtype: Annotated[
        str | None, typer.Option("--dtype", metavar="T", help="Of a local model.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="D", help="Of a local model.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, metavar="N", help="Of a local model.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, metavar="N", help="Of a local model.")
    ] = None,
    context_window: Annotated[
        int | None,
        typer.Option(
            "--context-window", min=1, metavar="N", help="A longer prompt is an error, never cut."
        ),
    ] = None,
    data_class: RaisedClass = None,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Of a complete run, ask again what failed."),
    ] = False,
    seed: Seed = 0,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Ask a model every question of a split; resumable item by item."""
    from clinqa.asking.options import PredictOptions
    from clinqa.asking.predict import predict as ask

    options = PredictOptions(
        model=model,
        shots=shots,
        repeats=repeats,
        split=split.value,
        vary=vary.value if vary else None,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        stop=stop or (),
        seed=seed,
        limit=limit,
        categories=category or (),
        data_class=data_class,
        max_cost=max_cost,
        base_url=base_url,
        api_key_env=api_key_env,
        api_version=api_version,
        region=region,
        max_parallel=max_parallel,
        timeout=timeout,
        price_file=prices,
        cache_dir=cache,
        attestations=attestations,
        adapters=adapter or (),
        allow_seen=allow_seen,
        train_from=train_from,
        constrained=constrained,
        orders=orders,
        order_design=order_design.value,
        first_token=first_token,
        dtype=dtype,
        device=device,
        threads=threads,
        batch_size=batch_size,
        context_window=context_window,
        dry_run=dry_run,
        fresh=fresh,
        retry_errors=retry_errors,
    )
    with Progress() as progress:
        result = ask(dataset, out, options, progress, say)
    lines = [*result.lines, *([] if dry_run else counted(result.counts, "run", out))]
    return Outcome("predict", out, result.counts, result.warnings, text="\n".join(lines))
