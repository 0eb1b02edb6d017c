"""Which solved questions of train are shown before the one that is asked.

Drawn once per (seed, draw), so that all items share their beginning. Candidates are stratified by
what their kind tells items apart by (question type, level and abnormality, say): each shot differs
from those before it in as many of these as it can, so that three shots never show three normal
valves. An item whose own patient stands among the shots gets another one in that place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.asking.prompts import SolvedQuestion, Template, prefix_of
from clinqa.asking.source import content_order
from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.asks import Shots
from clinqa.models.protocol import Message

__all__ = ["Draw", "draw_shots"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item of train that may be shown. `order` is its place in the draw, by chance; `apart`
    holds what it is told from others by."""

    order: int
    id: str
    group: str
    apart: tuple[object, ...]


class Draw:
    """The shots of one draw, and the shared beginning of its prompts."""

    def __init__(
        self,
        template: Template,
        chosen: Sequence[Candidate],
        candidates: Sequence[Candidate],
        examples: dict[str, SolvedQuestion],
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
    dataset: Dataset, template: Template, told: Shots, shots: int, seed: int, draws: Sequence[int]
) -> dict[int, Draw]:
    """The shots of each draw, from the train split of the dataset."""
    if not shots:
        return {draw: Draw(template, [], [], {}) for draw in draws}
    candidates = {draw: _candidates(dataset, told, seed, draw) for draw in draws}
    chosen: dict[int, list[Candidate]] = {draw: [] for draw in draws}
    for draw, found in candidates.items():
        for _ in range(shots):
            chosen[draw].append(_next(found, chosen[draw]))
    solved = _solved(dataset, told, {one.id for found in candidates.values() for one in found})
    return {draw: Draw(template, chosen[draw], candidates[draw], solved) for draw in draws}


def _next(
    candidates: Sequence[Candidate], shown: Sequence[Candidate], without: str = ""
) -> Candidate:
    """The candidate least like those shown; of equals the first in the draw's order."""
    groups = {one.group for one in shown}
    seen = [set(values) for values in zip(*(one.apart for one in shown), strict=True)]
    possible = [one for one in candidates if one.group not in groups and one.group != without]
    if not possible:
        raise ConfigError(
            f"--shots {len(shown) + 1}: the train split has too few patients to show so many "
            "without an item's own"
        )

    def known(one: Candidate) -> list[bool]:
        return [value in values for value, values in zip(one.apart, seen, strict=False)]

    return min(possible, key=lambda one: (known(one), one.order, one.id))


def _candidates(dataset: Dataset, told: Shots, seed: int, draw: int) -> list[Candidate]:
    """The first item of each stratum in the draw's order, and the first of another patient."""
    best: dict[tuple[object, ...], list[Candidate]] = {}
    for row in _firsts(dataset, told, f"shots:{seed}:{draw}"):
        kept = best.setdefault(row.apart, [])
        kept.append(row)
        kept.sort(key=lambda one: (one.order, one.id))
        second = next((one for one in kept if one.group != kept[0].group), None)
        kept[1:] = [second] if second is not None else []
    # strata in an order by chance, or the rare ones would go by the hash of their only item
    return [
        replace(one, order=stable_hash(seed, draw, *map(str, stratum), rank))
        for stratum, kept in best.items()
        for rank, one in enumerate(kept)
    ]


def _firsts(dataset: Dataset, told: Shots, purpose: str) -> Iterator[Candidate]:
    """Of each row group and stratum the first item, and the first of another patient."""
    for table in dataset.batches("train", {"id", "group", "answer", *told.columns}):
        table = table.filter(pc.fill_null(pc.not_equal(pc.utf8_length(table["answer"]), 0), False))
        table = told.candidates(table)
        names = table.column_names[2:]
        order = pa.array(content_order(table["id"], purpose))
        rows = pl.DataFrame(table.append_column("order", order)).sort("order")
        others = rows.filter(pl.col("group") != pl.col("group").first().over(names))
        found = pl.concat([_firsts_of(rows, names), _firsts_of(others, names)])
        texts = [rows.schema[name] in (pl.String, pl.Categorical) for name in names]
        for row in found.iter_rows(named=True):
            told_by = zip(map(row.__getitem__, names), texts, strict=True)
            apart = tuple(value or "" if text else value for value, text in told_by)
            yield Candidate(row["order"], row["id"], row["group"], apart)


def _firsts_of(rows: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    return rows.unique(names, keep="first", maintain_order=True)


def _solved(dataset: Dataset, told: Shots, ids: set[str]) -> dict[str, SolvedQuestion]:
    """The texts of some items of train."""
    wanted = pa.array(sorted(ids), pa.string())
    columns = {"id", "group", "question", "context", "answer", *told.columns}
    found = {}
    for table in dataset.batches("train", columns):
        for row in table.filter(pc.is_in(table["id"], value_set=wanted)).to_pylist():
            question, answer = told.solved(row)
            found[row["id"]] = SolvedQuestion(row["group"], question, row["context"] or "", answer)
    return found
