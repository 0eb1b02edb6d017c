"""The figures as CSV tables. A column holds figures of one signature: a metric that was computed
in two ways has two columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, PairedTest
from clinqa.scoring.measures import level_cells
from clinqa.scoring.scored import CLASSES, ScoredRun

__all__ = ["tables_of"]

_ALL = "overall"


def tables_of(
    figures: Sequence[Figure], tests: Sequence[PairedTest], scored: Sequence[ScoredRun]
) -> dict[str, str]:
    """The tables by file name."""
    by_key: dict[str, list[Figure]] = {_ALL: []}
    for figure in figures:
        key = next(iter(figure.subset), "")
        by_key.setdefault(f"by_{key}" if key else _ALL, []).append(figure)
    made: dict[str, str] = {}
    named: list[tuple[str, str, str]] = []
    for name, found in by_key.items():
        columns = _columns(found)
        named += [(name, column, signature) for (_, signature), column in columns.items()]
        made[f"{name}.csv"] = _table(found, columns, name.removeprefix("by_"))
    made["signatures.csv"] = csv_text(("table", "column", "signature"), named)
    made["levels.csv"] = csv_text(("run", "reference", "read", "answers"), _levels(scored))
    made["tests.csv"] = csv_text(
        ("a", "b", "metric", "difference", "low", "high", "p", "p_holm", "n", "clusters",
         "signature"),
        [(t.a, t.b, t.metric, t.difference, t.low, t.high, t.p, t.p_holm, t.n, t.clusters,
          t.signature) for t in tests],
    )  # fmt: skip
    return made


def _columns(figures: Iterable[Figure]) -> dict[tuple[str, str], str]:
    """The column of each metric and signature."""
    columns: dict[tuple[str, str], str] = {}
    ways: dict[str, int] = {}
    for figure in figures:
        key = (figure.metric, figure.signature)
        if key not in columns:
            ways[figure.metric] = way = ways.get(figure.metric, 0) + 1
            columns[key] = figure.metric if way == 1 else f"{figure.metric}_{way}"
    return columns


def _table(figures: Sequence[Figure], columns: dict[tuple[str, str], str], key: str) -> str:
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for figure in figures:
        row = rows.setdefault((figure.run, figure.subset.get(key, "")), {})
        row[columns[figure.metric, figure.signature]] = figure
    parts = ("", "_low", "_high", "_n")
    header = ["run", "model", "shots", *([key] if key != _ALL else []), "patients"]
    header += [f"{column}{part}" for column in columns.values() for part in parts]
    lines: list[list[object]] = []
    for (run, value), found in rows.items():
        one = next(iter(found.values()))
        patients = max(figure.clusters for figure in found.values())
        line: list[object] = [run, one.model, one.shots]
        line += [*([value] if key != _ALL else []), patients]
        for column in columns.values():
            f = found.get(column)
            line += [None] * 4 if f is None else [f.value, f.low, f.high, f.n]
        lines.append(line)
    return csv_text(header, lines)


def _levels(scored: Sequence[ScoredRun]) -> list[tuple[str, str, str, float]]:
    """How often each reference class was read as each class; a repeat counts as its share."""
    made = []
    for run in scored:
        cells = level_cells(run.total())
        for row, column in np.argwhere(cells > 0).tolist():
            read = CLASSES[column] if column < len(CLASSES) else "none of these"
            made.append((run.run.id, CLASSES[row], read, round(float(cells[row, column]), 6)))
    return made
