"""Chat completions, against servers that check what OpenAI and vLLM would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.records import DataClass
from clinqa.models.protocol import Scorer
from clinqa.models.registry import open_model
from clinqa.models.remote.openai import OpenAIModel, OpenAIWire
from loopback import Loopback, Reply, Request, reply
from remote_asking import answers, one, options, prompt, prompts, remote

KNOWN = {
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "store",
    "stream",
    "response_format",
}


def completion(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Reply:
    return reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m-2026",
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45},
            **more,
        }
    )


def text(content: Any = "Severe.", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def strict(request: Request) -> Reply:
    """Refuses what the real one would."""
    if (request.method, request.target) != ("POST", "/v1/chat/completions"):
        return reply({"error": {"message": "Unknown URL", "type": "invalid_request_error"}}, 404)
    if request.headers.get("authorization") not in (None, "Bearer sk-1"):
        return reply({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, 401)
    assert request.headers["content-type"] == "application/json"
    body = request.json
    assert set(body) <= KNOWN, set(body) - KNOWN
    assert [turn["role"] for turn in body["messages"]] == ["system", "user", "assistant", "user"]
    assert all(set(turn) == {"role", "content"} for turn in body["messages"])
    return completion(text())


def wire(server: Loopback, **given: Any) -> OpenAIWire:
    return OpenAIWire("m", options(base_url=f"{server.url}/v1", **given))


def test_a_request_is_as_the_reference_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-1")
    with Loopback(strict) as server:
        output = one(
            remote(wire(server, api_key_env="MY_KEY")), max_tokens=9, top_p=0.5, stop=("\n",)
        )
        body = server.requests[0].json
    assert (output.text, output.finish_reason) == ("Severe.", "stop")
    assert (output.input_tokens, output.output_tokens) == (40, 5)
    assert output.error == "" and output.seconds >= 0
    assert body["model"] == "m" and body["max_tokens"] == 9
    assert (body["temperature"], body["top_p"], body["stop"]) == (0.0, 0.5, ["\n"])
    assert "seed" not in body and "store" not in body


def test_the_address_may_be_given_with_or_without_its_path() -> None:
    for given in ("", "/", "/v1", "/v1/", "/v1/chat/completions"):
        made = OpenAIWire("m", options(base_url=f"http://127.0.0.1:8000{given}"))
        assert made.url == "http://127.0.0.1:8000/v1/chat/completions"
    deep = OpenAIWire("m", options(base_url="https://host.example/api/openai/v2"))
    assert deep.url == "https://host.example/api/openai/v2/chat/completions"


def test_random_sampling_is_seeded_by_item_and_repeat() -> None:
    with Loopback(strict) as server:
        asked = [prompt(1), prompt(2), prompt(1, repeat=1), prompt(1)]
        answers(remote(wire(server), max_parallel=1), asked, temperature=0.7)
        seeds = [request.json["seed"] for request in server.requests]
    assert len(set(seeds[:3])) == 3 and seeds[3] == seeds[0]
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_the_vendors_key_goes_to_the_vendor_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    with Loopback(strict) as server:
        assert one(remote(wire(server))).text == "Severe."
        assert "authorization" not in server.requests[0].headers
    vendor = OpenAIWire("m", options(data_class=DataClass.PUBLIC))
    assert vendor.headers(b"")["Authorization"] == "Bearer sk-real"
    assert vendor.url == "https://api.openai.com/v1/chat/completions"


def test_the_vendor_is_asked_to_store_nothing_and_takes_the_newer_limit() -> None:
    from clinqa.models.protocol import Sampling

    body = json.loads(OpenAIWire("m", options()).body(prompt(), Sampling(max_tokens=7)))
    assert body["store"] is False and body["max_completion_tokens"] == 7
    assert "max_tokens" not in body


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with Loopback(strict) as server, pytest.raises(ConfigError, match="MY_KEY"):
        one(remote(wire(server, api_key_env="MY_KEY")))
    assert server.requests == []


def test_a_wrong_or_wanting_key_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-2")
    with Loopback(strict) as server, pytest.raises(ModelError, match="MY_KEY"):
        one(remote(wire(server, api_key_env="MY_KEY")))
    with Loopback(lambda _: Reply(401)) as server, pytest.raises(ModelError, match="--api-key-env"):
        one(remote(wire(server)))


@pytest.mark.parametrize(
    ("message", "finish", "expected"),
    [
        (text(), "stop", ("Severe.", "stop")),
        (text(), "length", ("Severe.", "length")),
        (text(), None, ("Severe.", "stop")),
        (text(), "eos", ("Severe.", "stop")),
        (text(""), "stop", ("", "stop")),
        (text(None), "stop", ("", "stop")),
        (text(None), "tool_calls", ("", "stop")),
        (text(), "MAX_TOKENS", ("Severe.", "length")),
        (text(None), "SAFETY", ("", "content_filter")),
        (text(None), "content_filter: PROHIBITED_CONTENT", ("", "content_filter")),
        (text(None), "length", ("", "length")),
        (text(None), "content_filter", ("", "content_filter")),
        (text(None, refusal="I can't help."), "stop", ("I can't help.", "refusal")),
        (
            text([{"type": "thinking"}, {"type": "text", "text": "Mild."}]),
            "stop",
            ("Mild.", "stop"),
        ),
        (text("Mild \ud800."), "stop", ("Mild ?.", "stop")),
        (text("Überlauf é"), "stop", ("Überlauf é", "stop")),
    ],
)
def test_every_kind_of_end_is_told_apart(
    message: dict[str, Any], finish: str | None, expected: tuple[str, str]
) -> None:
    with Loopback(lambda _: completion(message, finish)) as server:
        output = one(remote(wire(server)))
    assert (output.text, output.finish_reason) == expected


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1}, {"prompt_tokens": "9"}, {"prompt_tokens": 2**40}, 5]
)
def test_odd_usage_is_no_usage(usage: object) -> None:
    with Loopback(lambda _: completion(text(), usage=usage)) as server:
        output = one(remote(wire(server)))
    assert output.text == "Severe." and output.input_tokens is None


@pytest.mark.parametrize(
    ("status", "error", "finish", "kind"),
    [
        (400, {"code": "context_length_exceeded", "param": "messages"}, "error", "context"),
        (
            400,
            {"code": 400, "message": "maximum context length is 8192"},
            "error",
            "context",
        ),
        (400, {"code": 400, "type": "exceed_context_size_error"}, "error", "context"),
        (400, {"code": "content_policy_violation"}, "content_filter", ""),
    ],
)
def test_a_prompt_that_does_not_fit_or_is_filtered_is_its_own_matter(
    status: int, error: dict[str, Any], finish: str, kind: str
) -> None:
    with Loopback(lambda _: reply({"error": error}, status)) as server:
        outputs = answers(remote(wire(server)), prompts(12))
        assert len(server.requests) == 12
    assert {(output.finish_reason, output.error) for output in outputs} == {(finish, kind)}


def test_the_limits_other_name_is_found_without_losing_a_prompt() -> None:
    def newer(request: Request) -> Reply:
        if "max_tokens" in request.json:
            error = {"code": "unsupported_parameter", "param": "max_tokens", "message": "no"}
            return reply({"error": error}, 400)
        return completion(text())

    with Loopback(newer) as server:
        outputs = answers(remote(wire(server)), prompts(20), max_tokens=3)
        assert server.requests[-1].json["max_completion_tokens"] == 3
    assert {output.text for output in outputs} == {"Severe."}


def test_a_limit_refused_under_both_names_ends_the_run() -> None:
    def neither(request: Request) -> Reply:
        name = "max_tokens" if "max_tokens" in request.json else "max_completion_tokens"
        error = {"code": "unsupported_parameter", "param": name, "message": "no"}
        return reply({"error": error}, 400)

    with Loopback(neither) as server, pytest.raises(ModelError, match="unsupported_parameter"):
        answers(remote(wire(server)), prompts(20))


def test_a_schema_goes_along_and_fields_may_be_left_out() -> None:
    schema = {"type": "object", "properties": {"level": {"type": "integer"}}}
    extra = {"json_schema": json.dumps(schema)}
    with Loopback(strict) as server:
        one(remote(wire(server, extra=extra, leave_out=("temperature", "seed"))), temperature=1.0)
        body = server.requests[0].json
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert "temperature" not in body and "seed" not in body
    with pytest.raises(ConfigError):
        OpenAIWire("m", options(base_url="http://127.0.0.1:1", extra={"json_schema": "{"}))


def test_a_server_that_tells_the_prompts_log_probabilities_can_score() -> None:
    def vllm(request: Request) -> Reply:
        body = request.json
        assert body["messages"][-1] == {"role": "assistant", "content": " Severe."}
        assert body["prompt_logprobs"] == 0 and body["max_tokens"] == 1
        assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
        parts = [("<s>", None), ("Q", -3.0), (" Sev", -0.5), ("ere", -0.1), (".", -1.0)]
        told = [
            None if value is None else {"9": {"logprob": value, "rank": 1, "decoded_token": part}}
            for part, value in parts
        ]
        return completion(text("x"), "length", prompt_logprobs=told)

    with Loopback(vllm) as server:
        model = open_model("openai:m", options(base_url=server.url))
        assert isinstance(model, OpenAIModel) and isinstance(model, Scorer)
        assert model.score([(prompt(n), " Severe.") for n in range(3)]) == [[-0.5, -0.1, -1.0]] * 3
        model.close()


def test_a_server_that_ignores_the_wish_for_log_probabilities_gives_an_error_not_a_figure() -> None:
    with Loopback(lambda _: completion(text("x"))) as server:
        model = OpenAIModel("m", options(base_url=server.url))
        with pytest.raises(ModelError, match="log-probabilities"):
            model.score([(prompt(), " Severe.")])
        assert len(server.requests) == 1
