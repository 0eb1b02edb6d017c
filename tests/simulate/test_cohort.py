"""Made cohorts: the same for the same seed, attributes at their level, an effect of known size."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from clinqa.core.errors import ConfigError
from clinqa.simulate.answerers import (
    FILES,
    AnswererItem,
    Effect,
    chance_right,
    make_cohort,
    write_cohort,
)

PATIENTS = [f"p{number:04d}" for number in range(2000)]


def items() -> list[AnswererItem]:
    return [
        AnswererItem(
            f"i{n:03d}", f"p{n // 6:02d}", f"a{n % 3}", n % 4, f"level {n % 4} of a{n % 3}"
        )
        for n in range(240)
    ]


def test_the_same_patients_and_seed_give_the_same_cohort() -> None:
    one, two = make_cohort(PATIENTS, 3), make_cohort(PATIENTS, 3)
    assert one.tract.tolist() == two.tract.tolist() and one.of_patients == two.of_patients
    assert make_cohort(PATIENTS, 4).of_patients != one.of_patients


def test_attributes_of_tracts_are_those_of_all_patients_in_them() -> None:
    cohort = make_cohort(PATIENTS, 1)
    income = np.array(cohort.values("income"))
    for tract in np.unique(cohort.tract):
        assert len(set(income[cohort.tract == tract].tolist())) == 1
    assert any(value == "" for value in cohort.values("race"))  # some are not known


@pytest.mark.parametrize("on", ["income", "insurance"])
def test_the_effect_hits_one_group_by_its_size_and_nobody_else(on: str) -> None:
    cohort = make_cohort(PATIENTS, 2)
    effect = Effect(on, 0.2)
    patient = np.arange(len(PATIENTS))
    nothing = np.zeros(len(PATIENTS))
    how = {"base": 0.6, "between_patients": 0.05, "between_tracts": 0.0}
    fair = chance_right(cohort, patient, nothing, 5, **how)
    unfair = chance_right(cohort, patient, nothing, 5, effect, **how)
    hit = effect.hit(cohort)
    assert 0.1 < hit.mean() < 0.4
    assert fair[~hit].tolist() == unfair[~hit].tolist()
    assert (fair - unfair)[hit].mean() == pytest.approx(0.2, abs=0.005)


def test_an_attribute_that_is_none_is_said() -> None:
    with pytest.raises(ConfigError, match="no attribute 'zodiac'"):
        Effect("zodiac", 0.1).hit(make_cohort(PATIENTS[:20], 1))


def test_the_folder_holds_tables_scripts_and_what_was_planted(tmp_path: Path) -> None:
    write_cohort(items(), tmp_path / "a", seed=1, effect=Effect("insurance", 0.5), repeats=2)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(FILES)
    for path in (tmp_path / "a").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    truth = json.loads((tmp_path / "a/truth.json").read_text())
    assert truth["attribute"] == "insurance" and truth["patients"] == 40
    lines = [json.loads(line) for line in (tmp_path / "a/fair.jsonl").open()]
    assert len(lines) == 480 and {line["repeat"] for line in lines} == {0, 1}
    known = {item.id: item for item in items()}
    wrong = [line for line in lines if line["output"] != known[line["item"]].answer]
    assert 0.05 < len(wrong) / len(lines) < 0.6
    assert all(line["output"].endswith(known[line["item"]].category) for line in wrong)


def test_the_order_of_items_does_not_matter(tmp_path: Path) -> None:
    for name, given in (("a", items()), ("b", items()[::-1])):
        write_cohort(given, tmp_path / name, seed=1, effect=Effect("age", 0.1))
    for name in FILES:
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()
