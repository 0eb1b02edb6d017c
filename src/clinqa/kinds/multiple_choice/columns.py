"""The table of multiple-choice questions with their votes; what holds of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from clinqa.core.outfolder import MANIFEST
from clinqa.core.problems import Findings, Problem
from clinqa.core.schema import items_schema
from clinqa.kinds.facets.columns import Checked, Columns

__all__ = ["COLUMNS", "MULTIPLE_CHOICE"]

_VOTE = pa.struct([("voter", pa.string()), ("label", pa.string()), ("raw", pa.string())])

MULTIPLE_CHOICE = items_schema(
    ("options", pa.list_(pa.string())),
    ("answer_index", pa.int32()),
    ("specialties", pa.list_(pa.string())),
    ("votes", pa.list_(_VOTE)),
    ("needs_image", pa.bool_()),
    ("garbled", pa.bool_()),
)

_VOTES = "votes.parquet"
_READ = ("id", "answer", "category", "method", "options", "answer_index", "votes", "source_id")


def _checks(checked: Checked) -> Iterator[Problem]:
    """Everything in which items, votes and the manifest contradict each other."""
    quorum = checked.manifest.configuration.get("quorum")
    for names in checked.splits.values():
        for name in names:
            answers = Findings("choices", name, "the answer is not the option it points at, item")
            votes = Findings("votes", name, "fewer votes for its category than decided, item")
            for item in checked.rows(name, _READ):
                options, at = item["options"] or [], item["answer_index"]
                if at is None or not 0 <= at < len(options) or options[at] != item["answer"]:
                    answers.add(item["id"])
                cast = sum(v["label"] == item["category"] for v in item["votes"] or ())
                needed = 1 if item["method"] == "metadata" else quorum
                if isinstance(needed, int) and cast < needed:
                    votes.add(item["id"])
            yield from (*answers.problems(), *votes.problems())
    items = checked.manifest.counts.get("items")
    if _VOTES in checked.readable and items is not None:
        outcomes = checked.rows(_VOTES, ["source_id", "outcome"])
        kept = len({row["source_id"] for row in outcomes if row["outcome"] == "kept"})
        if kept != items.kept:
            text = f"votes of {kept} items, the manifest says {items.kept}"
            yield Problem("totals", f"{_VOTES}, {MANIFEST}", text)


def _others(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The wrong options, by their places."""
    options, right = row["options"] or (), row["answer_index"]
    return [(f"option {at}", text) for at, text in enumerate(options) if text and at != right]


COLUMNS = Columns(
    items=MULTIPLE_CHOICE,
    checks=_checks,
    others=_others,
    read_for_others=("options", "answer_index"),
)
