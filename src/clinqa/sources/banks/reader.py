"""A bank's file as questions, in two passes: what its answers mean, then the questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clinqa.core.errors import SourceError
from clinqa.core.pathnames import refuse_not_utf8
from clinqa.core.records import Reason, Reject
from clinqa.sources.banks.answers import Answers, Survey, plain
from clinqa.sources.banks.bank_item import BankItem, content_id
from clinqa.sources.banks.layout import BankColumns, detect, options_of, split_of, texts_of
from clinqa.sources.banks.records import Record, records, suffix_of
from clinqa.sources.reports.records import BrokenFile

__all__ = ["STAGE", "BankFile", "BankOptions", "bank_files", "open_banks"]

STAGE = "read"
_FEWEST_OPTIONS = 2
_PEEK = 200


@dataclass(frozen=True, slots=True)
class BankOptions:
    """`answer_base` decides where a file's numbers do not; `limit` is over all files together."""

    answer_base: int | None = None
    limit: int | None = None


@dataclass(slots=True)
class BankFile:
    """One file. `counts` tells, after `items` has run, what became of its records."""

    path: Path
    name: str
    layout: BankColumns
    answers: Answers
    records: int
    counts: Counter[str] = field(default_factory=Counter)

    def items(self, most: int | None = None) -> Iterator[BankItem | Reject]:
        """Every record as a question or as a reject; a file that breaks gives one more reject."""
        self.counts.clear()
        try:
            for number, record in records(self.path):
                if most is not None and number > most:
                    return
                made = self._made(number, record)
                self.counts["rejected" if isinstance(made, Reject) else "items"] += 1
                yield made
        except BrokenFile as error:
            self.counts["broken"] += 1
            yield Reject(STAGE, Reason.BROKEN_FILE, self.path.name, detail=str(error))

    def _made(self, number: int, record: Record | None) -> BankItem | Reject:
        if record is None:
            return self._reject(Reason.BROKEN_ROW, number)
        layout = self.layout
        question = layout.value(record, "question")
        if not isinstance(question, str) or not question.strip():
            return self._reject(Reason.NO_QUESTION, number, record)
        options = options_of(record, layout)
        if options is None or len(options) < _FEWEST_OPTIONS:
            return self._reject(Reason.TOO_FEW_OPTIONS, number, record)
        place = self.answers.index(layout.value(record, "answer"), options)
        if place is None:
            return self._reject(Reason.NO_ANSWER, number, record)
        if self._contradicted(record, options, place):
            return self._reject(Reason.CONFLICTING_ANSWER, number, record)
        return BankItem(
            bank=plain(layout.value(record, "bank")) or self.name,
            item_id=plain(layout.value(record, "id")) or content_id(question, options),
            split=split_of(layout.value(record, "split") or self.path.name),
            question=question,
            options=options,
            answer_index=place,
            subject=plain(layout.value(record, "subject")),
            topic=plain(layout.value(record, "topic")),
            specialties=texts_of(layout.value(record, "specialty")),
            row=number,
        )

    def _contradicted(self, record: Record, options: tuple[str, ...], place: int) -> bool:
        """MedQA says its answer twice, by letter and by text: do they agree?"""
        said = self.layout.value(record, "answer_last")
        if not isinstance(said, str) or not said.strip():
            return False
        meant = [i for i, option in enumerate(options) if option.strip() == said.strip()]
        return bool(meant) and place not in meant

    def _reject(self, reason: Reason, number: int, record: Record | None = None) -> Reject:
        own = plain(self.layout.value(record, "id")) if record else ""
        return Reject(STAGE, reason, f"{self.name}:{own}" if own else self.name, row=number)


def open_banks(
    paths: Sequence[Path], options: BankOptions | None = None
) -> tuple[list[BankFile], list[str]]:
    """The files that can be read, and what is wrong with the others; SourceError if none can.

    A folder stands for the files in it, in the order of their names.
    """
    options = options or BankOptions()
    found: list[BankFile] = []
    problems: list[str] = []
    for path in bank_files(paths):
        try:
            found.append(_open(path, options))
        except BrokenFile as error:
            problems.append(f"{path.name} {error}")
    if not found:
        none = "no .jsonl, .json, .csv, .tsv or .parquet file among the inputs"
        raise SourceError(f"no bank can be read: {'; '.join(problems) or none}")
    return found, problems


def bank_files(paths: Sequence[Path]) -> list[Path]:
    """The files these paths stand for: themselves, and those in a folder that can be banks."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [one for one in inside if one == path or (one.is_file() and suffix_of(one))]
    refuse_not_utf8(*files)  # the name of a bank is part of the ids of its questions
    return files


def _open(path: Path, options: BankOptions) -> BankFile:
    """Look at the whole file once: its columns, and what its answers mean."""
    names: dict[str, None] = {}
    layout: BankColumns | None = None
    waiting: list[Record] = []
    survey, total = Survey(), 0
    broken = ""
    try:
        for number, record in records(path):
            total = number
            if record is None:
                continue
            if layout is None:
                names.update(dict.fromkeys(record))
                waiting.append(record)
                if len(waiting) < _PEEK:
                    continue
                layout = detect(names, path.name)
            waiting.append(record)
            _look(survey, layout, waiting)
            waiting.clear()
    except BrokenFile as error:
        broken = str(error)
    if layout is None:
        if not waiting:
            raise BrokenFile(broken or "holds no record")
        layout = detect(names, path.name)
    _look(survey, layout, waiting)
    answers = survey.decide(path.name, options.answer_base)
    return BankFile(path, _name(path, layout), layout, answers, total)


def _look(survey: Survey, layout: BankColumns, waiting: Sequence[Record]) -> None:
    for record in waiting:
        choices = options_of(record, layout)
        if choices:
            told: Any = layout.value(record, "explanation")
            survey.add(layout.value(record, "answer"), choices, told)


def _name(path: Path, layout: BankColumns) -> str:
    """A bank's name: of the published one, of MMLU with its subject, or of the file."""
    stem = re.sub(r"\.(jsonl|json|csv|tsv|parquet)(\.gz)?$", "", path.name, flags=re.I)
    if layout.name == "MMLU" and "subject" not in layout.roles:
        return f"MMLU-{re.sub(r'_(test|val|dev)$', '', stem)}"
    return layout.name if layout.name != "table" else stem
