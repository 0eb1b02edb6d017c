"""Made audits without files: patients, tracts, items and their scores as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.auditing.answers import Means, lay_out
from clinqa.auditing.cohort import Attribute
from clinqa.auditing.cohort import Cohort as Attached
from clinqa.auditing.dimensions import Dimension, dimensions_of
from clinqa.simulate.answerers import Effect, chance_right, make_cohort

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Made:
    """What `audit_means` takes, and which patients an effect hits."""

    means: Means
    patient: Ints
    tract: Ints
    strata: Ints
    dimensions: list[Dimension]
    hit: npt.NDArray[np.bool_]


def audit_of(
    seed: int,
    *,
    patients: int = 240,
    items: int = 10,
    tracts: int = 40,
    runs: int = 1,
    repeats: int = 1,
    effect: Effect | None = None,
    names: tuple[str, ...] = ("insurance", "income"),
    between_patients: float = 0.15,
    between_tracts: float = 0.1,
    confounded: float = 0.0,
    intersect: list[str] | None = None,
) -> Made:
    """A cohort and the scores of runs over it. `confounded` is how much likelier patients of the
    group of Medicaid are asked hard questions."""
    random = np.random.default_rng(seed)
    cohort = make_cohort([f"p{number:05d}" for number in range(patients)], seed, tracts)
    many = random.poisson(items, patients) + 1
    patient = np.repeat(np.arange(patients), many)
    medicaid = np.array([value == "Medicaid" for value in cohort.values("insurance")])
    share_hard = 0.3 + confounded * medicaid[patient]
    hard = random.random(len(patient)) < share_hard
    strata = np.where(
        hard, random.integers(6, 12, len(patient)), random.integers(0, 6, len(patient))
    )
    hardness = np.where(hard, 0.35, 0.0)
    sides = []
    for run in range(runs):
        chance = chance_right(
            cohort,
            patient,
            hardness,
            seed * 1000 + run,
            effect,
            between_patients=between_patients,
            between_tracts=between_tracts,
        )
        scores = [(random.random(len(patient)) < chance).astype(float) for _ in range(repeats)]
        ones = np.ones(len(patient))
        sides.append(([np.mean(scores, axis=0), *scores], [ones] * (repeats + 1)))
    attributes = [
        Attribute(name, "tract" if name in cohort.of_tracts else "patient",
                  [value or None for value in cohort.values(name)])
        for name in names
    ]  # fmt: skip
    attached = Attached(cohort.patients, attributes, cohort.tract, tracts)
    crossed = [intersect] if intersect else []
    dimensions, _ = dimensions_of(attached, np.bincount(patient), intersect=crossed)
    hit = effect.hit(cohort) if effect else np.zeros(patients, bool)
    return Made(lay_out(sides, "token_f1", "f1"), patient, cohort.tract, strata, dimensions, hit)
