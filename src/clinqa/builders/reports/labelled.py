"""A batch of studies with its labels, and the words that decided them; its rows of `labels`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from clinqa.builders.reports.context import Sections, findings_context, sections_of
from clinqa.core.arrays import Bytes, Int32s, Integers, UInt64s
from clinqa.core.records import Level
from clinqa.core.schema import SPAN
from clinqa.reading.attribute import Labels
from clinqa.reading.pieces import Pieces
from clinqa.reading.readings import METHODS, Readings, text_key
from clinqa.reading.scan_tables import PHASES
from clinqa.reading.studies import Studies

__all__ = ["Labelled", "coded", "labels_table"]


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
        return _decided(self)

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
    `Labels.deciding`, `answer` by label. `key` says which sentence decided a label."""

    texts: pa.Array
    of_deciding: Int32s
    answer: Int32s
    key: UInt64s
    method: Bytes


def _decided(batch: Labelled) -> Decided:
    labels, readings = batch.labels, batch.readings
    statement = batch.pieces.statement[labels.deciding]
    distinct, codes = np.unique(statement, return_inverse=True)
    words = readings.words.texts
    # a column is a tab in a statement and a space in an answer
    texts = [words[number].replace("\t", " ") for number in distinct.tolist()]
    first, size = labels.first[:-1], np.diff(labels.first)
    rows = readings.statements
    answer, key = codes[first], rows["key"][statement[first]]
    for label in np.flatnonzero((size > 1) & (labels.level != Level.CONFLICT)).tolist():
        several = codes[labels.first[label] : labels.first[label + 1]].tolist()
        answer[label] = len(texts)
        texts.append(" ".join(texts[code] for code in several))
        key[label] = text_key(texts[-1])
    methods = rows["method"][statement]
    # METHODS rises from curated to read: a label is as good as its weakest statement
    method = np.maximum.reduceat(methods, first) if len(first) else methods
    return Decided(
        pa.array(texts, pa.string()), codes.astype(np.int32), answer.astype(np.int32), key, method
    )


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
