"""The picture of a cross-specialty study: who was trained on what, tested on what, and how well.

A block an arm: left the matrix, right what each specialty's own models are above what their row
and column let one expect. Colour is the distance from the mean of the column, for test sets differ
in how hard they are; the number is the accuracy, with its interval below. A frame marks the own
specialty, a star the best of the column.

Pictures of clinical terms: the overlap of train and test, and what models give the terms.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clinqa.core.figures import Figure, PairedTest
from clinqa.kinds.facets.charts import Chart, Dot, Dots, HeatMap, Plate
from clinqa.present.drawing import round_span
from clinqa.present.paper import draw_plate

__all__ = [
    "Block",
    "Square",
    "plot_crossed",
    "plot_logprobs",
    "plot_overlap",
]

_LEAST_SPAN = 0.05  # of the colours: five points, so that noise is not drawn as contrast


@dataclass(frozen=True, slots=True)
class Square:
    """One cell: accuracy with its interval."""

    value: float | None
    low: float | None
    high: float | None
    best: bool
    own: bool


@dataclass(frozen=True, slots=True)
class Block:
    """One arm. `rows` are labels, the first `trained` of them of models that were trained."""

    title: str
    rows: Sequence[str]
    trained: int
    columns: Sequence[str]
    cells: Sequence[Sequence[Square]]
    lines: Sequence[Dot]  # of the right side, as shares
    note: str


def plot_crossed(
    blocks: Sequence[Block], path: Path, *, model: str, dark: bool = False, private: bool = False
) -> None:
    """Draw the arms below each other into `path`; its ending says the format."""
    span = max(_LEAST_SPAN, *(_span(block) for block in blocks))
    ends = [
        100 * end
        for block in blocks
        for line in block.lines
        for end in (line.value, line.low, line.high)
        if end is not None
    ]
    reach = round_span([0.0, *ends])  # one axis for all arms, in points, zero on it
    charts: list[Chart] = []
    for block in blocks:
        charts += [_matrix(block, span), _lines(block, *reach)]
    told = (
        f"Trained on one specialty, tested on all: {model}. Colour: below (orange) or above "
        f"(blue) the mean of the column's trained models, fullest at {100 * span:.0f} points. "
        "Frame: own "
        "specialty. ★: highest of the column, which is no test. Small: 95 %. (items of train) × "
        "trainings."
    )
    said = [told, *(f"{block.title}: {block.note}" for block in blocks)]
    note = "\n".join(textwrap.fill(one, 130) for one in said)
    draw_plate(Plate(charts, note=note), path, dark=dark, private=private)


def _apart(block: Block) -> list[list[float | None]]:
    """Each cell's distance from the mean of its column's trained models."""
    made: list[list[float | None]] = [[None] * len(block.columns) for _ in block.rows]
    for column in range(len(block.columns)):
        values = [row[column].value for row in block.cells]
        known = [value for value in values[: block.trained] if value is not None]
        known = known or [value for value in values if value is not None]
        for at, value in enumerate(values):
            if value is not None:
                made[at][column] = value - sum(known) / len(known)
    return made


def _span(block: Block) -> float:
    trained = _apart(block)[: block.trained]
    return max((abs(one) for row in trained for one in row if one is not None), default=0.0)


def _matrix(block: Block, span: float) -> HeatMap:
    shades = [[None if one is None else one / span for one in row] for row in _apart(block)]
    return HeatMap(
        "matrix", block.title, block.rows, block.columns, shades, block.note,
        texts=[[_told(cell) for cell in row] for row in block.cells],
        framed=[[cell.own for cell in row] for row in block.cells],
    )  # fmt: skip


def _told(cell: Square) -> tuple[str, str]:
    if cell.value is None:
        return "–", ""
    known = cell.low is not None and cell.high is not None
    small = f"{100 * (cell.low or 0):.0f}–{100 * (cell.high or 0):.0f}" if known else ""
    return f"{100 * cell.value:.1f}{' ★' if cell.best else ''}", small


def _lines(block: Block, start: float, top: float) -> Dots:
    """What is above the expectation, with its interval, in points."""
    rows = []
    for line in block.lines:
        value, low, high = (_points(end) for end in (line.value, line.low, line.high))
        rows.append(replace(line, value=value, low=low, high=high))
    return Dots("lines", "Own specialty above expectation, points", rows, start, top)


def _points(share: float | None) -> float | None:
    return None if share is None else 100 * share


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
