"""Which field of a request a refusal names, in the words of many servers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from clinqa.models.remote.faults import judge
from clinqa.models.remote.finishes import FINISHES, finish_of, kind_of_fault
from clinqa.models.remote.openai import OpenAIWire
from clinqa.models.remote.refusals import FIELDS, refused
from clinqa.models.remote.reply import Finish
from clinqa.models.remote.said import ServerFault, error_in, said_of
from loopback import Loopback, Reply, Request, reply
from remote_asking import answers, options, prompts, remote

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SENT = ("max_tokens", "system", "temperature", "top_p", "stop", "seed", "stream")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", ["temperature"]),
        ("`temperature` is deprecated for this model.", ["temperature"]),
        ("temperature is deprecated for this model.", ["temperature"]),
        ("invalid temperature: only 1 is allowed for this model", ["temperature"]),
        ("`temperature` may only be set to 1 when thinking is enabled.", ["temperature"]),
        ("`temperature` and `top_p` cannot both be specified. Please use only one.", ["top_p"]),
        ("Unrecognized request argument supplied: seed", ["seed"]),
        ("some-model does not support the parameter `stop`", ["stop"]),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            ["max_tokens"],
        ),
        ("System role not supported", ["system"]),
        ("This model doesn't support system messages.", ["system"]),
        ("Developer instruction is not enabled for models/m", ["system"]),
        ("Only user and assistant roles are supported!", ["system"]),
        ("Conversation roles must alternate user/assistant/user/assistant/...", ["system"]),
        ("Additional properties are not allowed ('seed' was unexpected)", ["seed"]),
        # a value that is out of range is the user's to mend
        ("temperature must be in range (0, +inf)", []),
        ("`max_completion_tokens` must be less than or equal to `8192`", []),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", []),
        # and these name no field, or none that was sent
        ("Unsupported parameter: 'logit_bias' is not supported with this model.", []),
        ("The model does not support Chat Completions API", []),
        ("The server had to stop. That is not supported.", []),
        ("Streaming is not supported", []),
        ("", []),
    ],
)
def test_a_refusal_names_the_field_that_is_left_out(text: str, fields: list[str]) -> None:
    assert refused(ServerFault(message=text), SENT) == fields


@pytest.mark.parametrize(
    "value",
    [
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "m", "input": 7}]},
        {"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}},
        {"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'input': 7}]"},
        {"error": {"message": "no", "param": "seed", "code": "unknown_parameter"}},
    ],
)  # fmt: skip
def test_a_validation_of_the_request_names_it_too(value: dict[str, Any]) -> None:
    assert refused(said_of(value), SENT) == ["seed"]
    assert refused(said_of(value), ["temperature"]) == []  # that was not sent


def test_what_a_server_echoes_of_the_request_is_no_refusal() -> None:
    value = {"error": {"message": "not supported", "input": {"temperature": 0}}}
    assert refused(said_of(value), SENT) == []


def fields_of(request: Request) -> set[str]:
    body = request.json
    roles = {turn["role"] for turn in body["messages"]}
    return {name for name, spelled in FIELDS.items() if set(body) & set(spelled)} | (
        {"system"} & roles
    )


@pytest.mark.parametrize("name", ["temperature", "top_p", "stop", "seed", "system", "stream"])
def test_a_refused_field_costs_one_request_and_is_told_once(name: str) -> None:
    told: list[str] = []

    def without(request: Request) -> Reply:
        if name in fields_of(request):
            said = "System role" if name == "system" else f"'{name}'"
            return reply({"error": {"message": f"{said} is not supported by this model"}}, 400)
        body = {"choices": [{"message": {"content": "Mild."}, "finish_reason": "stop"}]}
        return reply(body)

    with Loopback(without) as server:
        wire = OpenAIWire("m", options(base_url=server.url))
        model = remote(wire, max_parallel=8, notice=told.append)
        found = answers(model, prompts(12), temperature=0.5, top_p=0.9, stop=("END",))
        assert len(server.requests) == 1 + 12
    assert {output.text for output in found} == {"Mild."}
    assert len(told) == 1 and name in told[0] and "Quimby" not in told[0]
    assert list(model.service()["left_out"]) == [name]


def test_everything_can_be_left_out_from_the_start() -> None:
    names = ("temperature", "top_p", "stop", "seed", "system", "max_tokens", "stream")
    with Loopback(lambda _: reply({"choices": [{"message": {"content": "B"}}]})) as server:
        wire = OpenAIWire("m", options(base_url=server.url, leave_out=names))
        answers(remote(wire), prompts(1), temperature=0.5, top_p=0.9, stop=("END",))
        assert set(server.requests[0].json) == {"model", "messages"}
        roles = [turn["role"] for turn in server.requests[0].json["messages"]]
        assert roles == ["user", "assistant", "user"]


def test_a_word_for_an_end_means_the_same_in_every_format() -> None:
    for word in {word for table in FINISHES.values() for word in table}:
        assert len({table[word] for table in FINISHES.values() if word in table}) == 1, word
    assert finish_of("brownout", "chat") is Finish.ERROR
    assert finish_of({"type": "length", "length": 9}, "chat") is Finish.LENGTH
    assert finish_of(None, "bedrock") is None
    assert (kind_of_fault("abort"), kind_of_fault("brownout")) == ("server", "bad_output")


@pytest.mark.parametrize(
    ("status", "value", "kind", "ends"),
    [
        (0, {"error": {"message": "rate limited", "code": 429}}, "rate_limit", False),
        (0, {"error": {"message": "no credits left", "code": 402}}, "rate_limit", True),
        (429, {"error": {"message": "Limit of requests per day reached"}}, "rate_limit", True),
        (429, {"error": {"message": "on tokens per day (TPD). Please try again in 4.7s"}},
         "rate_limit", False),
        (429, {"error": {"message": "You exceeded your current quota",
                         "details": [{"retryDelay": "31s"}]}}, "rate_limit", False),
        (429, {"error": {"message": "You exceeded your current quota"}}, "rate_limit", True),
        (429, {"error": {"message": "Request too large on tokens per min"}}, "context", False),
        (500, {"error": {"message": "Context size has been exceeded."}}, "context", False),
        (400, {"message": "The maximum tokens you requested exceeds the model limit of 32768"},
         "bad_output", False),
        (403, {"error": {"code": 403, "message": "Input was flagged",
                         "metadata": {"reasons": ["violence"], "flagged_input": "x"}}},
         "content_filter", False),
        (400, {"error": {"message": "litellm.ContentPolicyViolationError: …", "code": "400"}},
         "content_filter", False),
        (0, {"error": {"type": "authentication_error", "message": "bad key"}}, "auth", True),
        (503, {"error": "Model m is currently loading", "estimated_time": 20.0}, "server", False),
    ],
)  # fmt: skip
def test_an_error_means_what_it_says_of_itself(
    status: int, value: dict[str, Any], kind: str, ends: bool
) -> None:
    said = said_of(value)
    fault = judge(status or said.status, said, {}, NOW)
    assert (fault.kind, bool(fault.ends)) == (kind, ends)


def test_the_innermost_reason_is_the_one_that_is_told() -> None:
    raw = json.dumps({"error": {"message": "supports at most 1 image", "type": "invalid"}})
    wrapped = {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}
    }
    assert said_of(wrapped).reason == "supports at most 1 image"
    plain = {"error": {"message": "Provider returned error", "metadata": {"raw": "rate-limited"}}}
    assert said_of(plain).reason == "rate-limited"


@pytest.mark.parametrize(
    "value",
    [{"choices": [], "error": None}, {"choices": [], "error": ""}, {"error": {}, "id": "x"},
     {"choices": [{"error": {"code": 0, "message": ""}}]}],
)  # fmt: skip
def test_an_empty_place_for_an_error_is_none(value: dict[str, Any]) -> None:
    assert error_in(value) is None


@pytest.mark.parametrize(
    "reason",
    ["The engine crashed.", "error.", ":error", "not.stop", {"reason": "abort"}, {}, 7, []],
)
def test_an_end_in_odd_words_is_never_taken_for_none_said(reason: object) -> None:
    assert finish_of(reason, "chat") is Finish.ERROR
    assert finish_of("FinishReason.STOP", "chat") is Finish.STOP
    assert finish_of("  ", "chat") is None


@pytest.mark.parametrize("error", ["down", ["down"], 500, True, {"message": "down"}])
def test_an_error_of_any_shape_inside_an_answer_is_one(error: object) -> None:
    good = {"index": 0, "message": {"content": "half"}, "finish_reason": "stop"}
    other = {"index": 1, "message": {"content": "whole"}, "finish_reason": "stop"}
    message = {"content": "half", "error": error}
    for value in (
        {"choices": [good], "error": error},
        {"choices": [good], "errors": error},
        {"choices": [other, {**good, "error": error}]},
        {"choices": [{**good, "message": message}]},
    ):
        assert error_in(value) is not None
    assert error_in({"choices": [good], "error": None, "errors": []}) is None


@pytest.mark.parametrize(
    "value",
    [
        {"error": {"code": "²²²", "message": "x"}},
        {"error": {"status": "⁴⁰⁰", "message": "x"}},
        {"error": {"message": f"try again in {'9' * 400}d"}},
        {"error": {"message": f"try again in {'9' * 5000}m"}},
    ],
)
def test_odd_numbers_in_an_error_are_no_fault_of_this_client(value: object) -> None:
    said_of(value)
