"""What people are told of a scoring: warnings, the main figures for the terminal, tables.

In the CSV tables figures that were made in two ways never share a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures

__all__ = [
    "lines_of",
    "tables_of",
    "warnings_of",
]


def warnings_of(
    items: SplitItems,
    judged: Mapping[str, Mapping[str, JudgedRun]],
    votes: Sequence[JudgedRun],
    measures: Measures,
    manifest: Manifest,
    figures: Sequence[Figure],
    meta: Mapping[str, Any],
    *,
    limited: bool,
) -> Iterator[str]:
    """What a reader should know before trusting a figure; counts only."""
    yield from measures.warns_of_items(items)
    for own in judged.values():
        run, *_ = ways = list(own.values())
        if len(run.items) < len(items):
            yield (
                f"{run.name}: was asked {len(run.items):,} of the {len(items):,} items; its "
                "figures are of those"
            )
        if run.unknown and not limited:
            yield f"{run.name}: {run.unknown:,} answers to items not in the split"
        yield from _of_statuses(run, measures.wording.none)
        yield from measures.warns_of_run(ways)
    every = [one for own in judged.values() for one in own.values()]
    yield from measures.warns_of_all(every, manifest, meta)
    yield from measures.contradicts(figures, [*every, *votes])


def _of_statuses(run: JudgedRun, are: str) -> Iterator[str]:
    """That some answers are none, by status; they count as wrong. `are` words what they lack."""
    others = {status: n for status, n in run.statuses.items() if status != "answered" and n}
    if others:
        told = ", ".join(f"{status} {n:,}" for status, n in sorted(others.items()))
        yield (
            f"{run.name}: {sum(others.values()):,} of {run.answers:,} answers {are} ({told}); "
            "they count as wrong"
        )


def lines_of(figures: Sequence[Figure], measures: Measures, primary: str) -> list[str]:
    """The main figures of each run that have a value, with intervals where there are any."""
    lines = []
    for metric in dict.fromkeys((primary, *measures.lines)):
        for one in figures:
            if one.metric != metric or one.subset or one.value is None or not measures.main(one):
                continue
            way = one.signature.split("|")[2] if measures.ways[1:] else ""
            label = measures.wording.label.format(metric=metric, run=one.run, way=way)
            known = one.low is not None and one.high is not None
            bounds = f"  [{one.low:.3f}, {one.high:.3f}]" if known else ""
            lines.append(f"{label} {one.value:.3f}{bounds}")
    return lines


_ALL = "overall"
_VALUES = ("value", "low", "high", "n", "clusters", "signature")
_TEST = (
    *("a", "b", "metric", "difference", "low", "high", "p", "p_holm", "n", "clusters"),
    "signature",
)


def tables_of(
    figures: Sequence[Figure], tests: Sequence[PairedTest], measures: Measures
) -> dict[str, str]:
    """The tables of figures and tests by file name."""
    wide = measures.tables.wide
    made = _wide_tables(figures, measures.wording.drawn) if wide else _tables(figures, measures)
    made["tests.csv"] = csv_text(_TEST, [[getattr(test, name) for name in _TEST] for test in tests])
    return made


def _tables(figures: Sequence[Figure], measures: Measures) -> dict[str, str]:
    """A row a figure, with its subset and its signature."""
    told = measures.tables
    way = [told.way] if told.way else []
    header = ("run", "model", "shots", *way, *told.keys, "metric", *_VALUES)

    def table(chosen: Iterable[Figure]) -> str:
        rows: list[list[object]] = []
        for one in chosen:
            row: list[object] = [one.run, one.model, one.shots]
            row += [one.signature.split("|")[2] for _ in way]
            row += [one.subset.get(key, "") for key in told.keys]
            rows.append([*row, one.metric, *(getattr(one, name) for name in _VALUES)])
        return csv_text(header, rows)

    made = {f"{_ALL}.csv": table(one for one in figures if not one.subset)}
    for name, key in told.files.items():
        made[name] = table(one for one in figures if key in one.subset)
    return made


def _wide_tables(figures: Sequence[Figure], drawn: str) -> dict[str, str]:
    """A row a run, a column a metric; a metric computed in two ways has two columns."""
    by_key: dict[str, list[Figure]] = {_ALL: []}
    for figure in figures:
        key = next(iter(figure.subset), "")
        by_key.setdefault(f"by_{key}" if key else _ALL, []).append(figure)
    made: dict[str, str] = {}
    named: list[tuple[str, str, str]] = []
    for name, found in by_key.items():
        columns = _columns(found)
        named += [(name, column, signature) for (_, signature), column in columns.items()]
        made[f"{name}.csv"] = _wide_table(found, columns, name.removeprefix("by_"), drawn)
    made["signatures.csv"] = csv_text(("table", "column", "signature"), named)
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


def _wide_table(
    figures: Sequence[Figure], columns: dict[tuple[str, str], str], key: str, drawn: str
) -> str:
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for figure in figures:
        row = rows.setdefault((figure.run, figure.subset.get(key, "")), {})
        row[columns[figure.metric, figure.signature]] = figure
    own = [key] if key != _ALL else []
    header = ["run", "model", "shots", *own, drawn]
    header += [f"{one}{part}" for one in columns.values() for part in ("", "_low", "_high", "_n")]
    lines: list[list[object]] = []
    for (run, value), found in rows.items():
        one = next(iter(found.values()))
        line: list[object] = [run, one.model, one.shots, *(value for _ in own)]
        line.append(max(figure.clusters for figure in found.values()))
        for column in columns.values():
            f = found.get(column)
            line += [None] * 4 if f is None else [f.value, f.low, f.high, f.n]
        lines.append(line)
    return csv_text(header, lines)
