"""Positions of a reading: a test for each number of options, of the prompts that were shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from clinqa.scoring.choice.asked import design_of
from clinqa.scoring.choice.questions import Questions
from clinqa.scoring.choice.readers import Reading
from clinqa.stats.positions import PositionTest, position_test

__all__ = ["Positions", "positions_of"]

REDRAWS = 2000
_LARGE = 40_000  # prompts from which on fewer redraws are made
_FEWER = 500


@dataclass(frozen=True, slots=True)
class Positions:
    """The test of one run and reader for one number of options."""

    run: str
    reader: str
    test: PositionTest
    signature: str

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "reader": self.reader,
            **asdict(self.test),
            "picks": list(self.test.picks),
            "signature": self.signature,
        }


def positions_of(reading: Reading, questions: Questions, *, seed: int) -> Iterator[Positions]:
    """One for each number of options; none where the orders were not drawn."""
    asked = reading.asked
    if not (asked.run.configuration.get("choices") or {}).get("orders"):
        return
    sizes = np.array([0 if fixed else len(own) for fixed, own in
                      zip(asked.positional.tolist(), asked.order, strict=True)])  # fmt: skip
    for size in sorted(set(sizes.tolist()) - {0}):
        rows = np.flatnonzero(sizes == size)
        orders = np.array([asked.order[row] for row in rows.tolist()], np.int64)
        test = position_test(
            asked.item[rows],
            np.argsort(orders, axis=1),  # of each option, the place where it stood
            reading.picked[rows],
            questions.gold[asked.item[rows]],
            seed=seed,
            redraws=_FEWER if len(rows) > _LARGE else REDRAWS,
        )
        signature = f"positions|multiple_choice|{reading.reader}|{design_of(asked.run)}"
        yield Positions(
            asked.run.id, reading.reader, test, f"{signature}|{test.signature}|not adjusted"
        )
