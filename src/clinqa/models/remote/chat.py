"""Chat completions: the body and the answer that OpenAI, Azure and compatible servers share."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.ids import sub_seed
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.remote.wire import (
    BadReply,
    Reply,
    ServerFault,
    Wire,
    as_body,
    checked_text,
    joined,
    omitted,
    tokens,
)

__all__ = ["ChatWire"]

_FINISH = {"stop": "stop", "length": "length", "content_filter": "content_filter"}
_LIMITS = ("max_tokens", "max_completion_tokens")


class ChatWire(Wire):
    """Body and answer of chat completions; where they go is for those who derive from it."""

    def __init__(self, model: str, options: ModelOptions, *, limit: str) -> None:
        self._model: str | None = model
        self._omit = omitted(options)
        self._schema = _schema(options)
        self._limit = limit
        self._adapted = False
        self._vendor = False

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""
        asked = {
            "model": self._model,
            "messages": [
                {"role": message.role, "content": _asked(message)} for message in prompt.messages
            ],
            self._limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.nucleus,
            "stop": sampling.stop or None,
            "seed": _seed(prompt) if sampling.temperature > 0 else None,
            "response_format": self._schema,
            "store": False if self._vendor else None,
        }
        return as_body(asked, self._omit)

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        choices = value.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise BadReply
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise BadReply
        # Reasons of other servers (eos, tool_calls, none) are an ordinary end.
        reason = choices[0].get("finish_reason")
        finish = _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"
        text = _content(message.get("content"))
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            text, finish = text or checked_text(refusal), "refusal"
        elif text is None:
            if finish == "stop":  # an end by its own will, and nothing said: no answer of a model
                raise BadReply
            text = ""  # all tokens went into thinking, or a filter took the text away
        usage = value.get("usage")
        return Reply(
            text, finish, tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens")
        )

    def said(self, value: Mapping[str, Any], headers: Mapping[str, str]) -> ServerFault:
        """`{"error": {"message", "type", "param", "code"}}`, or the error bare as some give it."""
        error = value.get("error", value)
        if not isinstance(error, dict):
            return ServerFault(message=str(error))
        inner = error.get("innererror")
        code = inner.get("code") if isinstance(inner, dict) else None
        code = code or error.get("code")
        if not isinstance(code, str):  # vLLM puts the status there
            code = error.get("type")
        param = error.get("param")
        return ServerFault(
            code if isinstance(code, str) else "",
            param if isinstance(param, str) else "",
            str(error.get("message", "")),
        )

    def adapt(self, said: ServerFault, body: bytes) -> bool:
        """Newer models take the limit of tokens under another name, older servers do not."""
        for refused, instead in (_LIMITS, _LIMITS[::-1]):
            named = said.param == refused or (not said.param and f"'{refused}'" in said.message)
            if not named or f'"{refused}":'.encode() not in body:
                continue
            if self._limit == refused and not self._adapted:
                self._limit, self._adapted = instead, True
            # What was sent before the change comes back late, and is sent again too.
            return self._limit == instead
        return False


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
