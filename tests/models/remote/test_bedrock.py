"""Bedrock's Converse, against a server that computes the signature itself."""

from __future__ import annotations

import hashlib
import hmac
import re
import sys
from typing import Any
from urllib.parse import quote

import pytest

from clinqa.core.errors import ConfigError, MissingExtra, ModelError
from clinqa.models.remote.bedrock import BedrockWire
from loopback import Loopback, Reply, Request, reply
from remote_asking import Instant, answers, one, options, prompts, remote

SECRET = "wJalrXUtnFEMI/EXAMPLEKEY"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab:1"

pytest.importorskip("botocore", reason="the extra `cloud` is not installed")


def converse(
    content: list[dict[str, Any]] | None = None, reason: str = "end_turn", **more: Any
) -> Reply:
    content = [{"text": "Mild."}] if content is None else content
    return reply(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": reason,
            "usage": {"inputTokens": 25, "outputTokens": 3, "totalTokens": 28},
            "metrics": {"latencyMs": 100},
            **more,
        }
    )


def error(status: int, kind: str, message: str = "?") -> Reply:
    name = f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"
    return reply({"message": message}, status, x_amzn_ErrorType=name)


def signature(request: Request, secret: str = SECRET) -> str:
    """SigV4 from its public description, over what arrived."""
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=(\S+?)/(\d{8})/([a-z0-9-]+)/bedrock/aws4_request, "
        r"SignedHeaders=(\S+), Signature=[0-9a-f]{64}",
        request.headers["authorization"],
    )
    assert found, "the Authorization header has another form"
    _, day, region, signed = found.groups()
    names = signed.split(";")
    assert names == sorted(names) and {"host", "x-amz-date"} <= set(names)
    path, _, query = request.target.partition("?")
    canonical = "\n".join(
        [
            request.method,
            quote(path, safe="/~"),  # encoded once more: what was %3A is signed as %253A
            query,
            *(f"{name}:{request.headers[name]}" for name in names),
            "",
            signed,
            hashlib.sha256(request.body).hexdigest(),
        ]
    )
    scope = f"{day}/{region}/bedrock/aws4_request"
    text = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            request.headers["x-amz-date"],
            scope,
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def strict(request: Request) -> Reply:
    if not request.headers["authorization"].endswith(signature(request)):
        return error(403, "InvalidSignatureException", "The request signature does not match")
    assert "/us-east-1/bedrock/" in request.headers["authorization"]
    segments = request.target.split("/")
    if len(segments) != 4 or (segments[1], segments[3]) != ("model", "converse"):
        return error(404, "UnknownOperationException")
    body = request.json
    assert set(body) <= {"messages", "system", "inferenceConfig"}
    assert set(body["inferenceConfig"]) <= {"maxTokens", "temperature", "topP", "stopSequences"}
    for turn in body["messages"]:
        assert turn["role"] in ("user", "assistant")
        assert all(set(block) == {"text"} for block in turn["content"])
    assert all(set(block) == {"text"} for block in body.get("system", []))
    return converse()


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")


def wire(server: Loopback, model: str = "anthropic.claude-x-v1:0", **given: Any) -> BedrockWire:
    return BedrockWire(model, options(base_url=server.url, **given))


@pytest.mark.parametrize("model", ["anthropic.claude-x-v1:0", "us.meta.llama-y-v1:0", PROFILE])
def test_a_request_is_signed_over_the_path_and_body_that_arrive(model: str) -> None:
    with Loopback(strict) as server:
        output = one(remote(wire(server, model)), max_tokens=6, top_p=0.9, stop=("END",))
        request = server.requests[0]
    assert (output.text, output.finish_reason, output.error) == ("Mild.", "stop", "")
    assert (output.input_tokens, output.output_tokens) == (25, 3)
    assert request.target == f"/model/{quote(model, safe='')}/converse"
    inference = {"maxTokens": 6, "temperature": 0.0, "topP": 0.9, "stopSequences": ["END"]}
    assert request.json["inferenceConfig"] == inference
    assert request.json["system"] == [{"text": "Answer from the report."}]


def test_temporary_keys_sign_their_session_token_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-1")
    with Loopback(strict) as server:
        assert one(remote(wire(server))).text == "Mild."
        assert server.requests[0].headers["x-amz-security-token"] == "token-1"
        assert "x-amz-security-token" in server.requests[0].headers["authorization"]


