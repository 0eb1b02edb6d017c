"""clinqa build: text in, a dataset folder out. One function a domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.truefalse.bank_tf_options import BankTfOptions
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.cli.arguments import Out
from clinqa.cli.commands import group
from clinqa.cli.outcome import Outcome, ended
from clinqa.cli.terminal import ProgressLine

__all__ = ["bank_tf", "build", "ecg", "echo", "specialty"]


def echo(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT",
            help="Reports: .csv, .csv.gz, .parquet, .jsonl, or a folder of .txt files.",
        ),
    ],
    out: Out,
    options: BuildOptions,
) -> Outcome:
    """Echocardiogram reports to long-form questions."""
    from clinqa.builders.reports.pipeline import build_reports

    with ProgressLine() as progress:
        result = build_reports(inputs, out, options, progress)
    return ended("build echo", out, result, options.dry_run, counts_of="dataset")


def ecg(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PDF", help="Reference documents: PDF files, folders, patterns."),
    ],
    out: Out,
    options: ReferenceOptions,
) -> Outcome:
    """Reference PDFs to balanced pairs of true and false statements."""
    from clinqa.builders.references.pipeline import build_references

    with ProgressLine() as progress:
        result = build_references(inputs, out, options, progress)
    return ended("build ecg", out, result, options.dry_run, counts_of="dataset")


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
    options: BankTfOptions,
) -> Outcome:
    """Question banks to pairs of true and false statements, by their official key."""
    from clinqa.builders.banks.truefalse.pipeline import build_bank_tf

    with ProgressLine() as progress:
        result = build_bank_tf(banks, out, options, progress)
    return ended("build bank-tf", out, result, options.dry_run, counts_of="dataset")


def specialty(
    banks: Annotated[
        list[Path],
        typer.Argument(
            metavar="BANK",
            help="MedQA, MedMCQA, MMLU, S-MedQA or a table like them: .jsonl, .json, .csv, .tsv, "
            ".parquet, .gz too; a folder of such; or the word bundled.",
        ),
    ],
    out: Out,
    options: SpecialtyOptions,
) -> Outcome:
    """Question banks to multiple-choice items by clinical specialty."""
    from clinqa.builders.banks.specialty.pipeline import build_specialty

    with ProgressLine() as progress:
        result = build_specialty(banks, out, options, progress)
    return ended("build specialty", out, result, options.dry_run, counts_of="dataset")


build = group(
    "build",
    "Make a dataset from clinical text.",
    {"specialty": specialty, "bank-tf": bank_tf, "echo": echo, "ecg": ecg},
)
