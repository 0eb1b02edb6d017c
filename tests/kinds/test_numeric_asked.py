"""A kind of another package is asked, read, answered by baselines and trained, by rooms that do
not know it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from asking.made_dataset import predictions
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import load_template
from clinqa.asking.results import read_prompts
from clinqa.asking.source import kind_of_items
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds import registry
from clinqa.kinds.registry import register
from clinqa.models.local.render import Renderer
from clinqa.training.examples import Encoder
from clinqa.training.prepare import check_kind, read_items
from clinqa.training.presets import load_preset, resolve
from kinds.numeric import KIND
from kinds.numeric.made import dataset
from kinds.numeric.trains import TRAINS
from sealing import list_again
from training.letters import Letters


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(registry, "_MORE", {})
    register(KIND)
    return dataset(tmp_path / "numbers")


def asked(folder: Path, out: Path, model: str, **told: object) -> list[dict[str, object]]:
    predict(folder, out, PredictOptions(model=model, **told))  # type: ignore[arg-type]
    return predictions(out)


def test_it_is_asked_in_its_own_words_with_shots_and_read_by_its_own_rules(
    folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.jsonl"
    replies = [("visit 20", "Some 70 a minute"), ("visit 21", "70 or 71"), (None, "unknown")]
    lines = [{"match": match, "output": text} for match, text in replies]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = asked(folder, tmp_path / "run", f"scripted:{script}", shots=2)
    told = {row["answer_status"]: row["answer"] for row in rows}
    assert len(rows) == 10 and told == {"answered": "70", "ambiguous": None, "unreadable": None}
    for _, messages in read_prompts(tmp_path / "run" / "prompts.jsonl"):
        assert [turn.role for turn in messages[1:]] == [*["user", "assistant"] * 2, "user"]
        assert messages[0].text.startswith("You measure.")
        assert messages[-1].text.startswith("Measure: What") and "Within 2." in messages[-1].text


@pytest.mark.parametrize(("name", "answer"), [("prior", "50.0"), ("sixty", "60")])
def test_baselines_answer_it(folder: Path, tmp_path: Path, name: str, answer: str) -> None:
    rows = asked(folder, tmp_path / "run", f"baseline:{name}")
    wanted = {answer} if name == "sixty" else {"50", "50.0", "57.0"}
    assert {row["answer"] for row in rows} <= wanted
    assert answer in {row["answer"] for row in rows}
    assert {row["answer_status"] for row in rows} == {"answered"}


@pytest.mark.parametrize("told", [{"orders": 2}, {"constrained": True}, {"first_token": True}])
def test_what_it_cannot_do_is_refused(folder: Path, tmp_path: Path, told: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="items, not numeric"):
        asked(folder, tmp_path / "run", "baseline:prior", **told)
    with pytest.raises(ConfigError, match="bag-of-words: answers true_false items only"):
        asked(folder, tmp_path / "run", "baseline:bag-of-words")


def test_its_target_is_masked_and_a_preset_is_chosen_by_what_it_needs(folder: Path) -> None:
    opened = open_dataset(folder)
    assert kind_of_items(opened, SPLITS) is KIND
    assert check_kind(opened, resolve(load_preset("echoqa"), "m")) is KIND
    for preset in ("ecgquest", "encoder"):
        with pytest.raises(ConfigError, match="its items are numeric, and preset"):
            check_kind(opened, resolve(load_preset(preset), "m"))
    with pytest.raises(ConfigError, match=r"macro_f1 is for True/False items; .* are numeric"):
        check_kind(opened, resolve(load_preset("smedqa"), "m", ["best_by=macro_f1"]))
    template = load_template("numeric")
    made = Encoder("m", Renderer.of(Letters()), template, false_weight=3.0)
    items = read_items(opened, "train", TRAINS)
    example = made.example(items[0])
    read, learnt = made.shown(example)
    assert len(items) == 20 and example.weight == 1.0 and example.label is None
    assert "Measure: What" in read and "Within 2." in read
    assert learnt == f"{items[0].lesson.answer}<|end|>"


def test_an_item_without_a_number_is_named(folder: Path) -> None:
    path = folder / "data/train-00000-of-00001.parquet"
    table = pq.read_table(path)
    values = [None, *table["value"].to_pylist()[1:]]
    place = table.column_names.index("value")
    table = table.set_column(place, table.schema.field(place), [values])
    pq.write_table(table, path)
    list_again(folder)
    name = table["id"][0].as_py()
    with pytest.raises(ConfigError, match=f"item {name} has no number"):
        read_items(open_dataset(folder), "train", TRAINS)
