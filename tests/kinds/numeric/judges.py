"""Each answer beside its number: within the tolerance or not, and how far away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Ints
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import (
    JudgedAnswers,
    JudgedRun,
    Judges,
    OpenJudge,
    SplitItems,
    codes_of,
    judged_run,
    of_split,
)

LAYOUT = ("items", "within", "answered", "distance")
"""The numbers of an answer: every figure is a function of their sums."""


def judged(rows: pa.Table, found: Ints, items: SplitItems) -> JudgedAnswers:
    """Rows with `answer` and `repeat`, and the item of each; no answer is not within."""
    said = np.array([float(told or "nan") for told in rows["answer"].to_pylist()])
    value, tolerance = (items.table[name].to_numpy()[found] for name in ("value", "tolerance"))
    distance, answered = np.abs(said - value), ~np.isnan(said)
    far = np.where(answered, distance, 0.0)
    numbers = [np.ones(len(found)), distance <= tolerance, answered, far]
    statistics = np.stack(numbers, axis=1).astype(np.float64)
    return JudgedAnswers(found, rows["repeat"].to_numpy(), np.arange(len(LAYOUT)), statistics)


class NumberJudge(OpenJudge):
    """Judges what predict has read; it needs nothing else."""

    def runs(self, run: FinishedRun, items: SplitItems) -> Iterator[tuple[JudgedRun, pa.Table]]:
        """The run judged, and its rows of items.parquet."""
        rows, found, unknown = of_split(run, run.predictions(), items)
        answers, statuses = judged(rows, found, items), rows["answer_status"].to_pylist()
        told = rows.select(["item_id", "repeat", "answer", "answer_status"])
        told = told.append_column("run", pa.array([run.id] * len(rows)))
        yield judged_run(run, answers, LAYOUT, statuses, unknown), told

    def answers(self, run: FinishedRun, items: SplitItems) -> JudgedAnswers:
        """Every answer judged alone, for an audit."""
        rows, found, _ = of_split(run, run.predictions(), items)
        return judged(rows, found, items)


JUDGES = Judges(
    columns=("value", "tolerance"),
    load=lambda table, _: SplitItems(table, {"patient": codes_of(table["group"].to_pylist())}),
    open=lambda *_: NumberJudge(),
)
