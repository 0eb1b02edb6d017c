"""Which solved questions of train are shown before the one that is asked.

Drawn once per (seed, draw), so that all items share their beginning. Candidates are stratified by
question type, level and abnormality: each shot differs from those before it in as many of the
three as it can, so that three shots never show three normal valves. An item whose own patient
stands among the shots gets another one in that place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.asking.prompts import Example, Template, prefix_of
from clinqa.asking.source import content_order, kind_of_items
from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.kinds.multiple_choice.choices import LETTERS, solved
from clinqa.models.protocol import Message

__all__ = ["Draw", "draw_shots"]

_STRATUM = ("question_type", "level", "category")
_COLUMNS = ["id", "group", "answer", *_STRATUM]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item of train that may be shown. `order` is its place in the draw, by chance."""

    order: int
    id: str
    group: str
    question_type: str
    level: int | None
    category: str


class Draw:
    """The shots of one draw, and the shared beginning of its prompts."""

    def __init__(
        self,
        template: Template,
        chosen: Sequence[Candidate],
        candidates: Sequence[Candidate],
        examples: dict[str, Example],
    ) -> None:
        self._template, self._chosen, self._candidates = template, chosen, candidates
        self._examples = examples
        self._groups = {candidate.group for candidate in chosen}
        self._others: dict[str, tuple[Message, ...]] = {}
        self.ids = tuple(candidate.id for candidate in chosen)
        self.prefix = self._prefix(chosen)

    def prefix_for(self, group: str) -> tuple[Message, ...]:
        """The beginning of a prompt about this patient, who is never among its shots."""
        if group not in self._groups:
            return self.prefix
        if group not in self._others:
            self._others[group] = self._prefix(self._without(group))
        return self._others[group]

    def _without(self, group: str) -> list[Candidate]:
        shots = list(self._chosen)
        for place, shot in enumerate(shots):
            if shot.group == group:
                rest = [*shots[:place], *shots[place + 1 :]]
                shots[place] = _next(self._candidates, rest, group)
        return shots

    def _prefix(self, shots: Sequence[Candidate]) -> tuple[Message, ...]:
        return prefix_of(self._template, [self._examples[shot.id] for shot in shots])


def draw_shots(
    dataset: Dataset, template: Template, shots: int, seed: int, draws: Sequence[int]
) -> dict[int, Draw]:
    """The shots of each draw, from the train split of the dataset."""
    if not shots:
        return {draw: Draw(template, [], [], {}) for draw in draws}
    candidates = {draw: _candidates(dataset, seed, draw) for draw in draws}
    chosen: dict[int, list[Candidate]] = {draw: [] for draw in draws}
    for draw, found in candidates.items():
        for _ in range(shots):
            chosen[draw].append(_next(found, chosen[draw]))
    wanted = {one.id for found in candidates.values() for one in found}
    examples = _examples(dataset, wanted)
    return {draw: Draw(template, chosen[draw], candidates[draw], examples) for draw in draws}


def _next(
    candidates: Sequence[Candidate], shown: Sequence[Candidate], without: str = ""
) -> Candidate:
    """The candidate least like those shown; of equals the first in the draw's order."""
    groups = {one.group for one in shown}
    types = {one.question_type for one in shown}
    levels = {one.level for one in shown}
    categories = {one.category for one in shown}
    possible = [one for one in candidates if one.group not in groups and one.group != without]
    if not possible:
        raise ConfigError(
            f"--shots {len(shown) + 1}: the train split has too few patients to show so many "
            "without an item's own"
        )
    return min(
        possible,
        key=lambda one: (
            one.question_type in types,
            one.level in levels,
            one.category in categories,
            one.order,
            one.id,
        ),
    )


