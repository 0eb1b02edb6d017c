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
from clinqa.models.remote.finishes import finish_of, word_of
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.reply import BadReply, Reply, joined, tokens
from clinqa.models.remote.wire import JSON, Wire, as_body, refuse_schema

__all__ = ["AnthropicWire", "open_anthropic"]

VENDOR = "https://api.anthropic.com"
VERSION = "2023-06-01"


def open_anthropic(name: str, options: ModelOptions) -> RemoteModel:
    """The model called `anthropic:NAME`."""
    return RemoteModel(AnthropicWire(name, options), options)


class AnthropicWire(Wire):
    """Anthropic itself, or a gateway that speaks like it."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        refuse_schema(options, f"anthropic:{model}")
        super().__init__(options)
        self.name = f"anthropic:{model}"
        self.model = model
        self._version = options.api_version or VERSION
        base = (options.base_url or VENDOR).rstrip("/").removesuffix("/v1")
        self.url = f"{base}/v1/messages"
        vendor = urlsplit(base).hostname == urlsplit(VENDOR).hostname
        self.take_key(options.api_key_env or ("ANTHROPIC_API_KEY" if vendor else ""))

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""
        system, turns = system_and_turns(self.turns(prompt))
        asked = {
            "model": self.model,
            "max_tokens": sampling.max_tokens,
            "system": system or None,
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
            "temperature": sampling.temperature,
            "top_p": sampling.nucleus,
            "stop_sequences": sampling.stop or None,
            "stream": False,
        }
        return as_body(self._kept(asked))

    def headers(self, body: bytes) -> Mapping[str, str]:
        """The key, if there is one, and the version of the API."""
        named = {"Content-Type": JSON, "anthropic-version": self._version}
        if self._secret is not None:
            named["x-api-key"] = self._secret.reveal()
        return named

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        if value.get("type") != "message":
            raise BadReply("is no message of Anthropic's API; is --base-url right?", always=True)
        content, reason = value.get("content"), value.get("stop_reason")
        # thinking is no answer
        text = None if content is None else joined(content, lambda part: part.get("type") == "text")
        usage, served = value.get("usage"), value.get("model")
        cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
        return Reply(
            text or "",
            finish_of(reason, "anthropic"),
            tokens(usage, "input_tokens", *cached),
            tokens(usage, "output_tokens"),
            word_of(reason),
            served if isinstance(served, str) else "",
        )
