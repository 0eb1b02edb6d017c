"""A server's own words, as far as they can be shown."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.errors import ModelError
from clinqa.models.protocol import Message, Prompt
from clinqa.models.remote.notes import is_cut, same_model
from clinqa.models.remote.openai import OpenAIWire
from clinqa.models.remote.reasons import safe_name, safe_reason, without_keys
from loopback import Loopback, Reply, Request, reply
from remote_asking import SECRET_TEXT, answers, one, options, prompts, remote

WORDS = st.lists(
    st.sampled_from(["quimby", "estrogen", "71y", "Severe", "mitral", "4711", "café"]), min_size=1
)


@given(WORDS, st.integers(0, 40), st.sampled_from(["Invalid input: {}", "'{}' is wrong", "{}"]))
def test_no_word_of_a_prompt_is_shown_but_those_of_services(
    words: list[str], cut: int, frame: str
) -> None:
    prompt = f"The report of {' '.join(words)}."
    shown = safe_reason(frame.format(prompt[: len(prompt) - cut]), [], [prompt])
    for word in words:
        assert not re.search(rf"\b{re.escape(word)}\b", shown, re.I)


@given(st.text(alphabet="abcdef0123456789-_", min_size=12, max_size=60), st.text(max_size=20))
def test_no_six_characters_of_a_key_in_a_row_are_shown(key: str, around: str) -> None:
    for said in (f"{around} {key}", f"key={key[:9]}", f"Bearer {key[3:]}!"):
        shown = without_keys(said, [key])
        left = shown.replace(around, "")
        assert not any(key[at : at + 6] in left for at in range(len(key) - 5))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no credits left", "no credits left"),
        ("bad\x1b[31m\nthing\u202e", "bad\\x1b[31m thing\\u202e"),
        ("Incorrect key: sk-proj-****wxyz.", "Incorrect key: ***"),
        ("the input 'Mild regurgitation here' is odd", "the input '…' is odd"),
        ("x" * 400, "x" * 159 + "…"),
    ],
)
def test_a_reason_is_one_bounded_line_that_moves_nothing(said: str, shown: str) -> None:
    assert safe_reason(said, [], ["Q"]) == shown


def test_where_more_went_than_is_left_nothing_is_shown() -> None:
    assert safe_reason(SECRET_TEXT, [], [SECRET_TEXT]) == ""


def test_a_name_that_is_none_is_not_shown_as_one() -> None:
    assert safe_name("gpt-4o-2024-08-06", [], ["Q"]) == "gpt-4o-2024-08-06"
    assert "Quimby" not in safe_name("of Quimby", [], [SECRET_TEXT])
    assert safe_name("sk-abcdef123", ["sk-abcdef123"], []) == "***"


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4", "gpt-3", False),
        ("openai/gpt-4o", "gpt-4o", True),
        ("llama3", "llama3:latest", True),
        ("qwen2.5:7b", "qwen2.5:72b", False),
        ("claude-sonnet-4", "claude-sonnet-4-20250514", True),
        ("gemini-2.5-pro", "gemini-2.5-pro-preview-05-06", True),
        ("Meta-Llama-3-8B", "/models/meta-llama-3-8b.gguf", True),
        ("m", "gpt-3.5-turbo", False),
    ],
)
def test_dates_and_providers_make_no_other_model_sizes_do(
    asked: str, served: str, same: bool
) -> None:
    assert same_model(asked, served) is same


def test_a_context_is_cut_where_a_token_would_have_more_than_8_characters() -> None:
    long = (Message("user", "Mild regurgitation of the valve. " * 30),)
    assert is_cut(11, long) and not is_cut(250, long)
    assert not is_cut(0, long) and not is_cut(None, long)
    assert not is_cut(3, (Message("user", "Mild regurgitation of the valve."),))
    assert not is_cut(20, (Message("user", " " * 9000 + "word"),))


def chat(text: str = "Mild.", model: str = "m", counted: int = 90) -> Reply:
    message = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": counted, "completion_tokens": 2}
    return reply({"choices": [message], "model": model, "usage": usage})


def test_another_model_and_a_cut_context_are_told_once_and_counted() -> None:
    told: list[str] = []
    with Loopback(lambda _: chat(model="other-9b", counted=3)) as server:
        model = remote(OpenAIWire("m", options(base_url=server.url)), notice=told.append)
        answers(model, [long(prompt) for prompt in prompts(5)])
    assert model.service() == {"models": {"other-9b": 5}, "cut_context": 5}
    assert len(told) == 2 and len(model.service_warnings()) == 2
    assert "other-9b answered (5 of 5)" in model.service_warnings()[0]
    assert "5 of 5 prompts" in model.service_warnings()[1]


def long(prompt: Prompt) -> Prompt:
    message = Message("user", "The left ventricle is of normal size. " * 20)
    return replace(prompt, messages=(message,))


def test_a_key_that_comes_back_goes_no_further(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", "tok-3f9a7c21d0")
    told: list[str] = []
    count = iter(range(99))

    def echo(request: Request) -> Reply:
        key = request.headers["authorization"].removeprefix("Bearer ")
        if next(count) == 0:
            return reply({"error": {"message": f"busy: {key}", "code": key}}, 429, Retry_After="9")
        return chat(f"Your key is {key}", model=key)

    with Loopback(echo) as server:
        wire = OpenAIWire("m", options(base_url=server.url, api_key_env="MY_KEY"))
        model = remote(wire, notice=told.append)
        output = one(model)
    assert output.text == "Your key is ***"
    everything = f"{told}{model.service()}{model.service_warnings()}{model.because()}{output}"
    assert "3f9a7c" not in everything

    with Loopback(lambda _: reply({"error": {"message": "bad tok-3f9a7c***"}}, 401)) as server:
        wire = OpenAIWire("m", options(base_url=server.url, api_key_env="MY_KEY"))
        with pytest.raises(ModelError) as ended:
            one(remote(wire))
    assert "3f9a7c" not in str(ended.value)


def test_what_is_wrong_with_all_requests_costs_one() -> None:
    for made in (reply({"error": {"message": "no credits"}}, 402), Reply(401), Reply(404)):
        with Loopback(lambda _, made=made: made) as server:
            model = remote(OpenAIWire("m", options(base_url=server.url)), max_parallel=32)
            with pytest.raises(ModelError):
                answers(model, prompts(100))
            assert len(server.requests) == 1


def test_one_items_refusal_never_ends_a_run() -> None:
    flagged = reply({"error": {"code": 403, "message": "Your input was flagged: moderation"}}, 403)

    def handler(request: Request) -> Reply:
        return flagged if "Quimby. 0" in request.body.decode() else chat()

    with Loopback(handler) as server:
        model = remote(OpenAIWire("m", options(base_url=server.url)))
        found = answers(model, prompts(6))
        assert len(server.requests) == 6
    assert [output.finish_reason for output in found] == ["content_filter"] + ["stop"] * 5


def test_an_end_that_is_not_said_is_told_and_a_full_answer_is_cut() -> None:
    body = {"choices": [{"message": {"content": "Mild."}}], "usage": {"completion_tokens": 4}}
    with Loopback(lambda _: reply(body)) as server:
        model = remote(OpenAIWire("m", options(base_url=server.url)))
        found = answers(model, prompts(2), max_tokens=4)
    assert {output.finish_reason for output in found} == {"length"}
    assert "did not say how 2 of 2 answers ended" in model.service_warnings()[0]


def test_a_name_of_any_length_is_cut_before_it_is_looked_at() -> None:
    begun = time.process_time()
    assert len(safe_name("a" * 300_000, [], [])) <= 60
    assert without_keys("b" * 20_000, ["secret-key-1"]) == "b" * 20_000
    assert time.process_time() - begun < 5  # minutes where every letter is a new beginning
