"""The facet `shows`: what the page of a kind's scores says, as descriptions.

`present` reads the SCORES folders into one Evaluation and asks the facet for the page; an audit
beside them comes as a finished section that the page puts in its place. A kind without this facet
has a plain page: its figures, their intervals and the tests, from the records all kinds have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from clinqa.core.figures import Figure, PairedTest
from clinqa.core.finished import Finished
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.pages import PageSection, ShownPage

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["GROUPS", "Evaluation", "MetricName", "PageAsked", "ShownRun", "Shows", "run_groups"]

GROUPS: Mapping[str, str] = {
    "biomedical": "Biomedical models",
    "general": "General models",
    "closed": "Closed models",
    "encoder": "Encoders",
    "baseline": "Baselines",
    "": "Group not stated",
}
Subset = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MetricName:
    """A key of `scores.json`, its name on the page and one sentence that says what it is.

    `alone` is the name where nothing else says what is spoken of.
    """

    key: str
    name: str
    meaning: str
    alone: str = ""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One model asked in one way, or an ensemble; `number` stands for it in charts.

    `about` is what the scorer knows of it.
    """

    id: str
    number: int
    label: str
    model: str = ""
    shots: int = 0
    group: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def look(self) -> str:
        """Its colour: that of its group."""
        return f"g-{self.group or 'none'}"

    @property
    def numbered(self) -> str:
        """Its label after its number."""
        return f"{self.number} {self.label}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything a page is made from, and the folders that it stands in; nothing here is text of a
    record but `items`."""

    runs: tuple[ShownRun, ...]
    figures: Mapping[tuple[str, str, Subset], tuple[Figure, ...]]
    tests: tuple[PairedTest, ...]
    dataset: Mapping[str, Any]
    meta: Mapping[str, Any]
    metas: tuple[Mapping[str, Any], ...]
    manifests: tuple[Manifest, ...]
    data_class: str
    items: pa.Table | None
    warnings: tuple[str, ...] = ()
    names: Mapping[str, MetricName] = field(default_factory=dict)
    origin: str = ""
    reads: tuple[Finished, ...] = ()

    def figure(
        self,
        run: str,
        metric: str,
        signature: str | None = None,
        *,
        parts: Collection[str] = (),
        without: str | None = None,
        **subset: str,
    ) -> Figure | None:
        """A figure; with a signature only one computed so, with parts one whose signature has them
        and not `without`."""
        for figure in self.figures.get((run, metric, tuple(sorted(subset.items()))), ()):
            if signature is None or figure.signature == signature:
                there = figure.signature.split("|")
                if without not in there and all(part in there for part in parts):
                    return figure
        return None

    def signatures(self, metric: str) -> list[str]:
        """The ways in which a metric was computed, over all runs and items."""
        found = (self.figures.get((run.id, metric, ()), ()) for run in self.runs)
        return list(dict.fromkeys(figure.signature for figures in found for figure in figures))

    def any_figure(self, metric: str) -> bool:
        """Has any run this figure, over all items?"""
        return any(self.figure(run.id, metric) for run in self.runs)

    def subsets(self, metric: str, key: str) -> list[dict[str, str]]:
        """The subsets of a metric by one of their keys, each once; numbers first, in order."""
        found = {
            subset
            for _, name, subset in self.figures
            if name == metric and any(part == key for part, _ in subset)
        }
        return [dict(subset) for subset in sorted(found, key=_natural)]

    @property
    def declared(self) -> tuple[PairedTest, ...]:
        """The tests that may say something of two runs: adjusted, and so of the declared family.
        Beside one may stand others of the same pair and metric, of another reading, which do not.
        """
        return tuple(test for test in self.tests if test.p_holm is not None)

    @property
    def lower(self) -> Collection[str]:
        """The metrics of the declared tests of which a low figure is the good one."""
        family = self.meta.get("family") or {}
        primary = (str(family["metric"]),) if family.get("lower") else ()
        return (*primary, *map(str, family.get("dangers") or ()))

    def label(self, run: str) -> str:
        """What a run is called; the reference by its own name."""
        return next((one.label for one in self.runs if one.id == run), run)

    def metric_name(self, metric: str) -> str:
        """A metric's name in a table."""
        known = self.names.get(metric)
        return known.name if known else metric.replace("_", " ")

    def metric_alone(self, metric: str) -> str:
        """A metric's name where nothing else says what is spoken of."""
        known = self.names.get(metric)
        if known and known.alone:
            return known.alone
        if metric.startswith("status_"):
            return f"Answers by status: {metric.removeprefix('status_')}"
        name = self.metric_name(metric)
        return name[:1].upper() + name[1:]

    def entry(self, part: str, run: str, metric: str) -> Mapping[str, Any]:
        """What a list of the scorer's meta (`missing`, `spreads`) says of a figure."""
        for meta in self.metas:
            for entry in meta.get(part) or ():
                if entry.get("run") == run and entry.get("metric") == metric:
                    return dict(entry)
        return {}

    def reason(self, run: str, metric: str) -> str:
        """Why a figure is missing."""
        return str(self.entry("missing", run, metric).get("reason", "not computed for this run"))

    def data(self) -> dict[str, Any]:
        """Figures and tests as they stand in a page, for programs."""
        return {
            "figures": [f.as_json() for found in self.figures.values() for f in found],
            "tests": [asdict(test) for test in self.tests],
        }


def _natural(subset: Subset) -> list[tuple[str, int, str]]:
    return [(key, int(v) if v.isdigit() else 1 << 30, v) for key, v in subset]


def run_groups(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The looks and names of the groups of models there are, in the order of their runs."""
    return list(dict.fromkeys((run.look, GROUPS[run.group]) for run in evaluation.runs))


@dataclass(frozen=True, slots=True)
class PageAsked:
    """What a page is wanted with: a title of one's own, examples (text of records), its file's
    name, and the section of an audit."""

    title: str = ""
    examples: bool = True
    file: str = "report.html"
    audit: PageSection | None = None


def as_named(evaluation: Evaluation) -> Sequence[ShownRun]:
    """The runs as the scorer has them."""
    return evaluation.runs


@dataclass(frozen=True, slots=True)
class Shows:
    """How scores of a kind are shown.

    `page` makes the page; `named` orders and labels the runs, `names` are the metrics'. `needs`
    are keys of meta (dots between levels) without which scores cannot be shown. `alone` is what to
    say where several SCORES folders are given and a page holds one. `unmarked` is set by the kind
    whose scores did not always say of which kind they are.
    """

    page: Callable[[Evaluation, PageAsked], ShownPage]
    names: Sequence[MetricName] = ()
    named: Callable[[Evaluation], Sequence[ShownRun]] = as_named
    needs: Sequence[str] = ()
    alone: str = ""
    unmarked: bool = False
