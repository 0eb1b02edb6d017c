"""Azure OpenAI, against a server that checks path, version and key."""

from __future__ import annotations

from typing import Any

import pytest

from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.remote.azure import AzureWire
from loopback import Loopback, Reply, Request, reply
from remote_asking import answers, one, options, prompts, remote

FILTERS = {
    kind: {"filtered": False, "severity": "safe"}
    for kind in ("hate", "self_harm", "sexual", "violence")
}


def completion(content: str | None = "Mild.", finish: str = "stop") -> Reply:
    return reply(
        {
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": finish,
                    "content_filter_results": FILTERS,
                }
            ],
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERS}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32},
        }
    )


def filtered() -> Reply:
    return reply(
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering ... policy.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {
                    "code": "ResponsibleAIPolicyViolation",
                    "content_filter_result": FILTERS,
                },
            }
        },
        400,
    )


def strict(request: Request) -> Reply:
    if request.headers.get("api-key") != "az-1":
        return reply({"error": {"code": "401", "message": "Access denied"}}, 401)
    assert "authorization" not in request.headers
    path, _, query = request.target.partition("?")
    if query != "api-version=2024-10-21":
        return reply({"error": {"code": "404", "message": "Resource not found"}}, 404)
    if path != "/openai/deployments/my%20gpt/chat/completions":
        return reply({"error": {"code": "DeploymentNotFound", "message": "none"}}, 404)
    assert "model" not in request.json and "store" not in request.json
    return completion()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "az-1")
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)


def wire(server: Loopback, name: str = "my gpt", **given: Any) -> AzureWire:
    return AzureWire(name, options(base_url=server.url, **given))


def test_a_request_is_as_the_reference_says() -> None:
    with Loopback(strict) as server:
        output = one(remote(wire(server)))
    assert (output.text, output.finish_reason, output.input_tokens) == ("Mild.", "stop", 30)


def test_the_endpoint_may_come_from_the_environment_and_with_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT"):
        AzureWire("d", options())
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/")
    expected = "https://r.openai.azure.com/openai/deployments/d/chat/completions"
    assert AzureWire("d", options()).url.startswith(expected)
    longer = options(base_url="https://r.openai.azure.com/openai/v1", api_version="v1")
    assert AzureWire("d", longer).url == "https://r.openai.azure.com/openai/v1/chat/completions"


def test_the_path_without_versions_names_the_deployment_in_the_body() -> None:
    def newer(request: Request) -> Reply:
        assert request.target == "/openai/v1/chat/completions"
        assert request.json["model"] == "my gpt" and request.headers["api-key"] == "az-1"
        return completion()

    with Loopback(newer) as server:
        assert one(remote(wire(server, api_version="v1"))).text == "Mild."


def test_a_filtered_prompt_and_a_filtered_answer_are_content_filter() -> None:
    with Loopback(lambda _: filtered()) as server:
        outputs = answers(remote(wire(server)), prompts(10))
        assert len(server.requests) == 10
    assert {(each.finish_reason, each.error) for each in outputs} == {("content_filter", "")}
    with Loopback(lambda _: completion(None, "content_filter")) as server:
        assert one(remote(wire(server))).finish_reason == "content_filter"


def test_a_wrong_key_version_or_deployment_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(strict) as server:
        with pytest.raises(ModelError, match="DeploymentNotFound"):
            one(remote(wire(server, "other")))
        with pytest.raises(ModelError, match="404"):
            one(remote(wire(server, api_version="2020-01-01")))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "az-2")
        with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY") as ended:
            one(remote(wire(server)))
    assert "az-2" not in str(ended.value)
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    with Loopback(strict) as server, pytest.raises(ConfigError, match="AZURE_OPENAI_API_KEY"):
        one(remote(wire(server)))


def test_its_wait_in_milliseconds_is_kept() -> None:
    from remote_asking import Instant

    instant = Instant()
    said = [reply({"error": {"code": "429"}}, 429, retry_after_ms="1500"), completion()]
    with Loopback(lambda _: said.pop(0)) as server:
        assert one(remote(wire(server), instant)).text == "Mild."
    assert 1.5 <= instant.time <= 4.0
