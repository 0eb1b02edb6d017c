"""Whether a dataset's tables agree: items and labels, labels and statements, answers and contexts.

A file's hash says that nobody touched it since; this says that what stands in it makes sense. One
pass over each table, a row group at a time; of every label 16 bytes stay in memory. Strings are
compared by hashes of 64 bits that hold within this process only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bools, Ints, UInt64s
from clinqa.core.problems import Findings, Problem
from clinqa.core.records import SPLITS, Level, Phase
from clinqa.kinds.facets.columns import Checked
from clinqa.kinds.long_form.statements import folded, template_key

__all__ = ["content_problems"]


_LABELS, _STATEMENTS = "labels.parquet", "statements.parquet"
_LABEL_COLUMNS = ("study_id", "group", "abnormality", "level", "method", "phase", "spans")
_ITEM_COLUMNS = (
    *("id", "group", "context", "answer", "category", "source_id", "spans", "method", "level"),
    *("question_type", "statement_seen", "nearest_in_train"),
)
_STATEMENT_COLUMNS = ("text", "count", "studies", "labels")
_FINDING, _UNMENTIONED = "finding", "unmentioned"


def content_problems(checked: Checked, kept: int | None, *, one_context: bool) -> Iterator[Problem]:
    """Everything in which the tables contradict each other or themselves.

    `kept` is the number of studies, where the manifest says it; with `one_context` all items of a
    study have the same context.
    """
    if _LABELS not in checked.readable:
        return  # what that file lacks is said already
    labels = _Labels(checked)
    yield from labels.problems()
    if _STATEMENTS in checked.readable:
        yield from _statement_problems(checked, labels, kept)
    items = _Items(checked, labels, one_context)
    for split in SPLITS:  # train first: the others are compared with it
        for name in checked.splits.get(split, ()):
            yield from items.problems(name, split)
    if all(checked.splits.get(split) for split in SPLITS):
        yield from items.count_problems()


class _Labels:
    """What labels.parquet says, by hash: of the baseline, and of any phase."""

    def __init__(self, checked: Checked) -> None:
        parts = [_label_hashes(table) for table in checked.read(_LABELS, _LABEL_COLUMNS)]
        key, value, every, texts, cited, triples = (
            _together([part[at] for part in parts]) for at in range(6)
        )
        order = np.argsort(key)
        self.keys, self.values = key[order], value[order]
        self.every, self.texts, self.triples = map(np.unique, (every, texts, triples))
        self.cited, self.times = np.unique(cited, return_counts=True)

    def problems(self) -> list[Problem]:
        """A study has one label of each abnormality."""
        twice = int((self.keys[1:] == self.keys[:-1]).sum())
        text = f"{twice} labels of a study and abnormality that has one already"
        return [Problem("labels", _LABELS, text)] if twice else []


def _label_hashes(table: pa.Table) -> tuple[UInt64s, ...]:
    """Of labels that are asked for: which, and what they say; of all: which. Then the texts of
    spans, each once a study, and what a single sentence is read as."""
    level = table["level"].to_numpy()
    key = _hashes(table["study_id"], table["abnormality"])
    joined = _joined(table["spans"])
    value = _hashes(table["level"], table["method"], table["group"], joined)
    asked = _is(table["phase"], Phase.BASELINE.value) & (level != Level.CONFLICT)
    study, text = _by_span(table["study_id"], table["spans"])
    cited = np.unique(np.stack([study, text], 1), axis=0)[:, 1]
    single = asked & (pc.list_value_length(table["spans"]).to_numpy() == 1)
    triple = _hashes(joined, table["abnormality"], table["level"])
    return key[asked], value[asked], key, np.unique(text), cited, np.unique(triple[single])


class _Items:
    """Compares items with labels, contexts and train's statements."""

    def __init__(self, checked: Checked, labels: _Labels, one_context: bool) -> None:
        self._read, self._labels, self._one_context = checked.read, labels, one_context
        self._train: UInt64s = np.empty(0, np.uint64)
        self._findings = 0

    def problems(self, name: str, split: str) -> list[Problem]:
        """What is wrong in one file."""
        found = {
            key: Findings(check, name, what)
            for key, check, what in (
                ("label", "labels", "not the level, answer, method or group of its label, item"),
                ("none", "labels", "no such label, item"),
                ("said", "labels", "asked as not mentioned, and there is a label, item"),
                ("kind", "labels", "a level if and only if something is mentioned, item"),
                ("context", "context", "the deciding sentence does not stand in the context, item"),
                ("study", "context", "another context than the study's other items, item"),
                ("seen", "seen", "statement_seen is not what train says, item"),
                (
                    "near",
                    "seen",
                    "nearest_in_train is no likeness, or not that of a statement in "
                    "train or in none, item",
                ),
            )
        }
        for table in self._read(name, _ITEM_COLUMNS):
            ids = table["id"]
            for key, wrong in self._wrong(table, split):
                for row in np.flatnonzero(wrong).tolist():
                    found[key].add(str(ids[row].as_py()))
        return [problem for one in found.values() for problem in one.problems()]

    def count_problems(self) -> list[Problem]:
        """Every label that is no contradiction is asked for once."""
        labels = len(self._labels.keys)
        if self._findings == labels:
            return []
        text = f"{self._findings} items of type {_FINDING}, {labels} labels that want one"
        return [Problem("totals", "data and labels.parquet", text)]

    def _wrong(self, table: pa.Table, split: str) -> Iterator[tuple[str, Bools]]:
        silent = table["level"].is_null().to_numpy()
        kind = table["question_type"]
        yield "kind", silent != _is(kind, _UNMENTIONED)
        finding = _is(kind, _FINDING)
        self._findings += int(finding.sum())
        joined = _joined(table["spans"])
        key = _hashes(table["source_id"], table["category"])
        yield "said", silent & _within(key, self._labels.every)
        known = _within(key, self._labels.keys)
        yield "none", ~silent & ~known
        # the answer of a finding is the label's sentences; a canonical one is not in the label
        same = [table["level"], table["method"], table["group"]]
        by_answer, by_spans = _hashes(*same, table["answer"]), _hashes(*same, joined)
        place = np.minimum(
            np.searchsorted(self._labels.keys, key), max(len(self._labels.keys), 1) - 1
        )
        said = self._labels.values[place] if len(self._labels.values) else by_answer
        yield "label", ~silent & known & (np.where(finding, by_answer, by_spans) != said)
        yield "context", _not_in_context(table["context"], table["spans"], joined)
        if self._one_context:
            yield "study", _other_context(table["source_id"], table["context"])
        yield "seen", self._wrongly_seen(table["statement_seen"], joined, silent, split)
        near = table["nearest_in_train"].fill_null(np.nan).to_numpy()
        seen = table["statement_seen"].fill_null(False).to_numpy()
        yield "near", (near < 0) | (near > 1) | (~np.isnan(near) & (silent | (seen != (near == 1))))

    def _wrongly_seen(
        self, seen: pa.ChunkedArray, joined: pa.Array, silent: Bools, split: str
    ) -> Bools:
        text = _template_keys(joined)
        has = pc.greater(pc.binary_length(joined), 0).to_numpy(zero_copy_only=False)
        if split == "train":
            self._train = np.unique(np.concatenate([self._train, text[has]]))
        expected = _within(text, self._train)
        flag = seen.fill_null(False).to_numpy()
        missing = seen.is_null().to_numpy()
        wrong: Bools = (missing != silent) | (~silent & has & (flag != expected))
        return wrong


