from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.training.presets import PRESETS, load_preset, resolve


def settings(preset: str, model: str = "hf:/models/any", *overrides: str):
    return resolve(load_preset(preset), model, overrides).settings


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_says_where_each_key_is_from(name: str) -> None:
    lines = resolve(load_preset(name), "embedded:smollm2").lines()
    assert lines[0].startswith(f"preset {name}: ")
    assert all(" paper" in line or " ours" in line for line in lines[1:])


def test_echoqa_is_what_the_paper_says() -> None:
    found = settings("echoqa")
    assert (found.epochs, found.learning_rate, found.scheduler) == (1, 2e-4, "cosine")
    assert (found.warmup, found.accumulation, found.quantization) == (0.01, 4, "nf4")
    assert (found.lora_rank, found.lora_alpha, found.lora_dropout) == (64, 16, 0.1)


def test_smedqa_is_what_the_paper_says() -> None:
    found = settings("smedqa")
    assert (found.learning_rate, found.epochs, found.best_by) == (2e-5, 10, "accuracy")
    assert (found.lora_rank, found.lora_alpha, found.batch_size) == (32, 16, 8)


@pytest.mark.parametrize(
    ("model", "rank", "weight"),
    [
        ("hf:/m/BioMistral-7B", 16, 1.5),
        ("hf:/m/Meta-Llama-3.1-8B-Instruct", 64, 3.0),
        ("hf:/m/Qwen2.5-14B-Instruct", 64, 0.8),
        ("hf:/m/gemma-4-12b-it", 64, 1.0),
        ("hf:/m/DeepSeek-R1-Distill-Qwen-14B", 64, 1.5),
        ("hf:/m/another", 64, 1.0),
    ],
)
def test_ecgquest_weighs_false_by_model(model: str, rank: int, weight: float) -> None:
    found = settings("ecgquest", model)
    assert (found.lora_rank, found.false_weight) == (rank, weight)
    assert found.lora_alpha == 2 * rank
    assert found.step_items == 64


def test_a_weight_of_the_paper_holds_at_its_rank_only() -> None:
    resolved = resolve(load_preset("ecgquest"), "hf:/m/Llama-3.1-8B", ["lora_rank=16"])
    assert resolved.settings.false_weight == 1.0
    assert resolved.settings.lora_alpha == 32
    assert resolved.sources["lora_rank"][0] == "you"
    assert resolved.sources["false_weight"][0] == "ours"


def test_an_override_is_read_as_yaml_and_marked() -> None:
    resolved = resolve(load_preset("echoqa"), "m", ["learning_rate=1e-4", "add_tokens=[<a>, <b>]"])
    assert resolved.settings.learning_rate == 1e-4
    assert resolved.settings.add_tokens == ("<a>", "<b>")
    assert resolved.sources["learning_rate"] == ("you", "")


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("learning-rate=1", "--set learning-rate"),
        ("epochs", "KEY=VALUE"),
        ("epochs=-1", "epochs"),
        ("epochs=.nan", "epochs"),
        ("batch_size=many", "batch_size"),
        ("method=encoder", "choose the preset"),
        ("epochs=[", "YAML"),
        ("add_tokens=['<|lvef|>']", "a mark of turns"),
        ("targets=everything", "targets"),
        ("learning_rate=1e39", "learning_rate"),
        ("accumulation=1000000000000000000000", "accumulation"),
        ("epochs=yes", "epochs: .*should be a number"),
        ("batch_size=true", "batch_size"),
        ("epochs=2001-99-99", "YAML"),
        ("epochs=" + "[" * 5000, "YAML"),
        ("lora_rank=null", "lora_rank"),
    ],
)
def test_a_wrong_override_is_one_clear_error(override: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says.replace("[", r"\[")):
        settings("echoqa", "m", override)


OWN = "name: mine\nsays: ours\nkinds: [long_form]\nsettings:\n  {}: {{value: 2, source: ours}}\n"


def test_a_preset_of_ones_own_is_read_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN.format("epochs"))
    assert settings(str(file)).epochs == 2
    file.write_text(OWN.format("epoch"))
    with pytest.raises(ConfigError, match="no such settings: epoch"):
        load_preset(str(file))
    file.write_text("name: [")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_preset(str(file))
    with pytest.raises(ConfigError, match="there are echoqa"):
        load_preset("echo")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_preset(str(tmp_path / "absent.yaml"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OWN.format("epochs") + "  epochs: {value: 3, source: ours}\n", "stands on line 5 already"),
        (OWN.format("epochs").replace("value: 2", "value: 2, value: 3"), "'value' stands on line"),
        (OWN.format("epochs").replace("2", "2001-99-99"), "not valid YAML"),
        ("[" * 50_000, "not valid YAML"),
        (OWN.format("epochs").replace("[long_form]", "[]"), "kinds"),
        (OWN.format("epochs").replace("mine", '"a\\nb"'), "name"),
        ("- a\n", "a mapping is expected"),
    ],
)
def test_a_broken_preset_is_one_clear_error(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=says):
        load_preset(str(file))


def test_the_last_of_two_overrides_holds_and_one_that_is_not_used_is_an_error() -> None:
    assert settings("echoqa", "m", "epochs=1", "epochs=2").epochs == 2
    with pytest.raises(ConfigError, match="--set lora_rank: preset encoder makes no use of it"):
        settings("encoder", "m", "lora_rank=8")


@pytest.mark.parametrize(("told", "word"), [("yes", "yes"), ("no", "no"), ("auto", "auto")])
def test_yes_and_no_are_words_where_words_are_asked_for(told: str, word: str) -> None:
    assert settings("echoqa", "m", f"gradient_checkpointing={told}").gradient_checkpointing == word


def test_twice_the_rank_needs_no_rank_in_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN.format("lora_alpha").replace("value: 2", "value: 2r"))
    assert settings(str(file)).lora_alpha == 32
    with pytest.raises(ConfigError, match="lora_rank"):
        settings("ecgquest", "m", "lora_rank=")


def test_a_value_for_a_model_has_the_source_that_the_file_gives(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    by_model = "value: 2, by_model: [{model: tiny, value: 3}]"
    file.write_text(OWN.format("epochs").replace("value: 2", by_model))
    resolved = resolve(load_preset(str(file)), "hf:tiny")
    assert (resolved.settings.epochs, resolved.sources["epochs"]) == (3, ("ours", "for tiny"))
    paper = resolve(load_preset("ecgquest"), "hf:BioMistral-7B").sources
    assert paper["lora_rank"][0] == paper["false_weight"][0] == "paper"
