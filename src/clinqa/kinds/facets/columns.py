"""The facet `columns`: what stands in a dataset's tables, and what `verify` checks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from clinqa.core.manifest import Manifest
from clinqa.core.problems import Problem

__all__ = ["Checked", "Columns"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A dataset as its kind checks it: only of files that can be read to their end.

    `splits` gives the names of the files of each split; `read` the row groups of a file, long
    strings as dictionaries.
    """

    manifest: Manifest
    splits: Mapping[str, Sequence[str]]
    readable: frozenset[str]
    read: Callable[[str, Sequence[str]], Iterator[pa.Table]]

    def items(self, split: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The items of a split, a row group at a time."""
        for name in self.splits.get(split, ()):
            yield from self.read(name, columns)

    def rows(self, name: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows of a file; none where it cannot be read."""
        if name in self.readable:
            for table in self.read(name, columns):
                yield from table.to_pylist()


def _nothing(_: Checked) -> Iterable[Problem]:
    return ()


@dataclass(frozen=True, slots=True)
class Columns:
    """What stands in the tables of a kind, and what must hold of it.

    What holds of every dataset is checked without a word here: hashes, ids, groups, totals.
    """

    items: pa.Schema
    """Of `data/*.parquet`: the columns of all items, then the kind's own."""
    tables: Mapping[str, pa.Schema] = field(default_factory=dict)
    """Files that a dataset of the kind may hold beside its items, by name."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What the kind's own columns mean, for machines (Croissant)."""
    checks: Callable[[Checked], Iterable[Problem]] = _nothing
    """Everything in which items, tables and manifest contradict each other."""
    told: Callable[[Checked], tuple[Mapping[str, Any], str]] | None = None
    """What `verify` says, as values and as a line, of a dataset in which all holds."""
    spans: Mapping[str, str] = field(default_factory=dict)
    """Files (`data` for the items) whose spans must be the source's text, with the column that
    names the source; none where the kind checks them against a table of its own."""
    others: Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]] = lambda row: ()
    """The texts that an item offers beside its answer, each with its name, of a row with the
    columns `read_for_others`."""
    read_for_others: Sequence[str] = ()
    counted: Sequence[str] = ()
    """The stages whose rejects stand in rejects.parquet; empty: all."""
    beside: frozenset[str] = frozenset()
    """Reasons in rejects.parquet that cost a part of a record and count in no stage."""
