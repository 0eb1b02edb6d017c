"""Mistral's chat completions, against a server that refuses what Mistral's would."""

from __future__ import annotations

import pytest

from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.models.registry import open_model
from clinqa.models.remote.mistral import MistralWire
from loopback import Loopback, Reply, Request, reply
from remote_asking import answers, one, options, prompt, remote

KNOWN = {"model", "messages", "max_tokens", "temperature", "top_p", "stop", "random_seed"}
KNOWN |= {"stream"}


def strict(request: Request) -> Reply:
    """Refuses fields that Mistral does not know, as it does."""
    odd = set(request.json) - KNOWN
    if odd:
        return reply({"object": "error", "message": {"detail": [{"loc": sorted(odd)}]}}, 422)
    if request.target != "/v1/chat/completions":
        return reply({"message": "no Route matched"}, 404)
    full = "long" in request.json["messages"][-1]["content"]
    return reply(
        {
            "id": "1",
            "object": "chat.completion",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "Severe."},
                    "finish_reason": "model_length" if full else "stop",
                }
            ],
            "usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6},
        }
    )


def test_an_answer_is_read_and_a_seed_goes_under_mistrals_name() -> None:
    with Loopback(strict) as server:
        wire = MistralWire("m", options(base_url=server.url))
        found = one(remote(wire, max_parallel=1))
        assert (found.text, found.finish_reason) == ("Severe.", "stop")
        answers(remote(wire, max_parallel=1), [prompt(1)], temperature=0.7)
        assert "random_seed" not in server.requests[0].json
        assert server.requests[1].json["random_seed"] >= 0
        assert wire.name == "mistral:m"


def test_a_full_context_is_an_answer_cut_short() -> None:
    from clinqa.models.protocol import Prompt

    asked = prompt()
    wire = MistralWire("m", options())
    value = {"choices": [{"message": {"content": "Sev"}, "finish_reason": "model_length"}]}
    assert isinstance(asked, Prompt)
    assert wire.read(value, asked).finish == "length"


def test_the_key_goes_to_mistral_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "m-real")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    wire = MistralWire("m", options(data_class=DataClass.PUBLIC))
    assert wire.url == "https://api.mistral.ai/v1/chat/completions"
    assert wire.headers(b"")["Authorization"] == "Bearer m-real"
    with Loopback(strict) as server:
        one(remote(MistralWire("m", options(base_url=server.url))))
        assert "authorization" not in server.requests[0].headers


def test_private_text_is_refused_and_a_key_that_is_named_must_be_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "m-real")
    monkeypatch.setattr(
        "clinqa.privacy.egress.socket.getaddrinfo",
        lambda host, port, **_: [(2, 1, 6, "", ("203.0.113.9", port))],
    )
    with pytest.raises(PrivacyError):
        open_model("mistral:m", options(data_class=DataClass.RESTRICTED, base_url=None))
    monkeypatch.delenv("MY_KEY", raising=False)
    with Loopback(strict) as server, pytest.raises(ConfigError, match="MY_KEY"):
        one(remote(MistralWire("m", options(base_url=server.url, api_key_env="MY_KEY"))))
