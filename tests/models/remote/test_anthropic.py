"""Anthropic's Messages, against a server that checks headers and body."""

from __future__ import annotations

from typing import Any

import pytest

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.records import DataClass
from clinqa.models.remote.anthropic import AnthropicWire
from loopback import Loopback, Reply, Request, reply
from remote_asking import Instant, answers, one, options, prompts, remote


def message(content: list[dict[str, Any]] | None = None, reason: str = "end_turn") -> Reply:
    return reply(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "c",
            "content": [{"type": "text", "text": "Mild."}] if content is None else content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 20, "output_tokens": 4},
        }
    )


def error(status: int, kind: str, text: str = "?", **more: Any) -> Reply:
    body = {"type": "error", "error": {"type": kind, "message": text, **more}, "request_id": "r"}
    return reply(body, status)


def strict(request: Request) -> Reply:
    if (request.method, request.target) != ("POST", "/v1/messages"):
        return error(404, "not_found_error")
    if request.headers.get("x-api-key") != "sk-ant-1":
        return error(401, "authentication_error", "invalid x-api-key")
    if request.headers.get("anthropic-version") != "2023-06-01":
        return error(400, "invalid_request_error", "anthropic-version: header is required")
    body = request.json
    known = {"model", "max_tokens", "messages", "system", "temperature", "top_p", "stream"}
    known |= {"stop_sequences"}
    if set(body) - known or not {"model", "max_tokens", "messages"} <= set(body):
        return error(400, "invalid_request_error", "extra inputs are not permitted")
    assert body["system"] == "Answer from the report."
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert isinstance(body["max_tokens"], int)
    return message()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-ant-1")


def wire(server: Loopback, **given: Any) -> AnthropicWire:
    return AnthropicWire("c", options(base_url=server.url, api_key_env="MY_KEY", **given))


def test_a_request_is_as_the_reference_says() -> None:
    with Loopback(strict) as server:
        output = one(remote(wire(server)), max_tokens=11, stop=("END",), temperature=0.3)
        body = server.requests[0].json
    assert (output.text, output.finish_reason) == ("Mild.", "stop")
    assert (output.input_tokens, output.output_tokens) == (20, 4)
    assert (body["max_tokens"], body["stop_sequences"], body["temperature"]) == (11, ["END"], 0.3)
    assert "top_p" not in body and "cache_control" not in str(body)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "length"),
        ("MAX_TOKENS", "length"),
    ],
)
def test_every_reason_to_stop_is_told_apart(reason: str, finish: str) -> None:
    with Loopback(lambda _: message(reason=reason)) as server:
        assert one(remote(wire(server))).finish_reason == finish


def test_thinking_is_no_answer_and_no_text_is_an_empty_one() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    with Loopback(lambda _: message([thought, {"type": "text", "text": "Mild."}])) as server:
        assert one(remote(wire(server))).text == "Mild."
    with Loopback(lambda _: message([])) as server:
        output = one(remote(wire(server)))
        assert (output.text, output.finish_reason, output.error) == ("", "stop", "")


def test_overload_is_waited_out_and_a_spent_limit_is_not() -> None:
    said = [error(529, "overloaded_error"), error(529, "overloaded_error"), message()]
    with Loopback(lambda _: said.pop(0)) as server:
        assert one(remote(wire(server), Instant())).text == "Mild."
    spent = error(429, "rate_limit_error", details={"error_code": "enforced_spend_limit_reached"})
    with Loopback(lambda _: spent) as server, pytest.raises(ModelError, match="spending limit"):
        one(remote(wire(server)))
    assert len(server.requests) == 1


def test_a_prompt_that_is_too_long_is_recorded_as_that() -> None:
    long = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    with Loopback(lambda _: long) as server:
        outputs = answers(remote(wire(server)), prompts(9))
    assert {output.error for output in outputs} == {"context"}
    with Loopback(lambda _: error(413, "request_too_large")) as server:
        assert one(remote(wire(server))).error == "context"


def test_a_wrong_key_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-ant-2")
    with Loopback(strict) as server, pytest.raises(ModelError, match="MY_KEY") as ended:
        one(remote(wire(server)))
    assert "sk-ant" not in str(ended.value)


def test_the_vendor_needs_its_key_and_gets_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    vendor = AnthropicWire("c", options(data_class=DataClass.PUBLIC))
    assert vendor.url == "https://api.anthropic.com/v1/messages"
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        vendor.check_key()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-real")
    elsewhere = AnthropicWire("c", options(base_url="http://127.0.0.1:1"))
    assert "x-api-key" not in elsewhere.headers(b"")


def test_what_is_no_message_is_bad_output() -> None:
    with Loopback(lambda _: reply({"type": "message", "content": [5]})) as server:
        assert one(remote(wire(server))).error == "bad_output"
        assert len(server.requests) == 2


@pytest.mark.parametrize("body", [{"type": "completion"}, {"id": "x", "content": []}])
def test_another_format_is_named_with_one_request(body: dict[str, Any]) -> None:
    with Loopback(lambda _: reply(body)) as server:
        with pytest.raises(ModelError, match="no message of Anthropic"):
            one(remote(wire(server)))
        assert len(server.requests) == 1


def test_a_schema_is_refused_here() -> None:
    with pytest.raises(ConfigError, match="schema"):
        AnthropicWire("c", options(extra={"json_schema": "{}"}))