def _statement_problems(checked: Checked, labels: _Labels, kept: int | None) -> list[Problem]:
    """Each deciding sentence is a statement with that reading, and occurs often enough."""
    texts: list[UInt64s] = []
    studies: list[Ints] = []
    triples: list[UInt64s] = []
    odd = 0
    for table in checked.read(_STATEMENTS, _STATEMENT_COLUMNS):
        count, own = table["count"].to_numpy(), table["studies"].to_numpy()
        odd += int(((own < 1) | (count < own)).sum())
        if kept is not None:
            odd += int((own > kept).sum())
        text = pc.replace_substring(table["text"], "\t", " ")
        texts.append(_hashes(text))
        studies.append(own)
        flat = pc.list_flatten(table["labels"])
        rows = pc.list_parent_indices(table["labels"])
        names = (pc.struct_field(flat, name) for name in ("abnormality", "level"))
        triples.append(np.unique(_hashes(text.take(rows), *names)))
    text, own = _together(texts), np.concatenate(studies or [np.empty(0, np.int64)])
    distinct, place = np.unique(text, return_inverse=True)
    total = np.bincount(place, weights=own, minlength=len(distinct)).astype(np.int64)
    known = _within(labels.cited, distinct)
    at = np.searchsorted(distinct, labels.cited[known])
    unread = ~_within(labels.triples, np.unique(_together(triples)))
    found = (
        (odd, "counts that cannot be: less than one study, or more than were kept"),
        (
            (~_within(labels.texts, distinct)).sum(),
            "sentences that decided a label are no statement",
        ),
        (unread.sum(), "labels are not what their statement is read as"),
        (
            (labels.times[known] > total[at]).sum(),
            "statements decide labels of more studies than they are counted in",
        ),
    )
    return [Problem("statements", _STATEMENTS, f"{int(n)} {what}") for n, what in found if n]


