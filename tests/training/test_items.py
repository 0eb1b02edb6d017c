"""Which items a training reads: a split, a limit by chance, some categories."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form.trains import TRAINS
from clinqa.training.prepare import read_items, read_split
from clinqa.training.train_options import TrainOptions
from training.made_training import write


def options(**given: object) -> TrainOptions:
    return TrainOptions(model="hf:/m", preset="smedqa", **given)  # type: ignore[arg-type]


def test_a_category_alone_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "dataset"))
    every = read_items(dataset, "train", TRAINS)
    some = read_items(dataset, "train", TRAINS, categories=["valve"])
    assert 0 < len(some) < len(every)
    assert {item.question for item in some} == {"What of the valve?"}


def test_another_sample_takes_other_items_and_the_first_is_that_of_predict(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "dataset"))
    plain = [item.id for item in read_items(dataset, "train", TRAINS, limit=8)]
    taken = [
        {item.id for item in read_split(dataset, "train", TRAINS, 8, options(sample=at))}
        for at in (0, 1, 2)
    ]
    assert taken[0] == set(plain)
    assert len({frozenset(ids) for ids in taken}) == 3


def test_a_category_that_train_does_not_hold_is_an_error(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "dataset"))
    with pytest.raises(ConfigError, match="no items of category Astrology"):
        read_split(dataset, "train", TRAINS, None, options(categories=["Astrology"]))