def _candidates(dataset: Dataset, seed: int, draw: int) -> list[Candidate]:
    """The first item of each stratum in the draw's order, and the first of another patient."""
    best: dict[tuple[object, ...], list[Candidate]] = {}
    for row in _firsts(dataset, f"shots:{seed}:{draw}"):
        kept = best.setdefault((row.question_type, row.level, row.category), [])
        kept.append(row)
        kept.sort(key=lambda one: (one.order, one.id))
        second = next((one for one in kept if one.group != kept[0].group), None)
        kept[1:] = [second] if second is not None else []
    # strata in an order by chance, or the rare ones would go by the hash of their only item
    return [
        Candidate(
            stable_hash(seed, draw, *map(str, stratum), rank),
            one.id, one.group, one.question_type, one.level, one.category,
        )
        for stratum, kept in best.items()
        for rank, one in enumerate(kept)
    ]  # fmt: skip


def _firsts(dataset: Dataset, purpose: str) -> Iterator[Candidate]:
    """Of each row group and stratum the first item, and the first of another patient."""
    kind = kind_of_items(dataset, "train")
    columns = _COLUMNS if kind == Kind.LONG_FORM else ["id", "group", "answer", "category"]
    if kind == Kind.MULTIPLE_CHOICE:
        columns = [*columns, "options", "answer_index"]
    for table in dataset.batches("train", columns):
        if kind != Kind.LONG_FORM:  # shots alternate between True and False, or between letters
            answers = table["answer"] if kind == Kind.TRUE_FALSE else pa.array(_letters(table))
            table = table.append_column("question_type", answers)
            table = table.filter(pc.not_equal(table["question_type"], ""))
            table = table.append_column("level", pa.nulls(table.num_rows, pa.int8()))
        table = table.filter(pc.fill_null(pc.not_equal(pc.utf8_length(table["answer"]), 0), False))
        order = content_order(table["id"], purpose)
        table = table.append_column("order", pa.array(order))
        table = table.select(["order", "id", "group", *_STRATUM]).sort_by("order")
        codes = _codes(table, _STRATUM)
        groups = _codes(table, ["group"])
        first = _first_places(codes)
        of_stratum = dict(zip(codes[first].tolist(), first.tolist(), strict=True))
        leader = np.array([of_stratum[code] for code in codes.tolist()], dtype=np.int64)
        others = np.flatnonzero(groups != groups[leader]) if len(codes) else leader
        second = others[_first_places(codes[others])]
        for row in table.take(pa.array(np.concatenate([first, second]))).to_pylist():
            yield Candidate(
                row["order"],
                row["id"],
                row["group"],
                row["question_type"] or "",
                row["level"],
                row["category"] or "",
            )


def _codes(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """A number for each distinct combination of the columns."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        column = table[name].combine_chunks()
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode(null_encoding="encode")
        indices = np.asarray(column.indices.fill_null(len(column.dictionary)), dtype=np.int64)
        codes = codes * (len(column.dictionary) + 1) + indices
    return codes


def _first_places(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_index=True)[1]


def _examples(dataset: Dataset, ids: set[str]) -> dict[str, Example]:
    """The texts of some items of train."""
    wanted = pa.array(sorted(ids), pa.string())
    found = {}
    columns = ["id", "group", "question", "context", "answer"]
    if kind_of_items(dataset, "train") == Kind.MULTIPLE_CHOICE:
        columns += ["options", "answer_index"]
    for table in dataset.batches("train", columns):
        chosen = table.filter(pc.is_in(table["id"], value_set=wanted))
        for row in chosen.to_pylist():
            question, answer = row["question"], row["answer"].strip()
            if "options" in row:
                options, at = row["options"], row["answer_index"]
                question, answer = solved(row["id"], question, options, at)
            found[row["id"]] = Example(row["group"], question, row["context"] or "", answer)
    return found


def _letters(table: pa.Table) -> list[str]:
    """The letter of the right option of each item as it would be shown; empty if it cannot be."""
    rows = zip(
        *(table[name].to_pylist() for name in ("id", "options", "answer_index")), strict=True
    )
    return [
        solved(name, "", options, at)[1][:1]
        if at is not None and 2 <= len(options or ()) <= len(LETTERS)
        else ""
        for name, options, at in rows
    ]
