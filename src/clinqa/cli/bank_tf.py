"""clinqa build bank-tf: question banks in, pairs of true and false statements on a topic out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import AnswerBase, DryRun, Fresh, Json, Limit, Out, Seed
from clinqa.cli.outcome import Outcome, counted
from clinqa.cli.terminal import Progress
from clinqa.core.records import DataClass

__all__ = ["bank_tf"]


def bank_tf(
    banks: Annotated[
        list[Path],
        typer.Argument(
            metavar="BANK",
            help="MedQA, MedMCQA, MMLU or a table like them: .jsonl, .json, .csv, .tsv, .parquet, "
            ".gz too; or a folder of such.",
        ),
    ],
    out: Out,
    topic: Annotated[
        str, typer.Option("--topic", metavar="T", help="Which questions: ecg.")
    ] = "ecg",
    answer_base: AnswerBase = None,
    data_class: Annotated[
        DataClass, typer.Option("--data-class", help="How far the text may travel.")
    ] = DataClass.PUBLIC,
    seed: Seed = 0,
    limit: Limit = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Question banks to pairs of true and false statements, by their official key."""
    from clinqa.builders.banks.truefalse.options import BankTfOptions
    from clinqa.builders.banks.truefalse.pipeline import build_bank_tf

    options = BankTfOptions(
        topic=topic,
        answer_base=answer_base,
        limit=limit,
        seed=seed,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = build_bank_tf(banks, out, options, progress)
    lines = [*result.lines, *([] if dry_run else counted(result.counts, "dataset", out))]
    return Outcome("build bank-tf", out, result.counts, result.warnings, text="\n".join(lines))
