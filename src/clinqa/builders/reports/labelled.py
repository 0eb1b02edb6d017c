"""A batch of studies with its labels, and the words that decided them; its rows of `labels`.

The part of a report that goes with a question.

`findings`: the study's text without its ignored sections, and without what was found after an
intervention: levels are those of the baseline, and no question says which half it means. Sections
that follow each other are one slice of the original; where one that is left out lies between, or a
heading with nothing under it, a blank line joins the slices. `section`: of these the sections of
the abnormality's structure, and those in which a deciding statement stands; where the report has
none, all of `findings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Bytes, Int32s, Integers, UInt64s
from clinqa.core.records import Level, Phase
from clinqa.core.schema import SPAN
from clinqa.kinds.long_form.statements import folded, template_key
from clinqa.reading.attribute import Labels
from clinqa.reading.pieces import Pieces
from clinqa.reading.readings import METHODS, Readings
from clinqa.reading.scan_tables import PHASES
from clinqa.reading.studies import Studies

__all__ = [
    "Labelled",
    "Sections",
    "coded",
    "findings_context",
    "labels_table",
    "section_contexts",
    "sections_of",
]

_GAP = "\n\n"
_POST = PHASES.index(Phase.POST)
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections that are not left out; those of study i are `first[i]` to `first[i + 1]`.

    `rows` are number in the report, where the heading begins, where the last statement ends;
    `statement` is each one's first, which tells its structure; `of_piece` is a piece's section, -1
    where it is left out.
    """

    first: list[int]
    rows: list[tuple[int, int, int]]
    statement: Int32s
    of_piece: list[int]


def sections_of(pieces: Pieces, studies: int, *, post: bool = False) -> Sections:
    """The sections in which a batch's statements stand; with `post`, all phases'."""
    kept = np.arange(len(pieces)) if post else np.flatnonzero(pieces.phase != _POST)
    study, section = pieces.study[kept], pieces.section[kept]
    starts = np.ones(len(kept), bool)
    starts[1:] = (study[1:] != study[:-1]) | (section[1:] != section[:-1])
    places = np.flatnonzero(starts)
    begins = kept[places]
    ends = kept[np.append(places[1:], len(kept))[: len(places)] - 1]
    columns = (pieces.section[begins], pieces.head[begins], pieces.end[ends])
    of_piece = np.full(len(pieces), -1)
    of_piece[kept] = np.cumsum(starts) - 1
    return Sections(
        first=np.searchsorted(pieces.study[begins], np.arange(studies + 1)).tolist(),
        rows=list(zip(*(column.tolist() for column in columns), strict=True)),
        statement=pieces.statement[begins],
        of_piece=of_piece.tolist(),
    )


def joined(text: str, chosen: Iterable[tuple[int, int, int]]) -> str:
    """The chosen sections (number, head, end) of a text, in order, as one context."""
    parts: list[str] = []
    start = end = last = -1
    for number, head, stop in chosen:
        if end >= 0 and (number == last + 1 or not _WORD.search(text, end, head)):
            end = stop
        else:
            if end >= 0:
                parts.append(text[start:end])
            start, end = head, stop
        last = number
    if end >= 0:
        parts.append(text[start:end])
    return _GAP.join(parts)


def findings_context(text: str, sections: Sections, study: int) -> str:
    """The findings of one study."""
    return joined(text, sections.rows[sections.first[study] : sections.first[study + 1]])


def section_contexts(
    texts: Sequence[str],
    contexts: Sequence[str],
    sections: Sections,
    structures: Sequence[str],
    asked: Iterable[tuple[int, str, tuple[int, ...]]],
) -> tuple[list[int], list[str]]:
    """For each item its context's number, and the distinct contexts.

    `asked` holds study, structure and the pieces that decided. `structures` are those of the
    sections.
    """
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    made: list[str] = []
    codes: list[int] = []
    for study, structure, pieces in asked:
        places = range(int(sections.first[study]), int(sections.first[study + 1]))
        deciding = {sections.of_piece[piece] for piece in pieces}
        chosen = tuple(p for p in places if structures[p] == structure or p in deciding)
        key = (study, chosen)
        code = numbers.get(key)
        if code is None:
            code = numbers[key] = len(made)
            rows = sections.rows
            made.append(joined(texts[study], [rows[p] for p in chosen]) or contexts[study])
        codes.append(code)
    return codes, made


