"""Chat completions: the body and the answer that OpenAI, Azure and compatible servers share."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.ids import sub_seed
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.remote.finishes import finish_of, word_of
from clinqa.models.remote.reply import BadReply, Finish, Reply, checked_text, joined, tokens
from clinqa.models.remote.said import first_choice
from clinqa.models.remote.wire import Wire, as_body

__all__ = ["ChatWire"]

_LIMITS = ("max_tokens", "max_completion_tokens")


class ChatWire(Wire):
    """Body and answer of chat completions; where they go is for those who derive from it."""

    def __init__(self, model: str, options: ModelOptions, *, limit: str) -> None:
        super().__init__(options)
        self.model = model
        self._asked_for: str | None = model
        self._schema = _schema(options)
        self._limit = limit
        self._vendor = False

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""
        asked = {
            "model": self._asked_for,
            "messages": [
                {"role": message.role, "content": _asked(message)} for message in self.turns(prompt)
            ],
            self._limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.nucleus,
            "stop": sampling.stop or None,
            "seed": _seed(prompt) if sampling.temperature > 0 else None,
            "response_format": None if prompt.free else self._schema,
            "stream": False,  # some stream unless they are told not to
            "store": False if self._vendor else None,
        }
        return as_body(self._kept(asked))

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        choice = _choice(value)
        message = choice.get("message")
        if not isinstance(message, dict):
            if "text" in choice:
                raise BadReply("is of the older completions API; is --base-url right?", always=True)
            raise BadReply
        reason = choice.get("finish_reason")
        finish, word = finish_of(reason, "chat"), word_of(reason)
        text, refusal = _content(message.get("content")), message.get("refusal")
        usage, served = value.get("usage"), value.get("model")
        read, written = tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens")
        if isinstance(refusal, str) and refusal:
            text, finish = text or checked_text(refusal), Finish.REFUSAL
        elif not text and finish is Finish.STOP and read == 0 and not written:
            finish, word = Finish.ERROR, word or "stop"
        served = served if isinstance(served, str) else ""
        return Reply(text or "", finish, read, written, word, served)

    def _leave(self, name: str) -> str | None:
        """Newer models take the limit of tokens under another name, older servers do not."""
        if name != "max_tokens":
            return super()._leave(name)
        self._limit = next(one for one in _LIMITS if one != self._limit)
        return f"goes as {self._limit}"

    def _is_older(self, name: str, body: bytes) -> bool:
        """What was sent before the change comes back late; under both names there is no way."""
        return name != "max_tokens" or f'"{self._limit}":'.encode() not in body


def _choice(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one choice that was asked for: number 0, whatever else there is."""
    choices = value.get("choices")
    if not isinstance(choices, list) or not all(isinstance(one, dict) for one in choices):
        if isinstance(value.get("message"), dict) and "done" in value:
            raise BadReply("is in Ollama's own format; --base-url should end in /v1", always=True)
        raise BadReply
    if not choices:
        raise BadReply("holds no choice")
    found = first_choice(choices)
    assert isinstance(found, dict)
    return found


def _seed(prompt: Prompt) -> int:
    return sub_seed(prompt.seed, f"sampling {prompt.repeat}", prompt.item_id) % 2**31


def _asked(message: Message) -> object:
    """A message's text, or its parts where pictures go with it."""
    if not message.images:
        return message.text
    pictures = [
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{b64encode(png).decode()}"},
        }
        for png in message.images
    ]
    return [{"type": "text", "text": message.text}, *pictures]


def _content(content: object) -> str | None:
    """Text, or the text parts of a list of parts; None for null and where no part is text."""
    if content is None:
        return None
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        return joined(content, lambda part: part.get("type") == "text")
    return checked_text(content)


def _schema(options: ModelOptions) -> Mapping[str, Any] | None:
    given = options.extra.get("json_schema")
    if not given:
        return None
    try:
        schema = json.loads(given)
    except (ValueError, RecursionError):
        raise ConfigError("json_schema: not JSON") from None
    if not isinstance(schema, dict):
        raise ConfigError("json_schema: must be an object")
    wanted = {"name": "answer", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": wanted}
