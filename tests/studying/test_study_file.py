"""Study files: what they may say, what they plan, and that nothing is trained twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.core.finished import RUN, open_finished
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.multiple_choice.prompted import by_order
from clinqa.studying.answers import AskedOf, rows_of_run
from clinqa.studying.plan import Plan, plan_of
from clinqa.studying.spec import read_study
from clinqa.studying.whole_study import check_study
from studying.made_bank import SIZES, made_bank, study_file


def plan(folder: Path, *more: str) -> Plan:
    made_bank(folder)
    spec = read_study(study_file(folder, *more))
    return plan_of(spec, open_dataset(spec.dataset))


def test_each_specialty_and_all_are_trained_in_both_arms_with_every_seed(tmp_path: Path) -> None:
    found = plan(tmp_path)
    assert found.specialties == tuple(SIZES)
    by_row: dict[str, list[tuple[tuple[str, ...], int, int | None]]] = {}
    for one in found.trainings:
        if one.seed == 0:
            by_row.setdefault(one.trained_on, []).append((one.arms, one.items, one.limit))
    assert by_row["Cardiology"] == [(("full",), 6, None), (("matched",), 3, 3)]
    assert by_row["all"] == [(("full",), 13, None), (("matched",), 3, 3)]
    # the smallest is the same in both arms, and is trained once
    assert by_row["Pediatrics"] == [(("full", "matched"), 3, None)]
    assert len(found.trainings) == 1 + 7 * 3
    assert len({one.name for one in found.trainings}) == 22
    assert not any(name in one.name for one in found.trainings for name in SIZES)


def test_one_arm_two_specialties_and_no_untrained_model(tmp_path: Path) -> None:
    found = plan(
        tmp_path, "arms: [full]", "specialties: [Neurology, Cardiology]", "untrained: false"
    )
    assert found.specialties == ("Neurology", "Cardiology")
    assert [one.trained_on for one in found.trainings if one.seed == 1] == [
        "Neurology", "Cardiology", "all",
    ]  # fmt: skip
    assert found.trainings[-1].categories == ("Neurology", "Cardiology")
    assert found.test_items == 6


def test_a_check_says_what_the_study_will_not_be_able_to_say(tmp_path: Path) -> None:
    text = "\n".join(plan(tmp_path, "seeds: [4, 5]").lines())
    assert "14 trainings of embedded:smollm2 by preset smedqa" in text
    assert "the own-specialty interaction needs 3" in text
    assert "no permutation test" in text
    assert "fewer than 30 questions" in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("specialties: [Cardiology, Urology]", "no questions of Urology; it holds Cardiology"),
        ("least_train: 6", "compares two or more"),
        ("dataset: nowhere", "is no folder"),
        ("kind: survey", "kind"),
        ("seeds: [1, 1]", "stands twice"),
        ("seeds: []", "at least one"),
        ("specialties: [Cardiology]", "two or more names"),
        ("specialties: [all, Cardiology]", "two or more names"),
        ("orders: 0", "orders"),
        ("color: red", "color: no such option; did you mean "),
        ("seed_s: 3", "yaml:5: seed_s: no such option; did you mean seeds"),
        ("orders: 1001", "yaml:4: orders: must be 1 to 1,000"),
        ("settings: ", "settings: has no value; give one, or leave the key out"),
        ("dtype: null", "dtype: has no value"),
        ("7: red", "7: a key is a name, and this is none$"),
        ("null: red", "None: a key is a name, and this is none$"),
        ("[a, b]: red", "not valid YAML|a key is a name"),
        ("max_tokens: many", "max_tokens: .*valid integer"),
        ("arms: [half]", "arms"),
        ("preset: smedqq", "there are echoqa"),
        ("settings: {epochss: 1}", "epochs"),
        ("settings: {epochs: many}", "epochs"),
    ],
)
def test_what_a_study_file_may_not_say(tmp_path: Path, more: str, said: str) -> None:
    made_bank(tmp_path)
    with pytest.raises(ConfigError, match=said):
        check_study(study_file(tmp_path, more))


def test_settings_are_those_of_set(tmp_path: Path) -> None:
    made_bank(tmp_path)
    spec = read_study(study_file(tmp_path, "settings: {max_steps: 3, learning_rate: 0.001}"))
    assert spec.overrides == ["max_steps=3", "learning_rate=0.001"]


def test_a_dataset_of_another_kind_is_refused(tmp_path: Path) -> None:
    from training.made_training import write

    write(tmp_path / "bank")
    with pytest.raises(ConfigError, match="have no options to be put in orders"):
        check_study(study_file(tmp_path))


def test_the_letters_of_a_run_are_read_through_its_orders(tmp_path: Path) -> None:
    """A model that always says A is right where the right option stands first."""
    dataset = open_dataset(made_bank(tmp_path))
    script = tmp_path / "script.jsonl"
    script.write_text('{"match": null, "output": "A"}\n', encoding="utf-8")
    options = PredictOptions(model=f"scripted:{script}", orders=6)
    predict(dataset.folder, tmp_path / "run", options)
    items = {
        row["id"]: row
        for table in dataset.batches("test", ["id", "group", "category", "answer_index"])
        for row in table.to_pylist()
    }
    asked = AskedOf(("full", "matched"), "all", 2, 13)
    full, matched = rows_of_run(open_finished(tmp_path / "run", RUN), items, by_order, asked)
    assert full.num_rows == matched.num_rows == 8 * 6  # all six orders of three options
    by_item: dict[str, list[bool]] = {}
    for row in full.to_pylist():
        assert (row["arm"], row["trained_on"], row["seed"]) == ("full", "all", 2)
        by_item.setdefault(row["item_id"], []).append(row["right"])
    assert all(sum(right) == 2 for right in by_item.values())


def test_a_failed_question_is_missing_and_an_unreadable_answer_wrong(tmp_path: Path) -> None:
    dataset = open_dataset(made_bank(tmp_path))
    script = tmp_path / "script.jsonl"
    script.write_text(
        '{"match": "Cardiology", "output": "", "finish_reason": "error", "error": "timeout"}\n'
        '{"match": null, "output": "none of this"}\n',
        encoding="utf-8",
    )
    predict(dataset.folder, tmp_path / "run", PredictOptions(model=f"scripted:{script}", orders=2))
    items = {
        row["id"]: row
        for table in dataset.batches("test", ["id", "group", "category", "answer_index"])
        for row in table.to_pylist()
    }
    asked = AskedOf(("",), "none", None, None)
    (rows,) = rows_of_run(open_finished(tmp_path / "run", RUN), items, by_order, asked)
    found = {(row["specialty"], row["right"]) for row in rows.to_pylist()}
    assert found == {("Cardiology", None), ("Neurology", False), ("Pediatrics", False)}
