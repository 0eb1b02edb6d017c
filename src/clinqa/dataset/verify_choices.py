"""What is checked of a dataset of multiple-choice questions beside hashes, ids and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import MANIFEST
from clinqa.dataset.problems import Findings, Problem
from clinqa.dataset.reader import row_groups

__all__ = ["choice_problems", "is_choices"]

_VOTES, _REJECTS = "votes.parquet", "rejects.parquet"
_COLUMNS = ("id", "answer", "category", "method", "options", "answer_index", "votes", "source_id")


def is_choices(manifest: Manifest) -> bool:
    """Whether a folder holds multiple-choice questions with their votes."""
    return any(record.name == _VOTES for record in manifest.outputs)


def choice_problems(
    folder: Path, manifest: Manifest, split_files: Mapping[str, Sequence[str]], readable: set[str]
) -> Iterator[Problem]:
    """Everything in which items, votes, rejects and the manifest contradict each other."""
    rows = 0
    quorum = manifest.configuration.get("quorum")
    for names in split_files.values():
        for name in names:
            answers = Findings("choices", name, "the answer is not the option it points at, item")
            votes = Findings("votes", name, "fewer votes for its category than decided, item")
            for table in row_groups(folder / name, list(_COLUMNS)):
                rows += table.num_rows
                for item in table.to_pylist():
                    options, at = item["options"] or [], item["answer_index"]
                    if at is None or not 0 <= at < len(options) or options[at] != item["answer"]:
                        answers.add(item["id"])
                    cast = sum(v["label"] == item["category"] for v in item["votes"] or ())
                    needed = 1 if item["method"] == "metadata" else quorum
                    if isinstance(needed, int) and cast < needed:
                        votes.add(item["id"])
            yield from (*answers.problems(), *votes.problems())
    items = manifest.counts.get("items")
    if items is None or items.kept != rows:
        said = "nothing" if items is None else f"{items.kept} kept"
        yield Problem("totals", "data", f"{rows} items, the manifest says {said}")
    if _REJECTS in readable:
        reasons = pq.ParquetFile(folder / _REJECTS).read(["reason"])["reason"].to_pylist()
        found, told = Counter(reasons), Counter[str]()
        for stage in manifest.counts.values():
            told.update(stage.rejected_by_reason)
        for reason in sorted(found.keys() | told.keys()):
            if found[reason] != told[reason]:
                text = f"{found[reason]} rows, the manifest says {told[reason]}"
                yield Problem("totals", f"{_REJECTS}, {reason}", text)
    if _VOTES in readable and items is not None:
        outcomes = pq.ParquetFile(folder / _VOTES).read(["source_id", "outcome"]).to_pylist()
        kept = len({row["source_id"] for row in outcomes if row["outcome"] == "kept"})
        if kept != items.kept:
            text = f"votes of {kept} items, the manifest says {items.kept}"
            yield Problem("totals", f"{_VOTES}, {MANIFEST}", text)
