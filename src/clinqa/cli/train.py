"""clinqa train: a dataset and a model in, an ADAPTER folder out; or an adapter merged."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import DryRun, Fresh, Json, Out, RaisedClass, Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import Progress
from clinqa.core.errors import ConfigError

__all__ = ["train"]


class MergeType(StrEnum):
    """Number format of a merged model."""

    F32 = "float32"
    BF16 = "bfloat16"


def train(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder made by a build.")],
    out: Out,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="embedded:smollm2, hf:FOLDER or gguf:FILE."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", metavar="P", help="echoqa, ecgquest, smedqa, encoder, or a YAML file."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one key of the preset."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Train on N items, chosen by chance."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            "--category",
            metavar="C",
            help="Train on (and validate by) items of this category only; repeatable.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option("--sample", min=0, metavar="N", help="Which items --limit takes by chance."),
    ] = 0,
    leave_out_long: Annotated[
        bool,
        typer.Option(
            "--leave-out-long", help="Leave out, and count, items over the context window."
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from a checkpoint; an error where there is none."),
    ] = False,
    merge: Annotated[
        Path | None,
        typer.Option("--merge", metavar="ADAPTER", help="Merge this adapter into its model."),
    ] = None,
    merge_dtype: Annotated[
        MergeType, typer.Option(help="Of a merged model; bfloat16 may change answers.")
    ] = MergeType.F32,
    merge_items: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Items of DATASET whose answers show the drift."),
    ] = 100,
    device: Annotated[str | None, typer.Option("--device", metavar="D")] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, metavar="N")] = None,
    data_class: RaisedClass = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Fine-tune a model on a dataset's train split; resumable. Or merge an adapter."""
    from clinqa.training.options import MergeOptions, TrainOptions, TrainResult

    if merge is not None:
        if preset is not None or settings or resume or limit is not None:
            raise ConfigError("--merge goes with none of --preset, --set, --limit and --resume")
        from clinqa.training.merge import merge as merge_adapter

        merging = MergeOptions(
            adapter=merge,
            model=model,
            dtype=merge_dtype.value,
            items=merge_items,
            seed=seed,
            data_class=data_class,
            device=device,
            threads=threads,
            dry_run=dry_run,
            fresh=fresh,
        )
        with Progress() as progress:
            result: TrainResult = merge_adapter(dataset, out, merging, progress)
        return _outcome("train --merge", out, result, dry_run)
    if model is None or preset is None:
        raise ConfigError("a training needs --model and --preset")
    from clinqa.training.run import train as train_model

    options = TrainOptions(
        model=model,
        preset=preset,
        overrides=settings or (),
        seed=seed,
        limit=limit,
        sample=sample,
        categories=category or (),
        leave_out_long=leave_out_long,
        data_class=data_class,
        device=device,
        threads=threads,
        resume=resume,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = train_model(dataset, out, options, progress)
    return _outcome("train", out, result, dry_run)


def _outcome(verb: str, out: Path, result: object, dry_run: bool) -> Outcome:
    from clinqa.training.options import TrainResult

    assert isinstance(result, TrainResult)
    lines = list(result.notes)
    if result.counts and not dry_run:  # of several processes, the first one tells
        lines += [f"{_words(name):<28}{_shown(value):>12}" for name, value in result.counts.items()]
        lines.append(f"result in {out}")
    return Outcome(verb, out, result.counts, result.warnings, text="\n".join(lines))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
