"""Shots: the same for all items of a draw, never an item's own patient, varied, from train."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking.made_dataset import row, rows, write_dataset
from clinqa.asking.prompts import load_template
from clinqa.asking.shots import Draw, draw_shots
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form.asks import ASKS

TEMPLATE = load_template("long_form")


def drawn(folder: Path, *, shots: int = 3, seed: int = 0, draw: int = 0) -> Draw:
    return draw_shots(open_dataset(folder), TEMPLATE, ASKS.shots, shots, seed, [draw])[draw]


def by_id(items: list[dict[str, object]]) -> dict[object, dict[str, object]]:
    return {item["id"]: item for item in items}


def test_shots_differ_in_level_abnormality_and_patient(tmp_path: Path) -> None:
    train = rows([f"a{n}" for n in range(10)])
    write_dataset(tmp_path / "d", train=train)
    for seed in range(10):
        shots = [by_id(train)[one] for one in drawn(tmp_path / "d", seed=seed).ids]
        assert len({shot["group"] for shot in shots}) == 3
        assert len({shot["level"] for shot in shots}) == 3
        assert len({shot["category"] for shot in shots}) == 3


def test_seeds_and_draws_give_other_shots_and_each_gives_the_same_again(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d")
    assert drawn(tmp_path / "d").ids == drawn(tmp_path / "d").ids
    seen = {drawn(tmp_path / "d", seed=s, draw=d).ids for s in range(4) for d in range(4)}
    assert len(seen) > 8


def test_shots_do_not_depend_on_the_order_of_rows_or_on_row_groups(tmp_path: Path) -> None:
    train = rows([f"a{n}" for n in range(10)])
    write_dataset(tmp_path / "one", train=train, row_group=100)
    write_dataset(tmp_path / "two", train=train[::-1], row_group=4)
    for seed in range(5):
        assert drawn(tmp_path / "one", seed=seed).ids == drawn(tmp_path / "two", seed=seed).ids


def test_an_items_own_patient_is_replaced_in_its_place(tmp_path: Path) -> None:
    train = rows([f"a{n}" for n in range(10)])
    write_dataset(tmp_path / "d", train=train)
    draw = drawn(tmp_path / "d")
    for place, shot in enumerate(draw.ids):
        group = str(by_id(train)[shot]["group"])
        study = group.removeprefix("p-")
        prefix = draw.prefix_for(group)
        assert prefix == draw.prefix_for(group)
        assert not any(f"Study {study}." in message.text for message in prefix)
        for other in range(3):
            same = (
                prefix[1 + 2 * other : 3 + 2 * other] == draw.prefix[1 + 2 * other : 3 + 2 * other]
            )
            assert same == (other != place)


def test_all_other_items_share_one_beginning(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d")
    draw = drawn(tmp_path / "d")
    assert draw.prefix_for("p-t0") is draw.prefix_for("p-t1") is draw.prefix


def test_a_single_patient_in_a_stratum_still_leaves_a_replacement(tmp_path: Path) -> None:
    train = [row("a", "p-a", "lv_wall", n) for n in range(4)] + [row("b", "p-b", "lv_wall", 0)]
    write_dataset(tmp_path / "d", train=train)
    draw = drawn(tmp_path / "d", shots=1)
    for group, study in (("p-a", "a"), ("p-b", "b")):
        assert not any(f"Study {study}." in m.text for m in draw.prefix_for(group))


def test_too_few_patients_is_an_error_that_says_so(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", train=rows(["a", "b"]))
    with pytest.raises(ConfigError, match="too few patients"):
        drawn(tmp_path / "d")


def test_an_empty_train_split_is_an_error(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", train=[])
    with pytest.raises(ConfigError, match="too few patients"):
        drawn(tmp_path / "d")
    assert drawn(tmp_path / "d", shots=0).ids == ()
