"""What the lexicon does not know yet: a table for an expert to read, mend and accept.

Statements that the grammar read, or nobody, by how often they stand in the reports. Two spellings
that differ in case or white space alone are one row, as they are one statement to the lexicon.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinqa.core.cells import refuse_existing, tsv_cell, write_file
from clinqa.core.origin import made_up
from clinqa.core.records import Method, Phase, is_private
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.packs.loader import LexiconLabel, format_labels

__all__ = ["CURVE", "HEADER", "CoveragePoint", "Proposal", "propose"]

CURVE = (0, 10, 100, 1000)
HEADER = (
    "structure", "statement", "labels", "count", "studies", "cumulative_share", "accept", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The share of statement occurrences that the lexicon covers once it holds the first rows."""

    accepted: int
    share: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What was proposed. `rows` stand in the file; `unknown` is how many there are in all."""

    rows: int
    unknown: int
    occurrences: int
    covered: int
    curve: tuple[CoveragePoint, ...]
    data_class: str


@dataclass(slots=True)
class _Row:
    structure: str
    statement: str
    labels: str
    note: str
    count: int
    studies: int


def propose(folder: Path, out: Path, *, limit: int | None = None) -> Proposal:
    """Write the table. A file that is there already may hold an expert's work: it is refused."""
    dataset = open_dataset(folder)
    data_class = dataset.data_class
    refuse_existing(out)
    columns = ("structure", "text", "count", "studies", "labels", "method")
    read = dataset.finished.parquet("statements.parquet", columns)
    table = pl.DataFrame(pl.from_arrow(read))
    known = pl.col("method").fill_null("none") == Method.LEXICON.value
    occurrences = int(table["count"].sum())
    covered = int(table.filter(known)["count"].sum())
    rows = _merged(table.filter(~known).iter_rows(named=True))
    shown = rows[:limit]
    text = _text(shown, covered, occurrences, dataset)
    write_file(out, text, private=is_private(data_class))
    return Proposal(
        rows=len(shown),
        unknown=len(rows),
        occurrences=occurrences,
        covered=covered,
        curve=_curve([row.count for row in rows], covered, occurrences),
        data_class=data_class.value,
    )


def _merged(statements: Iterable[dict[str, Any]]) -> list[_Row]:
    """One row a statement, most frequent first; the most frequent spelling stands for all."""
    found: dict[tuple[str, str], _Row] = {}
    # by content, so that the spelling and the reading shown do not hang on the file's order
    for one in sorted(statements, key=lambda one: (-one["count"], one["structure"], one["text"])):
        statement = " ".join(one["text"].split())
        labels, note = _reading(one["labels"] or [])
        key = (one["structure"], statement.casefold())
        row = found.get(key)
        if row is None:
            found[key] = _Row(
                one["structure"], statement, labels, note, one["count"], one["studies"]
            )
            continue
        row.count += one["count"]
        # a study with both spellings counts twice: ids are not kept by statement
        row.studies += one["studies"]
        if labels != row.labels and not row.note:
            row.note = "another spelling is read otherwise"
    return sorted(found.values(), key=lambda row: (-row.count, row.structure, row.statement))


def _reading(labels: list[dict[str, Any]]) -> tuple[str, str]:
    """The grammar's reading as a label cell, and a remark where a lexicon cannot hold it."""
    now = [one for one in labels if one["phase"] in (Phase.BASELINE.value, "", None)]
    readings = {
        LexiconLabel(one["abnormality"], one["level"], not one["explicit"], bool(one["hedged"]))
        for one in now
    }
    cell = format_labels(sorted(readings, key=lambda x: (x.level, x.inferred, x.hedged)))
    if len({one.abnormality for one in readings}) < len(readings):
        return cell, "one abnormality has two readings: keep one"
    if len(now) < len(labels):
        return cell, "part of it speaks of another phase, which a lexicon does not hold"
    return cell, ""


def _text(rows: Iterable[_Row], covered: int, occurrences: int, held: Dataset) -> str:
    made = made_up(held.origin).lower()
    said = (f"# data class: {held.data_class.value}", made, "statements of the reports")
    about = "; ".join(filter(None, said))
    if is_private(held.data_class):
        about += ", keep this file where the reports may be"
    lines = [about, "\t".join(HEADER)]
    for row in rows:
        covered += row.count
        share = covered / occurrences if occurrences else 0
        said = (tsv_cell(row.structure), tsv_cell(row.statement), row.labels)
        counted = (str(row.count), str(row.studies), f"{share:.6f}")
        lines.append("\t".join((*said, *counted, "", row.note)))
    return "\n".join(lines) + "\n"


def _curve(counts: list[int], covered: int, occurrences: int) -> tuple[CoveragePoint, ...]:
    """Coverage now, after the first 10, 100, 1000 rows, and after all."""
    steps = [step for step in CURVE if step < len(counts)] + [len(counts)]
    return tuple(
        CoveragePoint(step, (covered + sum(counts[:step])) / occurrences if occurrences else 0.0)
        for step in dict.fromkeys(steps)
    )
