"""Twenty replies of servers as public threads report them, and what each has to come to.

`where` is the thread: owner/repository#number on GitHub. The wording is cut to what the thread's
reply turns on; names, keys and ids are made up. All were written down, with what they have to come
to, before anything was mended. `half` is "seen" where a reply was tried while the rules were
written, and "unseen" where it was tried only afterwards.
Each is asked by `predict` for three items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback import Reply, Request, reply

__all__ = ["REPLIES", "PublicReply"]


@dataclass(frozen=True)
class PublicReply:
    where: str
    server: str
    half: str
    answer: Callable[[Request, int], Reply]  # the request, and how many there have been with it
    ends: int  # the exit code
    requests: int
    statuses: Mapping[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()  # of what is told: error, warnings, notes
    model: str = "openai:m"
    path: str = "/v1"
    more: tuple[str, ...] = ()


def chat(content: str | None = "Mild.", finish: str | None = "stop", **more: Any) -> Reply:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    made = {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 2, "total_tokens": 92},
    }  # fmt: skip
    return reply({**made, **more})


def always(made: Reply) -> Callable[[Request, int], Reply]:
    return lambda request, number: made


def until(first: int, made: Reply) -> Callable[[Request, int], Reply]:
    return lambda request, number: made if number <= first else chat()


def unless(sent: Callable[[dict[str, Any]], bool], made: Reply) -> Callable[[Request, int], Reply]:
    """Refused as long as the request holds something."""
    return lambda request, number: made if sent(request.json) else chat()


def has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: name in body


def has_system(body: dict[str, Any]) -> bool:
    return any(turn["role"] == "system" for turn in body["messages"])


def error(status: int, message: str, **more: Any) -> Reply:
    return reply({"error": {"message": message, **more}}, status)


def bedrock(status: int, kind: str, message: str) -> Reply:
    name = f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"
    return reply({"message": message}, status, x_amzn_ErrorType=name)


UNSUPPORTED = {"type": "invalid_request_error", "code": "unsupported_parameter"}
NO_TEMPERATURE = "Unsupported parameter: 'temperature' is not supported with this model."
ANSWERED = {"answered": 3}

REPLIES = (
    PublicReply(
        "vllm-project/vllm#16831", "vLLM", "seen",
        always(reply({
            "object": "error", "message": "The model does not support Chat Completions API",
            "type": "BadRequestError", "param": None, "code": 400,
        })),
        ends=5, requests=3, words=("does not support Chat Completions",),
    ),
    PublicReply(
        "HKUDS/LightRAG#1536", "Azure OpenAI", "seen",
        unless(has("temperature"), error(400, NO_TEMPERATURE, param="temperature", **UNSUPPORTED)),
        ends=0, requests=4, statuses=ANSWERED, words=("temperature", "left out"),
        model="azure:d", path="",
    ),
    PublicReply(
        "microsoft/vscode#258088", "Gemini, face of OpenAI", "seen",
        unless(has_system, reply([{"error": {
            "code": 400, "status": "INVALID_ARGUMENT",
            "message": "Developer instruction is not enabled for models/gemma-3-27b-it",
        }}], 400)),
        ends=0, requests=4, statuses=ANSWERED, words=("system", "before the first question"),
    ),
    PublicReply(
        "lmstudio-ai/lmstudio-bug-tracker#618", "LM Studio", "seen",
        always(reply({"error": "Unexpected endpoint or method. (POST /chat/completions)"})),
        ends=5, requests=1, words=("--base-url", "Unexpected endpoint"), path="/x",
    ),
    PublicReply(
        "oobabooga/textgen#7257", "llama.cpp", "seen",
        always(reply({"error": {
            "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 14429,
            "message": "the request exceeds the available context size. try increasing it",
            "n_ctx": 8192,
        }})),
        ends=0, requests=3, statuses={"error": 3}, words=("context 3",),
    ),
    PublicReply(
        "BerriAI/litellm#8448", "OpenRouter", "seen",
        until(2, chat(None, error={
            "message": "Provider returned error", "code": 429,
            "metadata": {"raw": "error code: 1015", "provider_name": "P"},
        })),
        ends=0, requests=5, statuses=ANSWERED,
    ),
    PublicReply(
        "anthropics/claude-code#66314", "Anthropic", "seen",
        always(reply({"type": "error", "request_id": "req_1", "error": {
            "type": "invalid_request_error",
            "message": "Your credit balance is too low to access the Anthropic API. Please go to "
            "Plans & Billing to upgrade or purchase credits.",
        }}, 400)),
        ends=5, requests=1, words=("used up", "credit balance is too low"),
        model="anthropic:m", path="",
    ),
    PublicReply(
        "continuedev/continue#10920", "Groq", "seen",
        always(error(
            429,
            "Rate limit reached for model `m` in organization `org_01` on tokens per day (TPD): "
            "Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.",
            type="tokens", code="rate_limit_exceeded",
        )),
        ends=5, requests=1, words=("578 s",),
    ),
    PublicReply(
        "vllm-project/vllm-ascend#9131", "vLLM, DeepSeek", "seen",
        always(chat(None, message={"reasoning_content": "It says mild", "refusal": None})),
        ends=0, requests=3, statuses={"empty": 3},
    ),
    PublicReply(
        "huggingface/smolagents#1671", "OpenAI", "seen",
        unless(has("stop"), error(
            400, "Unsupported parameter: 'stop' is not supported with this model.", param="stop",
            **UNSUPPORTED,
        )),
        ends=0, requests=4, statuses=ANSWERED, words=("stop", "left out"), more=("--stop", "END"),
    ),
    PublicReply(
        "huggingface/chat-ui#340", "TGI", "unseen",
        always(reply({
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. "
            "Given: 1000 `inputs` tokens and 1024 `max_new_tokens`",
            "error_type": "validation",
        }, 422)),
        ends=0, requests=3, statuses={"error": 3}, words=("context 3",),
    ),
    PublicReply(
        "lmstudio-ai/lmstudio-bug-tracker#1054", "LM Studio", "unseen",
        unless(has_system, reply({
            "error": 'Error rendering prompt with jinja template: "Only user and assistant roles '
            "are supported!\".\n\nThis is usually an issue with the model's prompt template.",
        }, 400)),
        ends=0, requests=4, statuses=ANSWERED, words=("system", "before the first question"),
    ),
    PublicReply(
        "ggml-org/llama.cpp#19774", "llama.cpp", "unseen",
        always(error(500, "Context size has been exceeded.", code=500, type="server_error")),
        ends=0, requests=3, statuses={"error": 3}, words=("context 3",),
    ),
    PublicReply(
        "elizaOS/eliza#4040", "Groq", "unseen",
        always(error(
            413,
            "Request too large for model `m` in organization `x` service tier `on_demand` on tokens"
            " per minute (TPM): Limit 6000, Requested 6294, please reduce your message size and "
            "try again.", type="tokens", code="rate_limit_exceeded",
        )),
        ends=0, requests=3, statuses={"error": 3}, words=("context 3",),
    ),
    PublicReply(
        "obot-platform/obot#2862", "a gateway before Azure", "unseen",
        unless(has("temperature"), reply({
            "detail": "Error occurred: Error code: 400 - {'error': {'message': \"" + NO_TEMPERATURE
            + "\", 'type': 'invalid_request_error', 'param': 'temperature', "
            "'code': 'unsupported_parameter'}}",
        }, 400)),
        ends=0, requests=4, statuses=ANSWERED, words=("temperature", "left out"),
    ),
    PublicReply(
        "huggingface/transformers#32665", "Hugging Face", "unseen",
        until(2, reply({"error": "Model o/m is currently loading", "estimated_time": 0.05}, 503)),
        ends=0, requests=5, statuses=ANSWERED,
    ),
    PublicReply(
        "chatboxai/chatbox#646", "Azure OpenAI", "unseen",
        always(reply({"error": {
            "code": "DeploymentNotFound",
            "message": "The API deployment for this resource does not exist. If you created the "
            "deployment within the last 5 minutes, please wait a moment and try again.",
        }}, 404)),
        ends=5, requests=1, words=("DeploymentNotFound", "deployment for this resource"),
        model="azure:d", path="",
    ),
    PublicReply(
        "vespa-engine/vespa#33327", "Together", "unseen",
        always(chat("Mild.", "eos")),
        ends=0, requests=3, statuses=ANSWERED,
    ),
    PublicReply(
        "minorun365/agent-book#29", "Bedrock", "unseen",
        always(bedrock(
            429, "ThrottlingException",
            "Too many tokens per day, please wait before trying again.",
        )),
        ends=5, requests=1, words=("Too many tokens per day",), model="bedrock:m", path="",
    ),
    PublicReply(
        "ollama/ollama#7277", "Ollama", "unseen",
        always(error(400, "unexpected EOF", type="invalid_request_error", param=None, code=None)),
        ends=5, requests=3, words=("unexpected EOF",),
    ),
)  # fmt: skip