def test_a_wrong_secret_ends_the_run_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-1")
    with Loopback(strict) as server, pytest.raises(ModelError, match="AWS_ACCESS_KEY_ID") as ended:
        one(remote(wire(server)))
    shown = str(ended.value) + caplog.text
    assert "wrong-secret" not in shown and "token-1" not in shown


def test_each_try_is_signed_anew() -> None:
    said = [error(503, "ServiceUnavailableException"), None]

    def handler(request: Request) -> Reply:
        return said.pop(0) or strict(request)

    with Loopback(handler) as server:
        assert one(remote(wire(server), Instant())).text == "Mild."
        assert len(server.requests) == 2


def test_a_bearer_token_is_sent_instead_of_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "br-1")
    with Loopback(lambda _: converse()) as server:
        assert one(remote(wire(server))).text == "Mild."
        assert server.requests[0].headers["authorization"] == "Bearer br-1"


@pytest.mark.parametrize(
    ("reason", "finish", "kind"),
    [
        ("end_turn", "stop", ""),
        ("stop_sequence", "stop", ""),
        ("max_tokens", "length", ""),
        ("model_context_window_exceeded", "length", ""),
        ("guardrail_intervened", "content_filter", ""),
        ("content_filtered", "content_filter", ""),
        ("malformed_model_output", "error", "bad_output"),
    ],
)
def test_every_reason_to_stop_is_told_apart(reason: str, finish: str, kind: str) -> None:
    with Loopback(lambda _: converse(reason=reason)) as server:
        output = one(remote(wire(server)))
    assert (output.finish_reason, output.error) == (finish, kind)


def test_reasoning_is_no_answer() -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    with Loopback(lambda _: converse([thought, {"text": "Mild."}])) as server:
        assert one(remote(wire(server))).text == "Mild."


@pytest.mark.parametrize(
    ("status", "kind", "recorded", "tries"),
    [
        (429, "ThrottlingException", "rate_limit", 10),
        (429, "ModelNotReadyException", "rate_limit", 10),
        (408, "ModelTimeoutException", "timeout", 3),
        (424, "ModelErrorException", "server", 6),
        (500, "InternalServerException", "server", 6),
    ],
)
def test_exceptions_of_the_moment_are_tried_again_and_recorded(
    status: int, kind: str, recorded: str, tries: int
) -> None:
    with Loopback(lambda _: error(status, kind)) as server:
        assert one(remote(wire(server), Instant())).error == recorded
        assert len(server.requests) == tries


def test_access_denied_and_expired_keys_end_the_run() -> None:
    for status, kind in ((403, "AccessDeniedException"), (403, "ExpiredTokenException")):
        said = error(status, kind)
        with Loopback(lambda _, s=said: s) as server, pytest.raises(ModelError, match="refused"):
            one(remote(wire(server)))


def test_an_input_that_is_too_long_is_recorded_as_that() -> None:
    said = error(400, "ValidationException", "Input is too long for requested model.")
    with Loopback(lambda _: said) as server:
        assert {each.error for each in answers(remote(wire(server)), prompts(9))} == {"context"}


@pytest.mark.parametrize("model", ["amazon.titan-text-express-v1", "some.unknown-v1"])
def test_models_without_a_system_text_get_it_before_the_first_question(model: str) -> None:
    def strict_without(request: Request) -> Reply:
        if "system" in request.json:
            return error(400, "ValidationException", "This model doesn't support system messages.")
        first = request.json["messages"][0]["content"][0]["text"]
        assert first == "Answer from the report.\n\nQ1"
        return strict(request)

    with Loopback(strict_without) as server:
        outputs = answers(remote(wire(server, model)), prompts(8))
    assert {output.text for output in outputs} == {"Mild."}


def test_region_and_keys_are_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    made = BedrockWire("m", options(region="cn-north-1"))
    assert made.url.startswith("https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/m/")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ConfigError, match="AWS_SECRET_ACCESS_KEY"):
        BedrockWire("m", options()).check_key()
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ConfigError, match="--region"):
        BedrockWire("m", options())
    with pytest.raises(ConfigError, match="--region"):
        BedrockWire("m", options(region="evil.example/#"))


def test_without_the_signer_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(MissingExtra, match=r"clinqa\[cloud\]"):
        BedrockWire("m", options()).check_key()
