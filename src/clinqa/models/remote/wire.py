"""What one wire format gives to the client: where, how it asks, and how an answer is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import ModelOptions, Prompt, Sampling

__all__ = [
    "BadReply",
    "Reply",
    "ServerFault",
    "Wire",
    "as_body",
    "checked_text",
    "given",
    "joined",
    "omitted",
    "refuse_schema",
    "tokens",
]

JSON = "application/json"
MOST_TOKENS = 2**31 - 1
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class BadReply(Exception):
    """A 200 that is not what the format promises."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, in the words of `protocol.Output`."""

    text: str
    finish_reason: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class ServerFault:
    """What a server says of a failure. `message` may quote a record: it is matched, never shown."""

    code: str = ""
    param: str = ""
    message: str = ""


class Wire(Protocol):
    """One wire format, set up for one model."""

    @property
    def name(self) -> str:
        """The name the model was opened by."""

    @property
    def url(self) -> str:
        """Where every request goes, already percent-encoded."""

    @property
    def key(self) -> str:
        """The environment variables that hold its key, for messages; empty if it takes none."""

    @property
    def has_key(self) -> bool:
        """Does a key go along with a request?"""

    def check_key(self) -> None:
        """ConfigError if a key is needed and none is set."""

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""

    def headers(self, body: bytes) -> Mapping[str, str]:
        """Its headers, made anew for each try (a signature ages)."""

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer to a prompt out of a 200; BadReply if it is none."""

    def said(self, value: Mapping[str, Any], headers: Mapping[str, str]) -> ServerFault:
        """What an error answer says."""

    def adapt(self, said: ServerFault, body: bytes) -> bool:
        """Ask the same thing in another spelling from now on; False if there is none."""


def as_body(value: Mapping[str, Any], omit: Collection[str] = ()) -> bytes:
    """JSON in ASCII: any text a record can hold survives, half surrogate pairs too."""
    return _ENCODER.encode(given(value, omit)).encode("ascii")


def given(value: Mapping[str, Any], omit: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a request that have a value, without those to leave out."""
    return {name: one for name, one in value.items() if one is not None and name not in omit}


def joined(blocks: object, is_text: Callable[[Mapping[str, Any]], bool]) -> str | None:
    """The texts of an answer's blocks; None where no block is text, BadReply without blocks."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise BadReply
    texts = [checked_text(block.get("text")) for block in blocks if is_text(block)]
    return "".join(texts) if texts else None


def checked_text(value: object) -> str:
    """A text as a reply must hold it; half a surrogate pair becomes a question mark."""
    if not isinstance(value, str):
        raise BadReply
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def tokens(usage: object, name: str) -> int | None:
    """A count of tokens, or None where a server gives none that can be one."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_TOKENS:
        return None
    return count


def omitted(options: ModelOptions) -> frozenset[str]:
    """Fields of the request to leave out, as `extra["omit"]` names them (`temperature,seed`)."""
    named = (name.strip() for name in options.extra.get("omit", "").split(","))
    return frozenset(name for name in named if name)


def refuse_schema(options: ModelOptions, name: str) -> None:
    """For formats that are not asked for a JSON schema here."""
    if options.extra.get("json_schema"):
        raise ConfigError(f"{name}: a JSON schema can be asked of openai: and azure: models only")
