"""The files of `clinqa terms`. No text of a question is in any of them."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.cells import csv_text
from clinqa.core.errors import MissingExtra
from clinqa.core.figures import Figure
from clinqa.core.schema import REJECTS
from clinqa.core.stage import Workplace
from clinqa.present.canvas import marked
from clinqa.present.pictures import plot_logprobs, plot_overlap
from clinqa.terms.compared import Compared, Held, ModelTerm
from clinqa.terms.matcher import Concept

__all__ = [
    "CONCEPTS",
    "CONCEPTS_FILE",
    "LOGPROBS_FILE",
    "OCCURRENCES",
    "OCCURRENCES_FILE",
    "SCORES",
    "TERMS_FILE",
    "Occurrence",
    "write_logprobs",
    "write_terms",
]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One term in one part of one item; `start` and `end` are code points of the part."""

    item: str
    group: str
    split: str
    specialty: str
    part: str
    start: int
    end: int
    concept: str


OCCURRENCES = pa.schema(
    [
        ("item_id", pa.string()),
        ("group", pa.string()),
        ("split", pa.string()),
        # of the item; the term's own are in the table of concepts
        ("category", pa.string()),
        ("part", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("concept", pa.string()),
    ]
)

CONCEPTS = pa.schema(
    [
        ("concept", pa.string()),
        ("name", pa.string()),
        ("kind", pa.string()),
        ("specialties", pa.list_(pa.string())),
        ("path", pa.string()),
        ("general", pa.bool_()),
        ("occurrences", pa.int64()),
        ("items", pa.int64()),
    ]
)


OCCURRENCES_FILE = "occurrences.parquet"
CONCEPTS_FILE = "concepts.parquet"
TERMS_FILE = "terms.json"


def write_terms(
    place: Workplace,
    occurrences: Sequence[Occurrence],
    items: Sequence[Held],
    concepts: Mapping[str, Concept],
    figures: Sequence[Figure],
    meta: Mapping[str, Any],
    general: int,
) -> list[str]:
    """Write everything; what could not be drawn is said."""
    rows = sorted(occurrences, key=lambda o: (o.split, o.item, o.part, o.start))
    columns = ("item", "group", "split", "specialty", "part", "start", "end", "concept")
    places = [dict(zip(OCCURRENCES.names, attrgetter(*columns)(row), strict=True)) for row in rows]
    found = _concepts(rows, concepts, general)
    tables = {OCCURRENCES_FILE: (places, OCCURRENCES), CONCEPTS_FILE: (found, CONCEPTS)}
    body = {"figures": [figure.as_json() for figure in figures], "meta": dict(meta)}
    texts = _term_tables(found, rows, items, concepts, figures, general)
    _write(place, tables, TERMS_FILE, body, texts)
    draw = partial(plot_overlap, figures)
    with marked(place.origin):
        return _drawn(place, "overlap", "the overlap matrix", draw) if figures else []


def _write(
    place: Workplace,
    tables: Mapping[str, tuple[list[dict[str, Any]], pa.Schema]],
    name: str,
    body: Mapping[str, Any],
    texts: Mapping[str, str],
) -> None:
    """Tables of records, the file of figures, and tables for a spreadsheet."""
    for file, (records, schema) in tables.items():
        table = pa.Table.from_pylist(records, schema=schema)
        pq.write_table(table, place.partial / file, compression="zstd")
    place.write(name, json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1))
    for file, text in texts.items():
        place.write(f"tables/{file}", text)


def _drawn(place: Workplace, name: str, what: str, draw: Callable[..., None]) -> list[str]:
    """A picture on light and on dark ground; what to say where it could not be drawn."""
    try:
        for file, dark in ((f"{name}.svg", False), (f"{name}.dark.svg", True)):
            draw(place.partial / file, dark=dark, private=place.private)
    except MissingExtra as error:
        return [f"no picture of {what}: {error}"]
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


def _term_tables(
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


LOGPROBS_FILE = "logprobs.json"
STAGE = "score"
SCORES = pa.schema(
    [
        ("model", pa.string()),
        ("item_id", pa.string()),
        ("part", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("concept", pa.string()),
        ("specialty", pa.string()),
        ("logprob", pa.float64()),
        ("tokens", pa.int32()),
        # a token at the term's edge covers letters or marks that are not the term's
        ("reaches", pa.bool_()),
    ]
)


def write_logprobs(
    place: Workplace, rows: Sequence[ModelTerm], made: Compared, meta: Mapping[str, Any]
) -> list[str]:
    """Write everything; what could not be drawn is said."""
    scored = [
        {
            "model": row.model,
            "item_id": row.item,
            "part": row.scored.place.part,
            "start": row.scored.place.start,
            "end": row.scored.place.end,
            "concept": row.scored.place.concept,
            "specialty": row.specialty,
            "logprob": row.scored.logprob,
            "tokens": row.scored.tokens,
            "reaches": row.scored.reaches,
        }
        for row in rows
        if row.scored.lost is None
    ]
    lost: list[dict[str, Any]] = [
        {
            "stage": STAGE,
            "reason": row.scored.lost.value,
            "source_id": row.item,
            "part": row.scored.place.part,
            "page": None,
            "row": None,
            "detail": f"{row.scored.place.concept} at {row.scored.place.start} under {row.model}",
        }
        for row in rows
        if row.scored.lost is not None
    ]
    body = {
        "figures": [figure.as_json() for figure in made.figures],
        "tests": [
            {"specialty": one.specialty, "part": one.part, **_finite(one.test.as_json())}
            for one in made.tests
        ],
        "meta": dict(meta),
    }
    tables = {"scores.parquet": (scored, SCORES), "rejects.parquet": (lost, REJECTS)}
    _write(place, tables, LOGPROBS_FILE, body, _logprob_tables(made))
    tests = [(one.specialty, one.test) for one in made.tests if one.part == "all"]
    figures = [one for one in made.figures if one.subset["part"] == "all"]
    draw = partial(plot_logprobs, figures, tests)
    with marked(place.origin):
        return _drawn(place, "logprobs", "the log-probabilities", draw)


def _logprob_tables(made: Compared) -> dict[str, str]:
    return {
        "means.csv": csv_text(
            ("specialty", "part", "model", "mean", "low", "high", "occurrences", "groups",
             "signature"),
            [
                (f.subset["specialty"], f.subset["part"], f.run, f.value, f.low, f.high, f.n,
                 f.clusters, f.signature)
                for f in made.figures
            ],
        ),
        "differences.csv": csv_text(
            ("specialty", "part", "model", "against", "difference", "low", "high", "p", "p_holm",
             "occurrences", "groups", "signature"),
            [
                (o.specialty, o.part, o.test.a, o.test.b, *_cells(o.test), o.test.n,
                 o.test.clusters, o.test.signature)
                for o in made.tests
            ],
        ),
    }  # fmt: skip


def _cells(test: Any) -> tuple[float | None, ...]:
    values = (test.difference, test.low, test.high, test.p, test.p_holm)
    return tuple(None if v is None or math.isnan(v) else v for v in values)


def _finite(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in record.items()
    }
