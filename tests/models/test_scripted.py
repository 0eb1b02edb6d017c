"""The scripted model: replies from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import Message, ModelOptions, Output, Prompt, Sampling
from clinqa.models.registry import open_model


def script(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    return path


def ask(path: Path, text: str) -> Output:
    messages = (Message("user", "mitral shot"), Message("assistant", "x"), Message("user", text))
    prompt = Prompt("id", messages, text, "", "", "", 0, 0)
    model = open_model(f"scripted:{path}", ModelOptions())
    [(index, output)] = model.generate([prompt], Sampling())
    assert index == 0
    return output


def test_the_first_line_that_matches_the_question_answers(tmp_path: Path) -> None:
    path = script(
        tmp_path / "s.jsonl",
        {"match": "mitral", "output": "MR."},
        {"match": "aortic", "output": "", "finish_reason": "refusal"},
        {"match": None, "output": "Normal.", "finish_reason": "length"},
    )
    assert ask(path, "about the mitral valve").text == "MR."
    assert ask(path, "about the aortic valve").finish_reason == "refusal"
    assert ask(path, "about a shunt").text == "Normal."


def test_what_no_line_matches_is_an_error_of_the_item(tmp_path: Path) -> None:
    path = script(tmp_path / "s.jsonl", {"match": "aortic", "output": "AS."})
    output = ask(path, "other")
    assert (output.finish_reason, output.error) == ("error", "bad_output")


@pytest.mark.parametrize(
    "line",
    [
        {"match": "a"}, {"match": "a", "output": 3}, {"match": 1, "output": "x"}, [], "text",
        {"match": "a", "output": "b", "finish_reason": "done"},
        {"match": "a", "output": "b", "finish_reason": "error"},
        {"match": "a", "output": "b", "error": "server"},
        {"match": "a", "output": "b", "finish_reason": "error", "error": "odd"},
        {"match": "a", "output": "b", "other": 1},
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: object) -> None:
    path = script(tmp_path / "s.jsonl", {"match": None, "output": "x"}, line)
    with pytest.raises(ConfigError, match=r"s\.jsonl:2"):
        open_model(f"scripted:{path}", ModelOptions())


def test_a_script_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        open_model(f"scripted:{tmp_path / 'none'}", ModelOptions())


def test_a_line_may_answer_one_item_and_one_repeat_of_it(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    lines = [
        {"item": "a", "repeat": 1, "output": "second"},
        {"item": "a", "output": "first"},
        {"item": "a", "output": "never"},
        {"match": None, "output": "else"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    model = open_model(f"scripted:{path}", ModelOptions())
    asked = [("a", 0), ("a", 1), ("b", 0)]
    prompts = [
        Prompt(item, (Message("user", "?"),), "?", "", "c", "finding", 0, repeat)
        for item, repeat in asked
    ]
    said = [output.text for _, output in model.generate(prompts, Sampling())]
    assert said == ["first", "second", "else"]
    assert not model.deterministic  # repeats differ, so they are asked


@pytest.mark.parametrize(
    "line",
    [
        '{"output": "for no prompt"}',
        '{"item": "a", "match": "b", "output": "both"}',
        '{"match": null, "repeat": 1, "output": "a repeat of nothing"}',
        '{"item": "a", "repeat": "1", "output": "no number"}',
        '{"item": 7, "output": "no id"}',
    ],
)
def test_a_line_that_names_its_prompt_badly_is_an_error_with_its_number(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ConfigError, match=r"script\.jsonl:1"):
        open_model(f"scripted:{path}", ModelOptions())
