"""Does where an option stands change how often it is picked?

If it does not, each item's options could have stood in any other order: what was picked would be
the same option, only in another place. So the orders of each item are drawn again, all of one item
alike (whatever their design, any renaming of the options is as likely as the one that happened),
the picked content held fixed, and the picks by position are counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Ints

__all__ = ["PositionTest", "position_test"]


@dataclass(frozen=True, slots=True)
class PositionTest:
    """Of items with `options` options. `picks` by position; `chi2` against equal shares.

    `spread` is the standard deviation of the recalls of the positions, `spread_by_chance` its mean
    over the redrawn orders.
    """

    options: int
    items: int
    prompts: int
    picks: tuple[int, ...]
    chi2: float
    p: float
    spread: float
    spread_by_chance: float
    spread_p: float
    signature: str


def position_test(
    item: Ints, places: Ints, picked: Ints, gold: Ints, *, seed: int, redraws: int = 2000
) -> PositionTest:
    """Test the picks of prompts that all have the same number of options.

    A row a prompt: `item` numbers what it is of, `places[row, option]` says where each option
    stood, `picked` and `gold` name options (`picked` -1: none).

    >>> always_first = np.array([[0, 1], [1, 0]] * 20)
    >>> test = position_test(np.repeat(np.arange(20), 2), always_first, np.array([0, 1] * 20),
    ...     np.zeros(40, dtype=np.int64), seed=0, redraws=999)
    >>> test.picks, test.p, test.spread
    ((40, 0), 0.001, 0.5)
    """
    if redraws < 1 or places.ndim != 2 or not len(places) == len(item) == len(picked) == len(gold):
        raise ValueError("a row a prompt, and at least one redraw")
    prompts, options = places.shape
    _, of = np.unique(item, return_inverse=True)
    items = int(of.max()) + 1 if prompts else 0
    rows = np.arange(prompts)
    said = picked >= 0
    right = said & (picked == gold)
    own = np.tile(np.arange(options), (items, 1))

    def figures(named: Ints) -> tuple[Ints, float, float]:
        at = places[rows, named[of, np.maximum(picked, 0)]][said]
        right_at = places[rows, named[of, gold]]
        picks = np.bincount(at, minlength=options)
        golds = np.bincount(right_at, minlength=options)
        hits = np.bincount(right_at[right], minlength=options)
        equal = picks.sum() / options
        chi2 = float(((picks - equal) ** 2).sum() / equal) if equal else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            recall = hits / golds
        return picks, chi2, float(np.nanstd(recall)) if (golds > 0).any() else float("nan")

    picks, chi2, spread = figures(own)
    random = np.random.default_rng(seed)
    above = wider = 0
    spreads = np.empty(redraws)
    for number in range(redraws):
        _, drawn, drawn_spread = figures(random.permuted(own, axis=1))
        above += drawn >= chi2 - 1e-9
        wider += drawn_spread >= spread - 1e-12
        spreads[number] = drawn_spread
    return PositionTest(
        options=options,
        items=items,
        prompts=prompts,
        picks=tuple(picks.tolist()),
        chi2=chi2,
        p=(above + 1) / (redraws + 1),
        spread=spread,
        spread_by_chance=float(np.mean(spreads)),
        spread_p=(wider + 1) / (redraws + 1),
        signature=f"orders redrawn within the item, picked content fixed|{redraws} redraws",
    )
