"""clinqa build: text in, a dataset folder out. One function a domain."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.bank_tf import bank_tf
from clinqa.cli.options import (
    ApiKeyEnv,
    Attestations,
    BaseUrl,
    BuildPack,
    Class,
    DryRun,
    Fresh,
    Json,
    Limit,
    MaxParallel,
    Out,
    Seed,
    Timeout,
)
from clinqa.cli.outcome import Outcome, counted
from clinqa.cli.specialty import specialty
from clinqa.cli.terminal import Progress
from clinqa.core.records import DataClass

__all__ = ["build"]

build = typer.Typer(name="build", help="Make a dataset from clinical text.", rich_markup_mode=None)


class Profile(StrEnum):
    """Which reading of the labelling rules."""

    DEFAULT = "default"
    PUBLISHED = "published"
    STRICT = "strict"


class Questions(StrEnum):
    """Which questions are asked."""

    PAPER = "paper"
    FULL = "full"


class Context(StrEnum):
    """How much of the report goes with a question."""

    FINDINGS = "findings"
    SECTION = "section"


class Engine(StrEnum):
    """What scans the sentences; the rows are the same."""

    AUTO = "auto"
    COMPILED = "compiled"
    PYTHON = "python"


@build.callback()
def domains() -> None:
    """Make a dataset from clinical text."""


build.command("specialty")(specialty)
build.command("bank-tf")(bank_tf)


@build.command("echo")
def echo(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT",
            help="Reports: .csv, .csv.gz, .parquet, .jsonl, or a folder of .txt files.",
        ),
    ],
    out: Out,
    profile: Annotated[
        Profile,
        typer.Option(
            help="published: as the EchoQA paper's code read; strict: normal beside a severity is a"
            " conflict."
        ),
    ] = Profile.DEFAULT,
    questions: Annotated[
        Questions,
        typer.Option(
            help="paper: one a study and abnormality; full: adds adequacy, presence, severity and"
            " questions whose right answer is that the report does not say."
        ),
    ] = Questions.PAPER,
    context: Annotated[
        Context,
        typer.Option(help="findings: the study's whole findings; section: the structure's own."),
    ] = Context.FINDINGS,
    text_col: Annotated[
        str | None, typer.Option("--text-col", metavar="NAME", help="Column with the text.")
    ] = None,
    subject_col: Annotated[
        str | None,
        typer.Option("--subject-col", metavar="NAME", help="Column with the patient."),
    ] = None,
    study_col: Annotated[
        str | None, typer.Option("--study-col", metavar="NAME", help="Column with the study id.")
    ] = None,
    sample_subjects: Annotated[
        int | None,
        typer.Option("--sample-subjects", min=1, metavar="N", help="Keep N patients by chance."),
    ] = None,
    unmentioned_share: Annotated[
        float | None,
        typer.Option(
            "--unmentioned-share",
            metavar="X",
            help="With --questions full: share of items whose answer the report does not give,"
            " from 0 to below 1; 0.1 unless given.",
        ),
    ] = None,
    max_chars: Annotated[
        int,
        typer.Option(
            "--max-chars", min=1, metavar="N", help="A longer report is rejected and counted."
        ),
    ] = 2_000_000,
    pack_dir: BuildPack = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="Processes; the rows are the same."),
    ] = None,
    engine: Annotated[Engine, typer.Option(help="compiled needs the extra 'fast'.")] = Engine.AUTO,
    seed: Seed = 0,
    limit: Limit = None,
    data_class: Class = DataClass.RESTRICTED,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Echocardiogram reports to long-form questions."""
    from clinqa.builders.reports.pipeline import BuildOptions, build_reports
    from clinqa.core.errors import ConfigError

    if unmentioned_share is not None and questions != Questions.FULL:
        raise ConfigError("--unmentioned-share goes with --questions full")
    options = BuildOptions(
        profile=profile.value,
        questions=questions.value,
        context=context.value,
        text_col=text_col,
        subject_col=subject_col,
        study_col=study_col,
        sample_subjects=sample_subjects,
        unmentioned_share=0.1 if unmentioned_share is None else unmentioned_share,
        max_chars=max_chars,
        pack_dir=pack_dir,
        workers=workers,
        engine=engine.value,
        seed=seed,
        limit=limit,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = build_reports(inputs, out, options, progress)
    lines = [*result.notes, *([] if dry_run else counted(result.counts, "dataset", out))]
    return Outcome("build echo", out, result.counts, result.warnings, text="\n".join(lines))


class Generator(StrEnum):
    """What writes the statements."""

    RULES = "rules"
    LLM = "llm"


class SplitBy(StrEnum):
    """What is never divided between splits."""

    CLUSTER = "cluster"
    DOCUMENT = "document"


@build.command("ecg")
def ecg(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PDF", help="Reference documents: PDF files, folders, patterns."),
    ],
    out: Out,
    generator: Annotated[
        Generator, typer.Option(help="rules: no model and no key; llm: any model, with --model.")
    ] = Generator.RULES,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="With llm: openai:NAME, embedded:smollm2, ..."),
    ] = None,
    vision_model: Annotated[
        str | None,
        typer.Option(
            "--vision-model",
            metavar="V",
            help="Transcribes pages that have no text: openai:NAME, azure:NAME or scripted:FILE.",
        ),
    ] = None,
    accept_vision: Annotated[
        bool,
        typer.Option("--accept-vision", help="Let in what was read off pictures, unseen."),
    ] = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="The model may reject pairs; it can never let one in."),
    ] = False,
    negation_cap: Annotated[
        float,
        typer.Option(
            "--negation-cap",
            min=0.0,
            max=1.0,
            metavar="X",
            help="Largest share of False statements that only deny the True one.",
        ),
    ] = 0.25,
    split_by: Annotated[
        SplitBy,
        typer.Option(help="cluster: like source texts stay together; document: whole documents."),
    ] = SplitBy.CLUSTER,
    per_page: Annotated[
        int, typer.Option("--per-page", min=1, metavar="N", help="With llm: most items a page.")
    ] = 20,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, metavar="N", help="With llm: longest answer.")
    ] = 2048,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help="Passwords of PDFs, one a line; or the environment's CLINQA_PDF_PASSWORD.",
        ),
    ] = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    max_parallel: MaxParallel = 16,
    timeout: Timeout = 300.0,
    attestations: Attestations = None,
    pack_dir: BuildPack = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="Processes that parse PDFs."),
    ] = None,
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Read the first N pages only.")
    ] = None,
    data_class: Class = DataClass.LICENSED,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Reference PDFs to balanced pairs of true and false statements."""
    from clinqa.builders.references.options import ReferenceOptions
    from clinqa.builders.references.pipeline import build_references

    options = ReferenceOptions(
        generator=generator.value,
        model=model,
        vision_model=vision_model,
        accept_vision=accept_vision,
        judge=judge,
        negation_cap=negation_cap,
        split_by=split_by.value,
        per_page=per_page,
        max_tokens=max_tokens,
        password_file=password_file,
        base_url=base_url,
        api_key_env=api_key_env,
        max_parallel=max_parallel,
        timeout=timeout,
        attestations=attestations,
        pack_dir=pack_dir,
        workers=workers,
        seed=seed,
        limit=limit,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = build_references(inputs, out, options, progress)
    lines = [*result.notes, *([] if dry_run else counted(result.counts, "dataset", out))]
    return Outcome("build ecg", out, result.counts, result.warnings, text="\n".join(lines))
