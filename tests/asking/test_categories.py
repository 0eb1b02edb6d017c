"""Asking the items of some categories alone."""

from __future__ import annotations

import json
from pathlib import Path

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.source import ItemSource
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form.asks import ASKS
from training.made_training import write


def test_only_items_of_the_category_are_asked_and_a_limit_is_of_them(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "dataset"))
    every = ItemSource(dataset, ASKS, "test", None)
    category = next(iter(every)).category
    some = ItemSource(dataset, ASKS, "test", None, [category])
    assert {item.category for item in some} == {category}
    assert some.total + some.elsewhere == some.in_split == every.total
    one = ItemSource(dataset, ASKS, "test", 1, [category])
    assert [item.category for item in one] == [category]
    assert one.total == 1


def test_counts_say_what_was_of_another_category(tmp_path: Path) -> None:
    dataset = write(tmp_path / "dataset")
    category = next(iter(ItemSource(open_dataset(dataset), ASKS, "test", None))).category
    options = PredictOptions(model="baseline:prior", categories=[category])
    predict(dataset, tmp_path / "run", options)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    counts = manifest["counts"]["predictions"]
    assert counts["kept"] == counts["read"] - counts["out_of_scope_by_reason"]["category"]
    assert manifest["configuration"]["categories"] == [category]
