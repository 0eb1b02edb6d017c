"""Anthropic's Messages.

    POST {base}/v1/messages        x-api-key: KEY, anthropic-version: 2023-06-01

The system text stands apart from the turns. No seed can be given, and nothing is marked for its
prompt cache: that would be a permission of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from clinqa.models.protocol import ModelOptions, Prompt, Sampling, system_and_turns
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.wire import (
    JSON,
    BadReply,
    Reply,
    ServerFault,
    Wire,
    as_body,
    joined,
    omitted,
    refuse_schema,
    tokens,
)

__all__ = ["AnthropicWire", "open_anthropic"]

VENDOR = "https://api.anthropic.com"
VERSION = "2023-06-01"
_FINISH = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def open_anthropic(name: str, options: ModelOptions) -> RemoteModel:
    """The model called `anthropic:NAME`."""
    return RemoteModel(AnthropicWire(name, options), options)


class AnthropicWire(Wire):
    """Anthropic itself, or a gateway that speaks like it."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        refuse_schema(options, f"anthropic:{model}")
        self.name = f"anthropic:{model}"
        self._model = model
        self._omit = omitted(options)
        self._version = options.api_version or VERSION
        base = (options.base_url or VENDOR).rstrip("/").removesuffix("/v1")
        self.url = f"{base}/v1/messages"
        vendor = urlsplit(base).hostname == urlsplit(VENDOR).hostname
        self.take_key(options.api_key_env or ("ANTHROPIC_API_KEY" if vendor else ""))

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""
        system, turns = system_and_turns(prompt.messages)
        asked = {
            "model": self._model,
            "max_tokens": sampling.max_tokens,
            "system": system or None,
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
            "temperature": sampling.temperature,
            "top_p": sampling.nucleus,
            "stop_sequences": sampling.stop or None,
        }
        return as_body(asked, self._omit)

    def headers(self, body: bytes) -> Mapping[str, str]:
        """The key, if there is one, and the version of the API."""
        named = {"Content-Type": JSON, "anthropic-version": self._version}
        if self._secret is not None:
            named["x-api-key"] = self._secret.reveal()
        return named

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        if value.get("type") != "message":
            raise BadReply
        # thinking is no answer
        text = joined(value.get("content"), lambda block: block.get("type") == "text")
        reason = value.get("stop_reason")
        finish = _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"
        usage = value.get("usage")
        return Reply(
            text or "", finish, tokens(usage, "input_tokens"), tokens(usage, "output_tokens")
        )

    def said(self, value: Mapping[str, Any], headers: Mapping[str, str]) -> ServerFault:
        """`{"type": "error", "error": {"type", "message"}}`."""
        error = value.get("error")
        if not isinstance(error, dict):
            return ServerFault()
        details = error.get("details")
        code = details.get("error_code") if isinstance(details, dict) else None
        code = code if isinstance(code, str) else error.get("type")
        return ServerFault(code if isinstance(code, str) else "", "", str(error.get("message", "")))
