"""Pictures of clinical terms: the overlap of train and test, and what models give the terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from clinqa.core.figures import Figure, PairedTest
from clinqa.kinds.facets.charts import Dot, Dots, HeatMap, Plate
from clinqa.present.drawing import round_span
from clinqa.present.paper import draw_plate

__all__ = ["plot_logprobs", "plot_overlap"]

BASE, ALL = "base", "all"
FEW = 10
"""Differences over fewer groups of questions are drawn as rings."""


def plot_overlap(
    figures: Sequence[Figure], path: Path, *, dark: bool = False, private: bool = False
) -> None:
    """The matrix of `term_overlap`: a row a specialty of train, a column one of test."""
    cells = {(f.subset["train"], f.subset["test"]): f.value for f in figures}
    rows = list(dict.fromkeys(train for train, _ in cells))
    sizes = {f.subset["test"]: f.n for f in figures}
    values = [[cells[row, column] for column in sizes] for row in rows]
    title = "Terms of the test questions that stand in the training questions"
    columns = [f"{column} ({n})" for column, n in sizes.items()]
    own = [[row == column for column in sizes] for row in rows]
    told = "a row a specialty of train"
    chart = HeatMap("overlap", title, rows, columns, values, told, framed=own)
    note = "rows: train; columns: test (distinct terms, the denominator)"
    draw_plate(Plate([chart], note=note), path, dark=dark, private=private)


def plot_logprobs(
    figures: Sequence[Figure],
    tests: Sequence[tuple[str, PairedTest]],
    path: Path,
    *,
    dark: bool = False,
    private: bool = False,
) -> None:
    """Of each adapter the means beside those of the base, and the paired differences."""
    means = {(f.run, f.subset["specialty"]): f.value for f in figures}
    counts = {f.subset["specialty"]: f"{f.n:,} / {f.clusters:,}" for f in figures}
    rows = sorted(counts, key=lambda name: name == ALL)  # the sum of all stands last
    charts = []
    for tuned in dict.fromkeys(test.a for _, test in tests):
        own = {specialty: test for specialty, test in tests if test.a == tuned}
        after = [
            Dot(f"{row}  {counts[row]}", means[tuned, row], chance=means[BASE, row],
                look="g-biomedical")
            for row in rows
        ]  # fmt: skip
        apart = [_difference(row, own[row]) for row in rows]
        charts += [
            _dots(f"{tuned}: mean log-probability of a term (nats)", after),
            _dots(f"{tuned} − base, paired (nats)", apart, 0.0),
        ]
    note = (
        "Clinical terms of one specialty in the gold text (occurrences / groups of questions). "
        f"Bar: base. Line: 95 % interval over groups; ring: fewer than {FEW} of them"
    )
    draw_plate(Plate(charts, note=note), path, dark=dark, private=private)


def _difference(row: str, test: PairedTest) -> Dot:
    low, high = (None if math.isnan(end) else end for end in (test.low, test.high))
    return Dot(row, test.difference, low, high, "g-biomedical", test.clusters < FEW)


def _dots(title: str, rows: Sequence[Dot], *more: float) -> Dots:
    """On a scale as long as the values, and `more`."""
    ends = [end for dot in rows for end in (dot.value, dot.low, dot.high, dot.chance)]
    start, top = round_span([*more, *(end for end in ends if end is not None)])
    return Dots("terms", title, rows, start, top, 212)
