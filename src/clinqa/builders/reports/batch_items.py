"""The items of a batch: what is asked of each study, with answer, context and identity.

Questions on what a report does not mention, without which nobody can measure invention.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clinqa.builders.reports.labelled import Labelled, coded, section_contexts
from clinqa.core.arrays import AnyArray, Bools, Int32s, Ints, UInt64s
from clinqa.core.ids import SEPARATOR, stable_hash, sub_seed
from clinqa.core.records import Level
from clinqa.dataset.itemids import ids_of
from clinqa.kinds.long_form import KIND
from clinqa.kinds.long_form.questions import Questionnaire, QuestionType
from clinqa.packs.loader import Pack
from clinqa.reading.mentions import MentionTable
from clinqa.reading.readings import METHODS

__all__ = ["ItemMaker", "ItemOptions", "unmentioned"]

_RULES = "rules"  # the method of an item that no statement decided
_METHODS = (*(method.value for method in METHODS), _RULES)
_TYPES = tuple(kind.name.lower() for kind in QuestionType)
_CANONICAL = (QuestionType.ADEQUACY, QuestionType.PRESENCE, QuestionType.SEVERITY)


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """Which items: `full` questions, contexts by section, candidates for unmentioned ones."""

    full: bool = False
    by_section: bool = False
    unmentioned: bool = False
    seed: int = 0


@dataclass(slots=True)
class _Rows:
    """A row an item. `label` is its label's row, or the number of labels where it has none;
    `answer` numbers the sentences of the batch first, then the canonical answers."""

    study: AnyArray
    abnormality: AnyArray
    label: AnyArray
    kind: AnyArray
    answer: AnyArray
    draw: UInt64s  # 0: stays in any case

    def sorted(self, more: _Rows) -> _Rows:
        """Both, so that a study's items stay together."""
        one, two = self._columns(), more._columns()
        columns = [np.concatenate(pair) for pair in zip(one, two, strict=True)]
        order = np.lexsort((columns[3], columns[1], columns[0]))
        return _Rows(*(column[order] for column in columns))

    def _columns(self) -> tuple[AnyArray, ...]:
        return self.study, self.abnormality, self.label, self.kind, self.answer, self.draw


