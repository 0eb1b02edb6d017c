"""The facet `measures`: which figures there are of what a kind judged, and how they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clinqa.core.arrays import Bools
from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.stats.comparing import FLIPS
from clinqa.stats.measure import Measure

__all__ = ["EVERY", "Corrects", "FigureTables", "Measured", "Measures", "TestedTogether", "Wording"]

EVERY: Mapping[str, str] = {}
"""The subset of all items."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measures of some of a run's items, each with the name of its subset.

    `mask` is over the run's items (None: all), `by` names the clusters that are drawn again
    (empty: those that runs are compared by).
    """

    measures: Sequence[tuple[Measure, Mapping[str, str]]]
    mask: Bools | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class TestedTogether:
    """Measures by which two runs are compared with one set of flips; see `stats.comparing`."""

    measures: Sequence[Measure]
    flips: int = FLIPS
    both: bool = True
    twofold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a kind is told with. `unit`, `test` and `adjusted` say how intervals and tests stand;
    `flipped` ends the signature of a sign-flip test; `none` is what an answer lacks that is none.
    `label` lays out a line of the terminal from `metric`, `run` and `way`."""

    drawn: str = "clusters"
    unit: str = "cluster"
    test: str = "sign-flip of the summed difference of each cluster ({flips} random flips, or all)"
    adjusted: str = "Holm over the family; other metrics are exploratory and not adjusted"
    clusters: str = "clusters"
    flipped: str = ""
    none: str = "are none"
    label: str = "{metric:<20} {run:<36}"
    missing: str = "not defined: nothing it could be of"
    missing_of_none: str = ""
    interval: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FigureTables:
    """The CSV tables of figures. `wide`: a column a metric, a table for each key of subsets. Else a
    row a figure with the columns `keys` of its subset, tables by file name and key."""

    wide: bool = False
    keys: tuple[str, ...] = ()
    way: str = ""  # the column that names how a run was read
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Corrects:
    """What people's verdicts correct: a share, and the words with which they call it wrong.

    `checked` are columns of the items in which the judged ones must be like the others.
    """

    metric: str
    wrong: frozenset[str]
    right: frozenset[str]
    checked: tuple[str, ...] = ()


def _none(*_: Any) -> Iterable[str]:
    return ()


def _nothing(*_: Any) -> Mapping[str, Any]:
    return {}


def _against(items: SplitItems) -> str:
    return f"{len(items):,} items of {items.many():,} clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The figures of a kind.

    `figures` gives the measures of a judged run, subset by subset; `tests` what two runs are
    compared by, given all runs that are scored, the two, and the primary metric. `primaries` are
    the metrics that may be primary (empty: known when runs are judged); `dangers` those that the
    option of this name puts into the declared family too. By a metric of `alike` two runs are not
    compared where the test of the other metric that it names tells them apart (who answers less
    errs less). `main` tells the figures
    that stand for a run; `lines` are their metrics for the terminal. The rest are a kind's own
    parts of meta, tables and warnings.
    """

    primary: str
    primaries: Sequence[str] = ()
    figures: Callable[[JudgedRun, SplitItems], Iterable[Measured]]
    tests: Callable[
        [Sequence[JudgedRun], SplitItems, JudgedRun, JudgedRun, str], Sequence[TestedTogether]
    ]
    wording: Wording = Wording()
    tables: FigureTables = FigureTables()
    lines: Sequence[str] = ()
    dangers: Sequence[str] = ()
    alike: Mapping[str, str] = field(default_factory=dict)
    main: Callable[[Figure], bool] = lambda _: True
    ways: Sequence[str] = ("",)
    against: Callable[[SplitItems], str] = _against
    about_items: Callable[[SplitItems, Sequence[JudgedRun], Manifest], Mapping[str, Any]] = _nothing
    about_run: Callable[[Sequence[JudgedRun]], Mapping[str, Any]] = _nothing
    about: Callable[[SplitItems, Sequence[JudgedRun], int], Mapping[str, Any]] = _nothing
    more_tables: Callable[[Sequence[JudgedRun], Mapping[str, Any]], Mapping[str, str]] = _nothing
    warns_of_items: Callable[[SplitItems], Iterable[str]] = _none
    warns_of_run: Callable[[Sequence[JudgedRun]], Iterable[str]] = _none
    warns_of_all: Callable[[Sequence[JudgedRun], Manifest, Mapping[str, Any]], Iterable[str]] = (
        _none
    )
    contradicts: Callable[[Sequence[Figure], Sequence[JudgedRun]], Iterable[str]] = _none
    ranked: Sequence[str] = ()
    corrects: Corrects | None = None
    tuning: Sequence[Measure] = ()
