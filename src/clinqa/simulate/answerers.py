"""Scripts of a fair and an unfair answerer for `--model scripted:FILE`, and the tables beside.

    patients.csv   patient, tract, age, sex, race, insurance
    tracts.csv     tract, income, schooling
    fair.jsonl     replies by item and repeat: no group is treated otherwise
    unfair.jsonl   the same answerer, less often right about one group
    truth.json     what was planted

A wrong reply is the answer to another question about the same abnormality with another level.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clinqa.core.cells import csv_text, write_file
from clinqa.core.errors import ConfigError
from clinqa.core.ids import rng
from clinqa.simulate.cohort import Effect, MadeCohort, chance_right, make_cohort

__all__ = ["FILES", "AnswererItem", "write_cohort"]

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
    if not items:
        raise ConfigError("simulate cohort: the split holds no items")
    if not 0 <= effect.drop < 1 or repeats < 1:
        raise ConfigError("simulate cohort: --drop lies from 0 to below 1, --repeats is 1 or more")
    items = sorted(items, key=lambda item: item.id)
    patients = sorted({item.patient for item in items})
    cohort = make_cohort(patients, seed, tracts)
    effect.hit(cohort)  # an attribute that is none is said before anything is written
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    names = [f"T{number:05d}" for number in range(len(next(iter(cohort.of_tracts.values()))))]
    header = ("patient", "tract", *cohort.of_patients)
    rows = zip(patients, [names[at] for at in cohort.tract.tolist()],
               *cohort.of_patients.values(), strict=True)  # fmt: skip
    _write(out / "patients.csv", csv_text(header, rows))
    tract_rows = zip(names, *cohort.of_tracts.values(), strict=True)
    _write(out / "tracts.csv", csv_text(("tract", *cohort.of_tracts), tract_rows))
    for name, planted in (("fair", None), ("unfair", effect)):
        lines = _script(items, cohort, seed, planted, repeats)
        _write(out / f"{name}.jsonl", "".join(lines))
    truth = {
        "attribute": effect.on,
        "drop": effect.drop,
        "patients_hit": int(effect.hit(cohort).sum()),
        "patients": len(patients),
        "tracts": len(names),
        "repeats": repeats,
        "seed": seed,
    }
    _write(out / "truth.json", json.dumps(truth, indent=2) + "\n")
    return cohort


def _write(path: Path, text: str) -> None:
    write_file(path, text, private=True)


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
