"""Tables of answers with known truth."""

from __future__ import annotations

import numpy as np
import polars as pl

NAMES = (
    "Cardiology", "Endocrinology", "Gastroenterology", "Infectious diseases", "Neurology",
    "Obstetrics and gynecology",
)  # fmt: skip


def made_table(
    k: int = 3,
    *,
    seeds: int = 3,
    questions: int = 30,
    orders: int = 3,
    effect: float = 0.0,
    arms: tuple[str, ...] = ("full",),
    seed: int = 1,
) -> pl.DataFrame:
    """Models trained on each specialty and on all, and one that was not trained."""
    random = np.random.default_rng(seed)
    names = NAMES[:k]
    column = np.repeat(np.arange(k), questions)
    hard = random.normal(0, 1, len(column))
    rows: list[dict[str, object]] = []
    for arm in arms:
        for trained_on in [*names, "all", *(["none"] if arm == arms[0] else [])]:
            for at in range(1 if trained_on == "none" else seeds):
                z = hard + random.normal(0, 0.2, k)[column] - (trained_on == "none")
                own = np.array([names[c] == trained_on for c in column])
                z = z + effect * own + random.normal(0, 0.3, len(column))
                chance = 1 / (1 + np.exp(-z))
                for order in range(orders):
                    right = random.random(len(column)) < chance
                    rows += [
                        {
                            "arm": "" if trained_on == "none" else arm,
                            "trained_on": trained_on,
                            "seed": None if trained_on == "none" else at,
                            "train_items": None if trained_on == "none" else 100,
                            "item_id": f"q{q:04d}",
                            "group": f"g{q:04d}",
                            "specialty": names[column[q]],
                            "order": order,
                            "right": bool(right[q]),
                        }
                        for q in range(len(column))
                    ]
    return pl.DataFrame(rows, infer_schema_length=None)
