"""clinqa build: text in, a dataset folder out. One function a domain."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from clinqa.builders.banks.bank_options import BankTfOptions
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.cli.commands import Out, group
from clinqa.cli.outcome import Outcome, counted, staged

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

    work = partial(build_reports, inputs, out, options)
    return staged("build echo", out, options, work, counted("dataset"))


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

    work = partial(build_references, inputs, out, options)
    return staged("build ecg", out, options, work, counted("dataset"))


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
    from clinqa.builders.banks.truefalse import build_bank_tf

    work = partial(build_bank_tf, banks, out, options)
    return staged("build bank-tf", out, options, work, counted("dataset"))


def specialty(
    banks: Annotated[
        list[str],
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

    work = partial(build_specialty, banks, out, options)
    return staged("build specialty", out, options, work, counted("dataset"))


build = group(
    "build",
    "Make a dataset from clinical text.",
    {"specialty": specialty, "bank-tf": bank_tf, "echo": echo, "ecg": ecg},
)
