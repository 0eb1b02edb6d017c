"""The files of a folder of terms. No text of a question is in any of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.cells import csv_text
from clinqa.core.errors import MissingExtra
from clinqa.core.figures import Figure
from clinqa.core.outfolder import write_durably
from clinqa.present.terms import plot_overlap
from clinqa.terms.matcher import Concept
from clinqa.terms.overlap import Held
from clinqa.terms.records import CONCEPTS, OCCURRENCES, Occurrence

__all__ = ["CONCEPTS_FILE", "OCCURRENCES_FILE", "TERMS_FILE", "write_terms"]

OCCURRENCES_FILE = "occurrences.parquet"
CONCEPTS_FILE = "concepts.parquet"
TERMS_FILE = "terms.json"


def write_terms(
    partial: Path,
    occurrences: Sequence[Occurrence],
    items: Sequence[Held],
    concepts: Mapping[str, Concept],
    figures: Sequence[Figure],
    meta: Mapping[str, Any],
    *,
    general: int,
    private: bool,
) -> list[str]:
    """Write everything; what could not be drawn is said."""
    rows = sorted(occurrences, key=lambda o: (o.split, o.item, o.part, o.start))
    columns = ("item", "group", "split", "specialty", "part", "start", "end", "concept")
    table = pa.Table.from_arrays(
        [pa.array([getattr(row, name) for row in rows]) for name in columns]
        if rows
        else [pa.array([], field.type) for field in OCCURRENCES],
        schema=OCCURRENCES,
    )
    pq.write_table(table, partial / OCCURRENCES_FILE, compression="zstd")
    found = _concepts(rows, concepts, general)
    pq.write_table(
        pa.Table.from_pylist(found, schema=CONCEPTS), partial / CONCEPTS_FILE, compression="zstd"
    )
    body = {"figures": [figure.as_json() for figure in figures], "meta": dict(meta)}
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
    write_durably(partial / TERMS_FILE, text.encode(), private=private)
    (partial / "tables").mkdir(mode=0o700, exist_ok=True)
    for name, content in _tables(found, rows, items, concepts, figures, general).items():
        write_durably(partial / "tables" / name, content.encode(), private=private)
    if not figures:
        return []
    try:
        for dark in (False, True):
            name = "overlap.dark.svg" if dark else "overlap.svg"
            plot_overlap(figures, partial / name, dark=dark, private=private)
    except MissingExtra as error:
        return [f"no picture of the overlap matrix: {error}"]
    return []


def _concepts(
    rows: Sequence[Occurrence], concepts: Mapping[str, Concept], general: int
) -> list[dict[str, Any]]:
    times = Counter(row.concept for row in rows)
    items: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        items[row.concept].add(row.item)
    return [
        {
            "concept": one,
            "name": concepts[one].name,
            "kind": concepts[one].kind,
            "specialties": list(concepts[one].specialties),
            "path": concepts[one].path,
            "general": len(concepts[one].specialties) >= general,
            "occurrences": n,
            "items": len(items[one]),
        }
        for one, n in sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _tables(
    found: Sequence[Mapping[str, Any]],
    rows: Sequence[Occurrence],
    items: Sequence[Held],
    concepts: Mapping[str, Concept],
    figures: Sequence[Figure],
    general: int,
) -> dict[str, str]:
    made = {
        "concepts.csv": csv_text(
            ("concept", "name", "kind", "specialties", "path", "general", "occurrences", "items"),
            [
                (
                    one["concept"], one["name"], one["kind"], "; ".join(one["specialties"]),
                    one["path"], "yes" if one["general"] else "no", one["occurrences"],
                    one["items"],
                )
                for one in found
            ],
        ),
        "specialties.csv": _specialties(rows, items, concepts, general),
    }  # fmt: skip
    if figures:
        made["overlap.csv"] = csv_text(
            ("train", "test", "overlap", "low", "high", "shared", "terms", "groups", "signature"),
            [
                (
                    f.subset["train"], f.subset["test"], f.value, f.low, f.high,
                    int(f.subset["shared"]), f.n, f.clusters, f.signature,
                )
                for f in figures
            ],
        )  # fmt: skip
    return made


def _specialties(
    rows: Sequence[Occurrence],
    items: Sequence[Held],
    concepts: Mapping[str, Concept],
    general: int,
) -> str:
    """For each specialty: its questions, and how many of their terms are its own."""
    questions = Counter(one.specialty for one in items)
    all_terms: Counter[str] = Counter()
    own: Counter[str] = Counter()
    set_aside: Counter[str] = Counter()
    distinct: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        owners = concepts[row.concept].specialties
        all_terms[row.specialty] += 1
        own[row.specialty] += row.specialty in owners and len(owners) < general
        set_aside[row.specialty] += not 0 < len(owners) < general
        distinct[row.specialty].add(row.concept)
    return csv_text(
        ("specialty", "items", "occurrences", "distinct", "of_it", "of_nobody_or_general"),
        [
            (name, n, all_terms[name], len(distinct[name]), own[name], set_aside[name])
            for name, n in sorted(questions.items())
        ],
    )
