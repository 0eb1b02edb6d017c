"""What one wire format gives to the client: where, how it asks, and how an answer is read.

Keys are read from the environment, sent in a header, and shown nowhere.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import ModelOptions, Prompt, Sampling

__all__ = [
    "BadReply",
    "Reply",
    "Secret",
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


class Secret:
    """A key and the name of the variable it came from. Only `reveal` gives the key.

    >>> Secret("MY_KEY", "abc")
    <key in MY_KEY>
    """

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str, value: str) -> None:
        self.variable = variable
        self._value = value

    @classmethod
    def of(cls, variable: str | None) -> Secret | None:
        """The key a variable holds; None without one. A key that is no header is an error."""
        value = os.environ.get(variable, "").strip() if variable else ""
        if not variable or not value:
            return None
        if not all(" " < char <= "~" for char in value):
            raise ConfigError(f"{variable}: holds characters that no key has; set it anew")
        return cls(variable, value)

    def reveal(self) -> str:
        """The key itself, for a header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"<key in {self.variable}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Secret], tuple[str, str]]:
        raise TypeError("a key is not pickled: it would be written down")


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


class Wire(ABC):
    """One wire format, set up for one model. A wire sends one key, from an environment variable.

    `name` is what the model was opened by, `url` where every request goes, already
    percent-encoded, and `key` the environment variables that hold its key, for messages; empty
    if it takes none.
    """

    name: str
    url: str
    key: str
    _secret: Secret | None

    def take_key(self, variable: str) -> None:
        """Read the key that the variable holds, if it is set; "" where none is needed."""
        self.key = variable
        self._secret = Secret.of(variable)

    @property
    def has_key(self) -> bool:
        """Does a key go along with a request?"""
        return self._secret is not None

    def check_key(self) -> None:
        """ConfigError if a key is needed and none is set."""
        if self.key and self._secret is None:
            raise ConfigError(f"{self.name}: set the environment variable {self.key}")

    @abstractmethod
    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""

    @abstractmethod
    def headers(self, body: bytes) -> Mapping[str, str]:
        """Its headers, made anew for each try (a signature ages)."""

    @abstractmethod
    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer to a prompt out of a 200; BadReply if it is none."""

    @abstractmethod
    def said(self, value: Mapping[str, Any], headers: Mapping[str, str]) -> ServerFault:
        """What an error answer says."""

    def adapt(self, said: ServerFault, body: bytes) -> bool:
        """Ask the same thing in another spelling from now on; False if there is none."""
        return False


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