@dataclass(frozen=True)
class Labelled:
    """What is known of a batch once its statements are read and resolved."""

    studies: Studies
    pieces: Pieces
    labels: Labels
    readings: Readings

    @cached_property
    def texts(self) -> list[str]:
        """The note of each study."""
        texts: list[str] = self.studies.texts.to_pylist()
        return texts

    @cached_property
    def sections(self) -> Sections:
        """The sections of the contexts."""
        return sections_of(self.pieces, len(self.studies))

    @cached_property
    def contexts(self) -> list[str]:
        """The findings of each study."""
        sections = self.sections
        return [findings_context(text, sections, study) for study, text in enumerate(self.texts)]

    @cached_property
    def kept_texts(self) -> list[str]:
        """What stands of each study anywhere in the dataset: contexts, and other phases' words."""
        everything, sections = sections_of(self.pieces, len(self.studies), post=True), self.sections
        texts = list(self.contexts)
        more = np.flatnonzero(np.diff(everything.first) > np.diff(sections.first))
        for study in more.tolist():
            texts[study] = findings_context(self.texts[study], everything, study)
        return texts

    @cached_property
    def decided(self) -> Decided:
        """Which words decided."""
        labels, readings = self.labels, self.readings
        statement = self.pieces.statement[labels.deciding]
        distinct, codes = np.unique(statement, return_inverse=True)
        words = readings.words.texts
        # a column is a tab in a statement and a space in an answer
        texts = [words[number].replace("\t", " ") for number in distinct.tolist()]
        first, size = labels.first[:-1], np.diff(labels.first)
        rows = readings.statements
        answer = codes[first]
        for label in np.flatnonzero((size > 1) & (labels.level != Level.CONFLICT)).tolist():
            several = codes[labels.first[label] : labels.first[label + 1]].tolist()
            answer[label] = len(texts)
            texts.append(" ".join(texts[code] for code in several))
        methods = rows["method"][statement]
        # METHODS rises from curated to read: a label is as good as its weakest statement
        method = np.maximum.reduceat(methods, first) if len(first) else methods
        templates = [folded(text) for text in texts]
        keys = np.array([template_key(one) for one in templates], np.uint64)
        return Decided(
            pa.array(texts, pa.string()),
            codes.astype(np.int32),
            answer.astype(np.int32),
            keys[answer],
            method,
            {int(keys[code]): templates[code] for code in np.unique(answer).tolist()},
        )

    @cached_property
    def spans(self) -> pa.ListArray:
        """The spans of each label; after the last an empty list, for what has none."""
        occurrence = self.labels.deciding
        parts = [
            self.studies.parts.take(pa.array(self.pieces.study[occurrence])),
            pa.nulls(len(occurrence), pa.int32()),
            pa.array(self.pieces.start[occurrence]),
            pa.array(self.pieces.end[occurrence]),
            self.decided.texts.take(pa.array(self.decided.of_deciding)),
        ]
        first = self.labels.first
        offsets = np.append(first, first[-1]).astype(np.int32)
        return pa.ListArray.from_arrays(
            pa.array(offsets), pa.StructArray.from_arrays(parts, fields=list(SPAN))
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """`texts` are sentences as written, unwrapped; `of_deciding` numbers them by row of
    `Labels.deciding`, `answer` by label. `key` says which template decided a label, `templates`
    what stands behind it (`kinds.long_form.statements`)."""

    texts: pa.Array
    of_deciding: Int32s
    answer: Int32s
    key: UInt64s
    method: Bytes
    templates: Mapping[int, str]


def coded(codes: Integers, values: pa.Array | Sequence[str]) -> pa.DictionaryArray:
    """A column that repeats some strings."""
    if not isinstance(values, pa.Array):
        values = pa.array(values, pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values)


def labels_table(batch: Labelled) -> pa.Table:
    """The batch's rows of `labels.parquet`, with `study`."""
    labels, studies, readings = batch.labels, batch.studies, batch.readings
    statement = batch.pieces.statement[labels.deciding[labels.first[:-1]]]
    distinct, section = np.unique(statement, return_inverse=True)
    structures = readings.words.structures
    methods = [method.value for method in METHODS]
    return pa.table(
        {
            "study_id": coded(labels.study, studies.ids),
            "group": coded(labels.study, studies.groups),
            "abnormality": coded(labels.abnormality, readings.abnormalities),
            "level": pa.array(labels.level),
            "method": coded(batch.decided.method, methods),
            "explicit": pa.array(labels.explicit),
            "hedged": pa.array(labels.hedged),
            "phase": coded(labels.phase, [phase.value for phase in PHASES]),
            "section": coded(section, [structures[number] for number in distinct.tolist()]),
            "prosthesis": pa.array(labels.prosthesis),
            "spans": batch.spans.slice(0, len(labels)),
            "study": pa.array(labels.study),
        }
    )