class ItemMaker:
    """Makes the items of batches by one pack and one set of options."""

    def __init__(self, pack: Pack, questions: Questionnaire, options: ItemOptions) -> None:
        self._options = options
        self._mentions = MentionTable(pack) if options.unmentioned else None
        self._names = tuple(pack.abnormalities)
        self._structure = [spec.structure for spec in pack.abnormalities.values()]
        flat = [text for row in questions.questions for text in row]
        self._questions = pa.array(flat, pa.string())
        self._question_bytes = [_bytes(text + SEPARATOR) for text in flat]
        answers = {questions.unmentioned}
        answers.update(a for row in questions.answers for each in row for a in each.values())
        self._answers = pa.array(sorted(answers), pa.string())
        number = {text: code for code, text in enumerate(sorted(answers))}
        self._unmentioned = number[questions.unmentioned]
        # by type, abnormality and level from -3 up; -1 where it is not asked
        self._canonical = np.full((len(QuestionType), len(self._names), 7), -1, np.int64)
        for kind, row in enumerate(questions.answers):
            for abnormality, each in enumerate(row):
                for level, text in each.items():
                    if not questions.asks(QuestionType(kind), level):
                        continue
                    self._canonical[kind, abnormality, level - Level.INADEQUATE] = number[text]

    def table(self, batch: Labelled) -> pa.Table:
        """The items, as `writer.BatchTables` wants them."""
        labels, studies, decided = batch.labels, batch.studies, batch.decided
        rows = self._rows(batch)
        silent = rows.label == len(labels)
        padded = np.append(labels.level, np.int8(0))
        keys = np.append(decided.key, np.uint64(0))
        methods = np.append(decided.method, np.uint8(len(METHODS)))
        answers = pa.concat_arrays([decided.texts, self._answers])
        question = rows.kind * len(self._names) + rows.abnormality
        names = sorted(set(self._structure))
        structure = np.array([names.index(name) for name in self._structure])[rows.abnormality]
        columns = {
            "id": self._ids(batch, rows, question, answers, silent),
            "kind": coded(np.zeros(len(silent), np.int32), [KIND.name]),
            "group": coded(rows.study, studies.groups),
            "question": coded(question, self._questions),
            "context": self._contexts(batch, rows),
            "answer": coded(rows.answer, answers),
            "category": coded(rows.abnormality, self._names),
            "source_id": coded(rows.study, studies.ids),
            "spans": batch.spans.take(pa.array(rows.label)),
            "method": coded(methods[rows.label], _METHODS),
            "structure": coded(structure, names),
            "level": pa.array(padded[rows.label], mask=silent),
            "question_type": coded(rows.kind, _TYPES),
            "study": pa.array(rows.study, pa.int32()),
            "statement_key": pa.array(keys[rows.label], mask=silent),
        }
        if self._options.unmentioned:
            columns["draw"] = pa.array(rows.draw, mask=~silent)
        return pa.table(columns)

    def _rows(self, batch: Labelled) -> _Rows:
        labels, base = batch.labels, len(batch.decided.texts)
        asked = np.flatnonzero((labels.phase == 0) & (labels.level != Level.CONFLICT))
        study, abnormality = labels.study[asked], labels.abnormality[asked].astype(np.int64)
        finding = np.full(len(asked), QuestionType.FINDING, np.int64)
        stays = np.zeros(len(asked), np.uint64)
        rows = _Rows(study, abnormality, asked, finding, batch.decided.answer[asked], stays)
        if self._options.full:
            for kind in _CANONICAL:
                answer = self._canonical[kind, abnormality, labels.level[asked] - Level.INADEQUATE]
                here = np.flatnonzero(answer >= 0)
                columns = (study[here], abnormality[here], asked[here])
                kinds = np.full(len(here), kind, np.int64)
                rows = rows.sorted(_Rows(*columns, kinds, base + answer[here], stays[here]))
        if self._options.unmentioned:
            rows = rows.sorted(self._unmentioned_rows(batch, rows))
        return rows

    def _unmentioned_rows(self, batch: Labelled, rows: _Rows) -> _Rows:
        labels, studies = batch.labels, batch.studies
        assert self._mentions is not None
        mentioned = self._mentions.pairs(batch.pieces, batch.readings.words)
        asked = np.bincount(rows.study, minlength=len(studies)) > 0
        study, abnormality, draw = unmentioned(
            studies.ids.to_pylist(),
            self._names,
            [(labels.study, labels.abnormality), mentioned],
            asked,
            self._options.seed,
        )
        none = np.full(len(study), len(labels), np.int64)
        kinds = np.full(len(study), QuestionType.UNMENTIONED, np.int64)
        answer = np.full(len(study), len(batch.decided.texts) + self._unmentioned, np.int64)
        return _Rows(study, abnormality, none, kinds, answer, draw)

    def _contexts(self, batch: Labelled, rows: _Rows) -> pa.DictionaryArray:
        if not self._options.by_section:
            return coded(rows.study, batch.contexts)
        # items without a label have nothing that decided
        first = np.append(batch.labels.first, batch.labels.first[-1]).tolist()
        deciding = batch.labels.deciding.tolist()
        asked = (
            (study, self._structure[code], tuple(deciding[first[label] : first[label + 1]]))
            for study, code, label in zip(
                rows.study.tolist(), rows.abnormality.tolist(), rows.label.tolist(), strict=True
            )
        )
        words = batch.readings.words.structures
        structures = [words[number] for number in batch.sections.statement.tolist()]
        codes, contexts = section_contexts(
            batch.texts, batch.contexts, batch.sections, structures, asked
        )
        return coded(np.array(codes, np.int32), contexts)

    def _ids(
        self,
        batch: Labelled,
        rows: _Rows,
        question: AnyArray,
        answers: pa.Array,
        silent: Bools,
    ) -> pa.Array:
        """`core.ids.item_id` of every item; part and page are those of its first span."""
        ids, parts = batch.studies.ids.to_pylist(), batch.studies.parts.to_pylist()
        after = SEPARATOR * 2
        heads = [
            _bytes(SEPARATOR.join((KIND.name, name, part)) + after)
            for name, part in zip(ids, parts, strict=True)
        ]
        if silent.any():
            heads += [_bytes(SEPARATOR.join((KIND.name, name, "")) + after) for name in ids]
        head = np.where(silent, rows.study + len(ids), rows.study)
        questions = self._question_bytes
        answer_bytes = [_bytes(text) for text in answers.to_pylist()]
        sha256 = hashlib.sha256
        return ids_of(
            [
                sha256(heads[h] + questions[q] + answer_bytes[a]).digest()
                for h, q, a in zip(
                    head.tolist(), question.tolist(), rows.answer.tolist(), strict=True
                )
            ]
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def unmentioned(
    ids: Sequence[str],
    abnormalities: Sequence[str],
    mentioned: Iterable[tuple[AnyArray, AnyArray]],
    asked: Bools,
    seed: int,
) -> tuple[Int32s, Ints, UInt64s]:
    """Study and abnormality of every pair that is not `mentioned`, and a draw for each.

    Those of the lowest draws will stay (`DatasetWriter`, `drawn_share`): a draw hangs on the seed,
    the study and the abnormality alone. Only `asked` studies count.
    """
    free = np.repeat(asked[:, None], len(abnormalities), axis=1)
    for study, abnormality in mentioned:
        free[study, abnormality] = False
    study, abnormality = np.nonzero(free)
    study_hash = np.fromiter(
        (sub_seed(seed, "unmentioned", name) for name in ids), np.uint64, count=len(ids)
    )
    own_hash = np.array([stable_hash("abnormality", name) for name in abnormalities], np.uint64)
    draws = _mixed(study_hash[study] ^ own_hash[abnormality])
    return study.astype(np.int32), abnormality.astype(np.int64), draws


def _mixed(values: UInt64s) -> UInt64s:
    """Splitmix64's last step: every bit of the result hangs on every bit of the value."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
