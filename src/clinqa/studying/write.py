"""The files of a cross-specialty study, inside a partial folder.

study.json      figures, tests, permutations and notes of each arm
matrix.parquet  a row a cell; matrix.csv the same for a spreadsheet
tests.csv       every test with its family
right.parquet   what all stands on: a row a model, question and order
matrix.svg      the picture, also .pdf and, on dark ground, matrix-dark.svg
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure
from clinqa.core.origin import with_origin
from clinqa.core.outfolder import create_file, write_durably
from clinqa.kinds.facets.figure_tables import dot_of
from clinqa.present.canvas import marked
from clinqa.present.pictures import Block, Square, plot_crossed
from clinqa.stats.verdicts import Told, verdict_of
from clinqa.studying.analyse import INTERACTION, Cell, Result
from clinqa.studying.answers import ALL, NONE, RIGHT

__all__ = ["lines_of", "write_study"]

_WORDS = {ALL: "all mixed", NONE: "not trained"}
_PICTURES = (("matrix.svg", False), ("matrix.pdf", False), ("matrix-dark.svg", True))
_MATRIX = pa.schema(
    [
        ("arm", pa.string()),
        ("trained_on", pa.string()),
        ("tested_on", pa.string()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("questions", pa.int64()),
        ("clusters", pa.int64()),
        ("seeds", pa.int64()),
        ("train_items", pa.int64()),
        ("highest", pa.bool_()),
        ("own", pa.bool_()),
        ("signature", pa.string()),
    ]
)


def write_study(
    partial: Path,
    table: pl.DataFrame,
    results: Sequence[Result],
    *,
    model: str,
    private: bool,
    origin: str = "",
) -> dict[str, int]:
    """Write everything; gives the rows of the tables by file name."""
    cells = [_row(result, cell) for result in results for cell in result.cells]
    _parquet(partial / "matrix.parquet", pa.Table.from_pylist(cells, schema=_MATRIX), private)
    right = table.select(RIGHT.names).sort(RIGHT.names[:-1], nulls_last=False).to_arrow()
    _parquet(partial / "right.parquet", right.cast(RIGHT), private)
    tests = [test for result in results for test in _tests(result)]
    told = {**with_origin(origin), **_study(results, tests)}
    texts = {
        "matrix.csv": csv_text(_MATRIX.names, [list(cell.values()) for cell in cells]),
        "tests.csv": csv_text(list(tests[0]) if tests else [], [list(t.values()) for t in tests]),
        "study.json": json.dumps(told, indent=1, ensure_ascii=False) + "\n",
    }
    for name, text in texts.items():
        write_durably(partial / name, text.encode("utf-8"), private=private)
    blocks = [_block(result) for result in results]
    with marked(origin):
        for name, dark in _PICTURES:
            plot_crossed(blocks, partial / name, model=model, dark=dark, private=private)
    return {"matrix.parquet": len(cells), "right.parquet": right.num_rows, "tests.csv": len(tests)}


def _parquet(path: Path, table: pa.Table, private: bool) -> None:
    with open(create_file(path, private=private), "wb") as file:
        pq.write_table(table, file, compression="zstd")


def _row(result: Result, cell: Cell) -> dict[str, Any]:
    figure = cell.figure
    return {
        "arm": result.arm.name,
        "trained_on": cell.trained_on,
        "tested_on": cell.tested_on,
        "accuracy": figure.value,
        "low": figure.low,
        "high": figure.high,
        "questions": figure.n,
        "clusters": figure.clusters,
        "seeds": cell.seeds,
        "train_items": cell.train_items,
        "highest": cell.best,
        "own": cell.own,
        "signature": figure.signature,
    }


def _tests(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "arm": result.arm.name,
            "family": one.family,
            "tested_on": one.tested_on,
            **one.test.as_json(),
        }
        for one in result.tests
    ]


def _study(results: Sequence[Result], tests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    figures = [
        figure.as_json()
        for result in results
        for figure in [*(cell.figure for cell in result.cells), *result.interactions]
    ]
    arms = {
        result.arm.name: {
            "rows": list(result.arm.rows),
            "columns": list(result.arm.columns),
            "seeds": dict(zip(result.arm.rows, result.arm.seeds, strict=True)),
            "orders": list(result.arm.orders),
            "questions": result.arm.counts.to_json(),
            "gap_p": result.p,
            "gap_variance_from_seeds": result.from_seeds,
            "permutation": None if result.permuted is None else asdict(result.permuted),
            "notes": list(result.notes),
        }
        for result in results
    }
    return {"figures": figures, "tests": list(tests), "arms": arms}


def _block(result: Result) -> Block:
    arm = result.arm
    by_row = [
        [cell for cell in result.cells if cell.trained_on == trained_on] for trained_on in arm.rows
    ]
    rows = []
    for trained_on, items, seeds in zip(arm.rows, arm.train_items, arm.seeds, strict=True):
        size = f" ({items:,})" if items else ""
        times = f" ×{seeds}" if trained_on != NONE else ""
        rows.append(f"{_WORDS.get(trained_on, trained_on)}{size}{times}")
    lines = [
        dot_of(
            figure.subset.get("specialty", "mean"),
            figure,
            "g-biomedical",
            hollow="specialty" in figure.subset,
        )
        for figure in result.interactions
        if figure.metric == INTERACTION
    ]
    cells = [
        [Square(c.figure.value, c.figure.low, c.figure.high, c.best, c.own) for c in row]
        for row in by_row
    ]
    trained = len([name for name in arm.rows if name != NONE])
    columns = [f"{one.tested_on} ({one.figure.n:,})" for one in result.cells[: len(arm.columns)]]
    return Block(_title(result), rows, trained, columns, cells, lines, _said(result))


def _title(result: Result) -> str:
    few, most = result.arm.orders
    orders = f"{most}" if few == most else f"{few} to {most}"
    return f"{result.arm.name}: {result.arm.counts.kept:,} questions in {orders} orders"


def _said(result: Result) -> str:
    """The arm in a sentence or two."""
    parts = []
    if result.interactions:
        parts.append(f"Diagonal minus off-diagonal {_points(result.interactions[0])} points")
        if result.p is not None:
            parts[-1] += f", {_chance(result.p)} over questions and seeds"
    if result.permuted is not None:
        found = result.permuted
        parts.append(f"one-sided p {found.p:.4f} by {found.arrangements:,} permutations")
    return " ".join(f"{part[:1].upper()}{part[1:]}." for part in [*parts, *result.notes])


def _chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def _points(figure: Figure) -> str:
    if figure.value is None:
        return "unknown"
    said = f"{100 * figure.value:+.2f}"
    if figure.low is None or figure.high is None:
        return said
    return f"{said} [{100 * figure.low:+.2f}, {100 * figure.high:+.2f}]"


def lines_of(results: Sequence[Result]) -> list[str]:
    """The results for the terminal."""
    lines: list[str] = []
    for result in results:
        arm = result.arm
        width = max(len(_WORDS.get(name, name)) for name in [*arm.rows, "tested on"])
        lines.append(f"{_title(result)}; * own, ^ highest (no test), accuracy in percent")
        lines.append(f"{'':<{width}}  " + "  ".join(f"{name[:14]:>14}" for name in arm.columns))
        for trained_on in arm.rows:
            cells = [cell for cell in result.cells if cell.trained_on == trained_on]
            shown = [_shown(cell) for cell in cells]
            lines.append(f"{_WORDS.get(trained_on, trained_on):<{width}}  " + "  ".join(shown))
        lines.append(_said(result))
        told = [one for one in result.tests if verdict_of(one.test) is Told.TOLD_APART]
        lines.append(
            f"{len(told)} of {len(result.tests)} tests below 0.05 after Holm within their family"
        )
        lines.append("")
    return lines[:-1]


def _shown(cell: Cell) -> str:
    value = "–" if cell.figure.value is None else f"{100 * cell.figure.value:.1f}"
    return f"{value + ('*' if cell.own else '') + ('^' if cell.best else ''):>14}"
