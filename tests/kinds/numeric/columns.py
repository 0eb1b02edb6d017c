"""Items with a number and how far an answer may be from it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from clinqa.core.problems import Findings, Problem
from clinqa.core.schema import items_schema
from clinqa.kinds.facets.columns import Checked, Columns

NUMERIC = items_schema(("value", pa.float64()), ("tolerance", pa.float64()))


def _checks(checked: Checked) -> Iterator[Problem]:
    wrong = Findings("numbers", "data", "the answer is not the number, item")
    for names in checked.splits.values():
        for name in names:
            for row in checked.rows(name, ["id", "answer", "value"]):
                if float(row["answer"]) != row["value"]:
                    wrong.add(row["id"])
    yield from wrong.problems()


COLUMNS = Columns(
    items=NUMERIC,
    meanings={"value": "The number", "tolerance": "How far from it is still right"},
    checks=_checks,
)
