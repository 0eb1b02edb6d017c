"""The figures of multiple choice as CSV: a row each with its signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, PairedTest
from clinqa.scoring.choice.positions import Positions

__all__ = ["tables_of"]

_SUBSETS = ("order", "options", "position", "category")
_FIGURE = (
    *("run", "model", "shots", "reader", *_SUBSETS, "metric", "value", "low", "high", "n"),
    *("clusters", "signature"),
)
_TEST = (
    *("a", "b", "metric", "difference", "low", "high", "p", "p_holm", "n", "clusters"),
    "signature",
)
_POSITIONS = (
    *("run", "reader", "options", "items", "prompts", "picks", "chi2", "p", "spread"),
    *("spread_by_chance", "spread_p", "signature"),
)


def tables_of(
    figures: Sequence[Figure], tests: Sequence[PairedTest], positions: Sequence[Positions]
) -> dict[str, str]:
    """The tables by file name."""
    by: dict[str, Callable[[Figure], bool]] = {
        "overall.csv": lambda f: not f.subset,
        "by_order.csv": lambda f: "order" in f.subset,
        "by_position.csv": lambda f: "options" in f.subset,
        "by_category.csv": lambda f: "category" in f.subset,
    }
    made = {
        name: csv_text(_FIGURE, [_row(figure) for figure in figures if wanted(figure)])
        for name, wanted in by.items()
    }
    made["tests.csv"] = csv_text(_TEST, [[getattr(t, name) for name in _TEST] for t in tests])
    rows = [{**one.as_json(), "picks": " ".join(map(str, one.test.picks))} for one in positions]
    made["positions.csv"] = csv_text(_POSITIONS, [[row[key] for key in _POSITIONS] for row in rows])
    return made


def _row(figure: Figure) -> list[object]:
    return [
        figure.run, figure.model, figure.shots, figure.signature.split("|")[2],
        *(figure.subset.get(name, "") for name in _SUBSETS),
        figure.metric, figure.value, figure.low, figure.high, figure.n, figure.clusters,
        figure.signature,
    ]  # fmt: skip
