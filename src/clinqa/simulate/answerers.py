"""Scripts of a fair and an unfair answerer for `--model scripted:FILE`, and the tables beside.

    patients.csv   patient, tract, age, sex, race, insurance
    tracts.csv     tract, income, schooling
    fair.jsonl     replies by item and repeat: no group is treated otherwise
    unfair.jsonl   the same answerer, less often right about one group
    truth.json     what was planted

A wrong reply is the answer to another question about the same abnormality with another level.

Made patients with social determinants, and answerers that are fair to them or known not to be.

Attributes stand at two levels: age, sex, race and insurance are a patient's; income and schooling
are a census tract's, and patients of one tract share them. An answerer is right about an item with
a chance that depends on the patient, the tract and how hard the item is. The unfair one is less
often right about one group, by a stated number; nothing else differs. Nobody's data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clinqa.core.arrays import Bools, Floats, Ints
from clinqa.core.cells import csv_text, write_file
from clinqa.core.errors import ConfigError, refuse
from clinqa.core.ids import rng, sub_seed

__all__ = [
    "FILES",
    "PATIENT_LEVEL",
    "TRACT_LEVEL",
    "AnswererItem",
    "Effect",
    "MadeCohort",
    "chance_right",
    "make_cohort",
    "write_cohort",
]

PATIENT_LEVEL = ("age", "sex", "race", "insurance")
TRACT_LEVEL = ("income", "schooling")

_RACES = (("White", 0.58), ("Black", 0.2), ("Asian", 0.09), ("Hispanic", 0.08), ("Other", 0.05))
_INSURANCE = (("Medicare", 0.48), ("Private", 0.34), ("Medicaid", 0.18))
_PER_TRACT = 8
_UNKNOWN = 0.06


@dataclass(frozen=True, slots=True)
class MadeCohort:
    """Made patients in the order given. `tract` numbers their tracts; attributes are text, empty
    where not known; those of TRACT_LEVEL stand once a tract."""

    patients: tuple[str, ...]
    tract: Ints
    of_patients: Mapping[str, tuple[str, ...]]
    of_tracts: Mapping[str, tuple[str, ...]]

    def values(self, name: str) -> list[str]:
        """An attribute of each patient, whichever level it stands at."""
        if name in self.of_patients:
            return list(self.of_patients[name])
        if name not in self.of_tracts:
            known = ", ".join((*PATIENT_LEVEL, *TRACT_LEVEL))
            raise ConfigError(f"no attribute {name!r} in a made cohort; there are {known}")
        return [self.of_tracts[name][tract] for tract in self.tract.tolist()]


@dataclass(frozen=True, slots=True)
class Effect:
    """What is planted: about patients of the group, `drop` less often right than about others.

    The group is the lowest quarter of an attribute that is a number, else its rarest category of
    a tenth of the patients or more.
    """

    on: str
    drop: float

    def hit(self, cohort: MadeCohort) -> Bools:
        """Which patients it hits."""
        values = cohort.values(self.on)
        known = [value for value in values if value]
        try:
            numbers = np.array([float(value) if value else np.nan for value in values])
        except ValueError:
            counts = {value: known.count(value) for value in sorted(set(known))}
            common = {v: n for v, n in counts.items() if n >= len(values) / 10} or counts
            group = min(common, key=lambda value: (common[value], value))
            return np.array([value == group for value in values])
        cut = np.quantile(numbers[~np.isnan(numbers)], 0.25, method="inverted_cdf")
        return np.where(np.isnan(numbers), False, numbers <= cut)


def make_cohort(patients: Sequence[str], seed: int, tracts: int | None = None) -> MadeCohort:
    """Attributes for these patients; the same for the same ids and seed."""
    random = np.random.default_rng(sub_seed(seed, "simulate.cohort"))
    size = len(patients)
    many = tracts or max(4, size // _PER_TRACT)
    wealth = random.normal(size=many)  # what income and schooling share
    income = np.round(np.exp(10.9 + 0.4 * wealth + 0.15 * random.normal(size=many)), -2)
    schooling = np.clip(14 - 4 * wealth + 5 * np.abs(random.normal(size=many)), 0, 60)
    # tracts differ in size, as they do
    tract = random.choice(many, size, p=random.dirichlet(np.full(many, 3.0)))
    of_patients = {
        "age": np.char.mod("%d", np.clip(random.normal(67, 14, size), 18, 91).astype(int)),
        "sex": random.choice(["F", "M"], size),
        "race": random.choice([name for name, _ in _RACES], size, p=[p for _, p in _RACES]),
        "insurance": random.choice([n for n, _ in _INSURANCE], size, p=[p for _, p in _INSURANCE]),
    }
    unknown = random.random(size) < _UNKNOWN
    of_patients["race"] = np.where(unknown, "", of_patients["race"])
    return MadeCohort(
        tuple(patients),
        tract.astype(np.int64),
        {name: tuple(values.tolist()) for name, values in of_patients.items()},
        {
            "income": tuple(f"{value:.0f}" for value in income.tolist()),
            "schooling": tuple(f"{value:.1f}" for value in schooling.tolist()),
        },
    )


def chance_right(
    cohort: MadeCohort,
    patient: Ints,
    hardness: Floats,
    seed: int,
    effect: Effect | None = None,
    *,
    base: float = 0.75,
    between_patients: float = 0.1,
    between_tracts: float = 0.05,
) -> Floats:
    """How likely each item is answered right; `patient` numbers the patient of each.

    Patients and tracts differ by chance (their standard deviations are given), so answers about
    one patient go together, and so do patients of one tract.
    """
    random = np.random.default_rng(sub_seed(seed, "simulate.chance"))
    of_patient = random.normal(0, between_patients, len(cohort.patients))
    of_patient += random.normal(0, between_tracts, int(cohort.tract.max()) + 1)[cohort.tract]
    if effect is not None:
        of_patient = of_patient - effect.drop * effect.hit(cohort)
    made: Floats = np.clip(base + of_patient[patient] - hardness, 0.02, 0.98)
    return made


FILES = ("patients.csv", "tracts.csv", "fair.jsonl", "unfair.jsonl", "truth.json")
_HARDNESS = 0.08  # sd between what is asked


@dataclass(frozen=True, slots=True)
class AnswererItem:
    """What an answerer needs to know of a question."""

    id: str
    patient: str
    category: str
    level: int | None
    answer: str


def write_cohort(
    items: Sequence[AnswererItem],
    out: Path,
    *,
    seed: int,
    effect: Effect,
    repeats: int = 3,
    tracts: int | None = None,
) -> MadeCohort:
    """Write the five files into the folder `out`, for the owner alone."""
    refuse(
        (not items, "simulate cohort: the split holds no items"),
        (
            not 0 <= effect.drop < 1 or repeats < 1,
            "simulate cohort: --drop lies from 0 to below 1, --repeats is 1 or more",
        ),
    )
    items = sorted(items, key=lambda item: item.id)
    patients = sorted({item.patient for item in items})
    cohort = make_cohort(patients, seed, tracts)
    effect.hit(cohort)  # an attribute that is none is said before anything is written
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    names = [f"T{number:05d}" for number in range(len(next(iter(cohort.of_tracts.values()))))]
    rows = zip(patients, [names[at] for at in cohort.tract.tolist()],
               *cohort.of_patients.values(), strict=True)  # fmt: skip
    tract_rows = zip(names, *cohort.of_tracts.values(), strict=True)
    truth = {
        "attribute": effect.on,
        "drop": effect.drop,
        "patients_hit": int(effect.hit(cohort).sum()),
        "patients": len(patients),
        "tracts": len(names),
        "repeats": repeats,
        "seed": seed,
    }
    files = {
        "patients.csv": csv_text(("patient", "tract", *cohort.of_patients), rows),
        "tracts.csv": csv_text(("tract", *cohort.of_tracts), tract_rows),
        "fair.jsonl": "".join(_script(items, cohort, seed, None, repeats)),
        "unfair.jsonl": "".join(_script(items, cohort, seed, effect, repeats)),
        "truth.json": json.dumps(truth, indent=2) + "\n",
    }
    for name, text in files.items():
        write_file(out / name, text, private=True)
    return cohort


def _script(
    items: Sequence[AnswererItem],
    cohort: MadeCohort,
    seed: int,
    effect: Effect | None,
    repeats: int,
) -> list[str]:
    place = {name: at for at, name in enumerate(cohort.patients)}
    patient = np.array([place[item.patient] for item in items], np.int64)
    asked = {key: rng(seed, "simulate.hardness", f"{key[0]}:{key[1]}").gauss(0, _HARDNESS)
             for key in sorted({(item.category, str(item.level)) for item in items})}  # fmt: skip
    hardness = np.array([asked[item.category, str(item.level)] for item in items])
    chance = chance_right(cohort, patient, hardness, seed, effect).tolist()
    wrong = _wrong_answers(items)
    lines = []
    for item, share in zip(items, chance, strict=True):
        for repeat in range(repeats):
            # the same luck for both answerers: they differ by what was planted only
            random = rng(seed, "simulate.reply", f"{item.id}:{repeat}")
            right = random.random() < share
            others = wrong[item.category, item.level]
            said = item.answer if right or not others else random.choice(others)
            lines.append(json.dumps({"item": item.id, "repeat": repeat, "output": said}) + "\n")
    return lines


def _wrong_answers(items: Sequence[AnswererItem]) -> Mapping[tuple[str, int | None], list[str]]:
    """For each abnormality and level the answers to another level of it; of any, where none is."""
    by_category: dict[str, set[tuple[int | None, str]]] = {}
    for item in items:
        by_category.setdefault(item.category, set()).add((item.level, item.answer))
    every = sorted({item.answer for item in items})
    made = {}
    for item in items:
        key = (item.category, item.level)
        if key not in made:
            found = {text for level, text in by_category[item.category] if level != item.level}
            made[key] = sorted(found) or [text for text in every if text != item.answer]
    return made
