"""How right the labels are, against the truth from which the reports were made."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.measure import share
from measure import say


def main(labels: Path, gold: Path) -> None:
    table = pq.read_table(labels, columns=["study_id", "abnormality", "phase", "level"])
    table = table.filter(pc.equal(table["phase"].cast("string"), "baseline"))
    found: dict[str, set[tuple[str, int]]] = {}
    for study, abnormality, level in zip(
        *(table[name].to_pylist() for name in ("study_id", "abnormality", "level")), strict=True
    ):
        found.setdefault(study, set()).add((abnormality, level))
    counts = [
        (len(found.get(study, set()) & truth), len(found.get(study, set())), len(truth))
        for study, truth in _truth(gold)
    ]
    measures = [share("precision", 0, 1), share("recall", 0, 2)]
    precision, recall = estimates(measures, counts, Design())
    say(
        reports=len(counts),
        precision=[precision.value, precision.low, precision.high],
        recall=[recall.value, recall.low, recall.high],
        signature=precision.signature,
    )


def _truth(gold: Path) -> Iterable[tuple[str, set[tuple[str, int]]]]:
    with gold.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["study_id"], set(row["labels"].items())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
