"""The files of `clinqa terms logprobs`. No text of a question is in any of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.cells import csv_text
from clinqa.core.errors import MissingExtra
from clinqa.core.outfolder import write_durably
from clinqa.core.schema import REJECTS
from clinqa.present.terms import plot_logprobs
from clinqa.terms.compared import Compared, ModelTerm

__all__ = ["LOGPROBS_FILE", "SCORES", "write_logprobs"]

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
    partial: Path, rows: Sequence[ModelTerm], made: Compared, meta: Mapping[str, Any], private: bool
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
    lost = [
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
    for name, records, schema in (
        ("scores.parquet", scored, SCORES),
        ("rejects.parquet", lost, REJECTS),
    ):
        table = pa.Table.from_pylist(records, schema=schema)
        pq.write_table(table, partial / name, compression="zstd")
    body = {
        "figures": [figure.as_json() for figure in made.figures],
        "tests": [
            {"specialty": one.specialty, "part": one.part, **_finite(one.test.as_json())}
            for one in made.tests
        ],
        "meta": dict(meta),
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
    write_durably(partial / LOGPROBS_FILE, text.encode(), private=private)
    (partial / "tables").mkdir(mode=0o700, exist_ok=True)
    for name, content in _tables(made).items():
        write_durably(partial / "tables" / name, content.encode(), private=private)
    try:
        for dark in (False, True):
            name = "logprobs.dark.svg" if dark else "logprobs.svg"
            tests = [(one.specialty, one.test) for one in made.tests if one.part == "all"]
            figures = [one for one in made.figures if one.subset["part"] == "all"]
            plot_logprobs(figures, tests, partial / name, dark=dark, private=private)
    except MissingExtra as error:
        return [f"no picture of the log-probabilities: {error}"]
    return []


def _tables(made: Compared) -> dict[str, str]:
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
