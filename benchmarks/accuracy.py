"""How right the labels are, against the truth from which the reports were made."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.stats.cluster import precision_recall
from measure import say


def main(labels: Path, gold: Path) -> None:
    table = pq.read_table(labels, columns=["study_id", "abnormality", "phase", "level"])
    table = table.filter(pc.equal(table["phase"].cast("string"), "baseline"))
    found: dict[str, set[tuple[str, int]]] = {}
    for study, abnormality, level in zip(
        *(table[name].to_pylist() for name in ("study_id", "abnormality", "level")), strict=True
    ):
        found.setdefault(study, set()).add((abnormality, level))
    counts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for study, truth in _truth(gold):
        ours = found.get(study, set())
        parts = (len(ours & truth), len(ours - truth), len(truth - ours))
        for column, number in zip(counts, parts, strict=True):
            column.append(number)
    both = precision_recall(*counts, seed=0, draws=1000)
    say(
        reports=len(counts[0]),
        precision=[both.precision.value, both.precision.low, both.precision.high],
        recall=[both.recall.value, both.recall.low, both.recall.high],
        signature=both.precision.signature,
    )


def _truth(gold: Path) -> Iterable[tuple[str, set[tuple[str, int]]]]:
    with gold.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["study_id"], set(row["labels"].items())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
