"""Positions of a reading: a test for each number of options, of the prompts that were shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from clinqa.kinds.facets.judges import SplitItems
from clinqa.kinds.multiple_choice.prompted import design_of, shuffled
from clinqa.kinds.multiple_choice.readers import Picks
from clinqa.stats.positions import position_test

__all__ = ["positions_of"]

REDRAWS = 2000
_LARGE = 40_000  # prompts from which on fewer redraws are made
_FEWER = 500


def positions_of(picks: Picks, items: SplitItems, *, seed: int) -> Iterator[dict[str, Any]]:
    """One for each number of options; none where the orders were not drawn."""
    asked = picks.asked
    if not shuffled(asked.run):
        return
    sizes = np.array([len(own) for own in asked.order]) * ~asked.positional
    for size in sorted(set(sizes.tolist()) - {0}):
        rows = np.flatnonzero(sizes == size)
        orders = np.array([asked.order[row] for row in rows.tolist()], np.int64)
        test = position_test(
            asked.item[rows],
            np.argsort(orders, axis=1),  # of each option, the place where it stood
            picks.picked[rows],
            items.table["answer_index"].to_numpy()[asked.item[rows]],
            seed=seed,
            redraws=_FEWER if len(rows) > _LARGE else REDRAWS,
        )
        signature = f"positions|multiple_choice|{picks.reader}|{design_of(asked.run)}"
        yield {
            "run": asked.run.id,
            "reader": picks.reader,
            **asdict(test),
            "picks": list(test.picks),
            "signature": f"{signature}|{test.signature}|not adjusted",
        }
