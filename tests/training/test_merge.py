"""An adapter merged into its model says what it said, and how many answers changed is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.training.merge import merge
from clinqa.training.train_options import MergeOptions
from tiny_model import make_tiny
from training.made_training import trained, write

pytestmark = pytest.mark.full


def test_a_merge_in_float32_changes_no_answer_and_is_held_to_what_was_learnt(
    tmp_path: Path,
) -> None:
    base = make_tiny(tmp_path / "base")
    dataset = write(tmp_path / "dataset", data_class="restricted")
    trained(dataset, base, tmp_path / "adapter", "epochs=2")
    options = MergeOptions(
        adapter=tmp_path / "adapter", items=6, max_tokens=8, device="cpu", threads=1
    )
    result = merge(dataset, tmp_path / "merged", options)
    assert result.counts["answers_compared"] == 6
    assert result.counts["answers_changed"] == 0
    manifest = json.loads((tmp_path / "merged" / "manifest.json").read_text())
    assert manifest["data_class"] == "restricted"
    assert manifest["details"]["drift"]["split"] == "validation"
    assert merge(dataset, tmp_path / "merged", options).already_done
    asking = PredictOptions(model=f"hf:{tmp_path / 'merged'}", max_tokens=4, device="cpu")
    predict(dataset, tmp_path / "run", asking)
    with pytest.raises(ConfigError, match="trained on 24 of the 24 items"):
        train_items = PredictOptions(model=f"hf:{tmp_path / 'merged'}", split="train")
        predict(dataset, tmp_path / "run2", train_items)


def test_only_adapters_of_clinqa_are_merged(tmp_path: Path) -> None:
    dataset = write(tmp_path / "dataset")
    (tmp_path / "other").mkdir()
    with pytest.raises(ConfigError, match="not an adapter that clinqa train made"):
        merge(dataset, tmp_path / "merged", MergeOptions(adapter=tmp_path / "other"))
