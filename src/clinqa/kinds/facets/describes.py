"""The facet `describes`: what a dataset holds, as pieces of text that `present` draws.

A piece is a heading, a line, a table or a flow of numbers; nothing here knows of a terminal. What
stands in a description are counts and names; text of a source stands in `quoted` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from clinqa.core.manifest import Manifest
from clinqa.core.origin import made_up, with_origin
from clinqa.core.records import DataClass

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "BarPicture",
    "BarRow",
    "Cell",
    "Describes",
    "Description",
    "FlowPicture",
    "FlowStep",
    "Holding",
    "Listed",
    "Look",
    "Steps",
    "Titled",
    "Worded",
    "added_up",
    "basics",
    "most_first",
    "percent",
    "tallied",
    "tally_of",
    "under",
]

Cell = str | int | None | tuple[str, ...]
"""A text, a count (None: not known), or several lines."""


class Holding(Protocol):
    """A dataset's folder as a kind reads it: `dataset.reader.Dataset` is one."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    @property
    def manifest(self) -> Manifest:
        """What it says of itself."""

    @property
    def data_class(self) -> DataClass:
        """The strictest that anything in the folder names."""

    def files(self, split: str) -> list[str]:
        """The names of a split's Parquet files."""

    def scan(self, name: str) -> pl.LazyFrame:
        """A Parquet file to be asked by polars; ConfigError where the manifest names none."""

    def items(self, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The items of a split; ConfigError where they cannot be read."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Another Parquet file; None where the manifest names none."""


@dataclass(frozen=True, slots=True)
class Titled:
    """The heading of a table, with a remark beside it."""

    title: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Worded:
    """A line, in parts with their look: bold, dim or plain (the empty word)."""

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def dim(cls, text: str) -> Worded:
        """A remark."""
        return cls(((text, "dim"),))


@dataclass(frozen=True, slots=True)
class Listed:
    """A table: names at the left, numbers at the right.

    `total` stands below a rule. `bars` are drawn beside the rows, with `wide` only where there is
    room. With `fit` the counts are shortened until they fit beside names of that many characters.
    `prose` is a last column that may wrap. `looks` are those of cells by row and column, of whole
    rows by row and -1.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    total: Sequence[Cell] | None = None
    bars: Sequence[int] | None = None
    wide: bool = False
    fit: int | None = None
    prose: bool = False
    looks: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One step of a flow: how many there were, and what became of the rest."""

    name: str
    number: int | None
    note: str = ""
    strong: bool = False
    bar: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a flow below each other."""

    steps: Sequence[FlowStep]


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar in parts, each with its key (empty: no legend)."""

    label: str
    parts: tuple[tuple[str, int], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarPicture:
    """A picture of bars, the longest as long as there is room."""

    title: str
    rows: Sequence[BarRow]


class Look(Protocol):
    """How a part of a bar looks: words for the legend, a colour on either ground, a hatch."""

    @property
    def words(self) -> str: ...
    @property
    def colour(self) -> str: ...
    @property
    def dark_colour(self) -> str: ...
    @property
    def hatch(self) -> str: ...


@dataclass(frozen=True, slots=True)
class FlowPicture:
    """A flow of five steps (a, the second with what was left out before it) beside bars (b).

    Parts of bars are shares of `whole`, keyed as `looks` are; what no part fills is `blank`.
    """

    title: str
    steps: Sequence[tuple[str, str, bool]]
    """A name, a number with perhaps a line below it, and whether it is kept."""
    left_out: Sequence[tuple[str, Sequence[str]]]
    splits: Sequence[tuple[str, Sequence[str]]]
    bars_title: str
    bars: Sequence[BarRow]
    whole: int
    looks: Mapping[str, Look]
    blank: str
    noted: str
    """What the numbers beside the bars are."""
    nothing: str
    """What is said where there is no bar."""


@dataclass(frozen=True, slots=True)
class Description:
    """All that `show` says of a folder, or of two."""

    values: Mapping[str, Any]
    """For --json."""
    pieces: Sequence[Titled | Worded | Listed | Steps]
    picture: Callable[[], BarPicture | FlowPicture] | None = None
    quoted: Sequence[str] = ()
    """Lines with text of the source, below everything else."""
    moved: tuple[Sequence[str], Iterable[Sequence[Any]]] = ((), ())
    """Of two: the columns and rows of every difference, for --out."""


@dataclass(frozen=True, slots=True)
class Describes:
    """What a kind says of datasets of its items."""

    show: Callable[[Holding, int, Path | None], Description]
    """Given a dataset, how many examples with text of the source are wanted, and a pack."""
    quotes: str = ""
    """What those examples are; empty where there are none."""
    compare: Callable[[Holding, Holding], Description] | None = None
    """What moves from one build to another of the same source."""


def basics(held: Holding, about: str = "") -> tuple[dict[str, Any], Worded]:
    """What every description begins with: values that all have, and the title."""
    manifest = held.manifest
    values = {
        "folder": str(held.folder),
        "data_class": held.data_class.value,
        **with_origin(manifest.origin),
        "reconciles": not any(counts.problems() for counts in manifest.counts.values()),
        "warnings": [str(text) for text in manifest.warnings],
    }
    made = made_up(manifest.origin).lower()
    told = ", ".join(filter(None, (f"data class {held.data_class.value}", made, about)))
    said = f"  {told}"
    return values, Worded(((str(held.folder), "bold"), (said, "")))


def added_up(reconciles: bool) -> Worded:
    """Whether the sums of all stages hold."""
    return Worded.dim("the stages add up" if reconciles else "THE STAGES DO NOT ADD UP")


def under(title: str, piece: Listed | Steps, note: str = "") -> Iterator[Titled | Listed | Steps]:
    """A table or a flow under its heading."""
    yield Titled(title, note)
    yield piece


def tallied(
    title: str, tally: Mapping[str, int], what: str = "count", whole: int | None = None
) -> Iterator[Titled | Listed | Steps]:
    """A tally under its heading, with shares of `whole` or of its sum; nothing of an empty one."""
    if tally:
        yield from under(title, tally_of(tally, what, whole))


def tally_of(tally: Mapping[str, int], what: str = "count", whole: int | None = None) -> Listed:
    """A tally as a table."""
    total = sum(tally.values()) if whole is None else whole
    rows = [(name, n, percent(n, total)) for name, n in tally.items()]
    return Listed(("", what, "share"), rows)


def most_first(tally: Mapping[str, int]) -> dict[str, int]:
    """The most frequent first, equal ones by name."""
    return dict(sorted(tally.items(), key=lambda pair: (-pair[1], pair[0])))


def percent(part: float | None, whole: float | None = 1.0) -> str:
    """A share in percent: one decimal, and never 0 % or 100 % for what is not.

    >>> percent(1, 3), percent(0, 3), percent(3, 3), percent(1, 100000), percent(1, 0)
    ('33.3%', '0%', '100%', '<0.1%', '–')
    """
    if part is None or not whole:
        return "–"
    share = part / whole
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"
