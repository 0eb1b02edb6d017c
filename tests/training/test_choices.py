"""Training on multiple choice: question with options, letter with text, and back into predict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.multiple_choice.trains import TRAINS
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from clinqa.training.prepare import read_items
from scoring.choice.made_choices import dataset, row, rows, table
from sealing import list_again
from tiny_model import make_tiny
from training.made_training import FAST, trained

pytestmark = pytest.mark.full


def _with_validation(folder: Path) -> Path:
    """Validation items are train's of another number."""
    data = dataset(folder, test=rows(6))
    items = dataset(folder.parent / "other", train=rows(4, 700))
    name = "data/validation-00000-of-00001.parquet"
    source = items.folder / "data/train-00000-of-00001.parquet"
    (folder / name).write_bytes(source.read_bytes())
    list_again(folder)
    return data.folder


def test_smedqa_trains_on_letters_and_texts_and_predict_asks_in_the_same_words(
    tmp_path: Path,
) -> None:
    base = make_tiny(tmp_path / "base")
    data = _with_validation(tmp_path / "data")
    trained(data, base, tmp_path / "adapter", *FAST, "epochs=2", preset="smedqa")
    details = json.loads((tmp_path / "adapter" / "manifest.json").read_text())["details"]
    assert details["kind"] == "multiple_choice"
    assert 0 <= details["validation"]["exact"] <= details["validation"]["accuracy"] <= 1
    told = PredictOptions(
        model=f"hf:{base}", adapters=[tmp_path / "adapter"], orders=2, max_tokens=6
    )
    result = predict(data, tmp_path / "run", told)
    assert not [warning for warning in result.warnings if "another wording" in warning]
    weighed = table(tmp_path / "run", "choices")
    assert len(weighed) == 12 and all(len(one["log_probabilities"]) == 4 for one in weighed)
    score(data, [tmp_path / "run"], tmp_path / "scores", ScoreOptions(draws=100))
    body = json.loads((tmp_path / "scores" / "scores.json").read_text())
    assert body["meta"]["runs"][0]["readers"] == ["string", "first_token", "matcher"]
    with pytest.raises(ConfigError, match="was trained on"):
        predict(data, tmp_path / "seen", PredictOptions(
            model=f"hf:{base}", adapters=[tmp_path / "adapter"], split="train"))  # fmt: skip


def test_what_is_learnt_is_the_letter_where_the_option_stands(tmp_path: Path) -> None:
    data = dataset(tmp_path / "data", train=[*rows(20), row(99, ["x", "Both A and C", "z"], 1)])
    items = read_items(open_dataset(data.folder), "train", TRAINS)
    assert len(items) == 21
    for item in items:
        assert item.lesson.answer in item.lesson.asked.splitlines()
        assert item.question in item.lesson.asked and "A) " not in item.question
    assert len({item.lesson.answer[0] for item in items}) == 4
    [fixed] = [item for item in items if "Both" in item.lesson.answer]
    assert fixed.lesson.asked.endswith("A) x\nB) Both A and C\nC) z")


def test_an_item_without_an_answer_among_its_options_is_named(tmp_path: Path) -> None:
    broken = row(1, ["x", "y"], 0, answer_index=5)
    data = dataset(tmp_path / "data", train=[broken])
    with pytest.raises(ConfigError, match=str(broken["id"])):
        read_items(open_dataset(data.folder), "train", TRAINS)