def _hashes(*columns: Any) -> UInt64s:
    """A hash of each row."""
    plain = [_plain(column) for column in columns]
    frame = pl.DataFrame({str(i): pl.from_arrow(column) for i, column in enumerate(plain)})
    return frame.hash_rows(seed=0).to_numpy()


def _template_keys(texts: pa.Array) -> UInt64s:
    """The key of each row's folded statement."""
    coded = texts.dictionary_encode()
    keys = [template_key(folded(text)) for text in coded.dictionary.to_pylist()]
    numbers = np.array([*keys, 0], np.uint64)
    made: UInt64s = numbers[pc.fill_null(coded.indices, len(keys)).to_numpy()]
    return made


def _plain(column: Any) -> Any:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is(column: pa.ChunkedArray, value: str) -> Bools:
    mask: Bools = pc.fill_null(pc.equal(column, value), False).to_numpy()
    return mask


def _within(some: UInt64s, ordered: UInt64s) -> Bools:
    if not len(ordered):
        return np.zeros(len(some), bool)
    place = np.minimum(np.searchsorted(ordered, some), len(ordered) - 1)
    found: Bools = ordered[place] == some
    return found


def _together(parts: list[UInt64s]) -> UInt64s:
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _joined(spans: pa.ChunkedArray) -> pa.Array:
    """The texts of each row's spans as one: what an answer of several sentences is."""
    sizes = pc.fill_null(pc.list_value_length(spans), 0).to_numpy()
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
    texts = _plain(pc.struct_field(pc.list_flatten(spans), "text")).fill_null("")
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), texts), " ")


def _by_span(studies: pa.ChunkedArray, spans: pa.ChunkedArray) -> tuple[UInt64s, UInt64s]:
    """A row a span: its study and its text."""
    texts = pc.struct_field(pc.list_flatten(spans), "text")
    return _hashes(studies)[pc.list_parent_indices(spans).to_numpy()], _hashes(texts)


def _not_in_context(contexts: pa.ChunkedArray, spans: pa.ChunkedArray, joined: pa.Array) -> Bools:
    """Rows with a sentence that is not in the context, white space aside; each pair once."""
    context = _encoded(contexts)
    sentence = joined.dictionary_encode()
    codes = context.indices.to_numpy().astype(np.int64) * max(len(sentence.dictionary), 1)
    codes += sentence.indices.to_numpy()
    _, first, pair = np.unique(codes, return_index=True, return_inverse=True)
    folded = [" ".join(text.split()) for text in context.dictionary.to_pylist()]
    at = context.indices.to_numpy()[first].tolist()
    said = _plain(spans).take(pa.array(first)).to_pylist()
    wrong = np.fromiter(
        (
            any(" ".join((span["text"] or "").split()) not in folded[code] for span in own or ())
            for code, own in zip(at, said, strict=True)
        ),
        bool,
        count=len(first),
    )
    return wrong[pair]


def _other_context(studies: pa.ChunkedArray, contexts: pa.ChunkedArray) -> Bools:
    """Rows whose context is not that of their study's first row; a study's rows are adjacent."""
    study = _encoded(studies).indices.to_numpy()
    context = _encoded(contexts).indices.to_numpy()
    _, first, own = np.unique(study, return_index=True, return_inverse=True)
    different: Bools = context[first][own] != context
    return different


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """With a dictionary that holds each value once, so that codes can be compared."""
    if not pa.types.is_dictionary(column.type):
        return _plain(column).dictionary_encode()
    coded = column.unify_dictionaries().combine_chunks()
    values = coded.dictionary.dictionary_encode()
    return pa.DictionaryArray.from_arrays(values.indices.take(coded.indices), values.dictionary)
