"""What one wire format gives to the client: where, how it asks, and how an answer is read.

Keys are read from the environment, sent in a header, and shown nowhere.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling, folded
from clinqa.models.remote.refusals import FIELDS, SYSTEM, refused
from clinqa.models.remote.reply import Reply
from clinqa.models.remote.said import ServerFault

__all__ = [
    "JSON",
    "Secret",
    "Wire",
    "as_body",
    "given",
    "refuse_schema",
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
_ENCODER = json.JSONEncoder(separators=(",", ":"))
LEFT_OUT = "is left out"
FOLDED = "goes before the first question"


class Wire(ABC):
    """One wire format, set up for one model. A wire sends one key, from an environment variable.

    `name` is what the model was opened by, `model` what replies should call it (empty where they
    cannot), `url` where every request goes, already percent-encoded, and `key` the environment
    variables that hold its key, for messages; empty if it takes none.
    """

    name: str
    model: str = ""
    url: str
    key: str
    _secret: Secret | None

    def __init__(self, options: ModelOptions) -> None:
        #: fields (names of `refusals.FIELDS`) that are not sent, or otherwise; and what is done
        self.left_out: dict[str, str] = {
            name: FOLDED if name == SYSTEM else LEFT_OUT for name in _omitted(options)
        }

    def take_key(self, variable: str) -> None:
        """Read the key that the variable holds, if it is set; "" where none is needed."""
        self.key = variable
        self._secret = Secret.of(variable)

    @property
    def has_key(self) -> bool:
        """Does a key go along with a request?"""
        return self._secret is not None

    @property
    def secrets(self) -> Sequence[str]:
        """Everything secret that goes along, so that it can be taken out of what comes back."""
        return () if self._secret is None else (self._secret.reveal(),)

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

    def adapt(self, said: ServerFault, body: bytes) -> Mapping[str, str] | None:
        """Leave out what the server refuses of a request (`refusals`), or say it otherwise.

        What is new, by the name of its field; empty where the request was made before that, and is
        only to be sent again; None where there is nothing to change.
        """
        names = refused(said, _sent(body))
        if not names:
            return None
        new: dict[str, str] = {}
        for name in names:
            if name not in self.left_out:
                how = self._leave(name)
                if how is None:
                    return None
                new[name] = self.left_out[name] = how
            elif not self._is_older(name, body):
                return None
        return new

    def turns(self, prompt: Prompt) -> Sequence[Message]:
        """The messages, without a system text where there can be none."""
        return folded(prompt.messages) if SYSTEM in self.left_out else prompt.messages

    def _leave(self, name: str) -> str | None:
        """Leave a field out from now on; what is done instead, or None where it must be there."""
        if name == "max_tokens":
            return None
        return FOLDED if name == SYSTEM else LEFT_OUT

    def _is_older(self, name: str, body: bytes) -> bool:
        """Was the request made before the field was left out? It holds it, so it was."""
        return True

    def _kept(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request that have a value and are not left out."""
        without = {spelling for name in self.left_out for spelling in FIELDS[name]}
        if self.left_out.get("max_tokens", LEFT_OUT) != LEFT_OUT:
            without -= set(FIELDS["max_tokens"])
        if SYSTEM in self.left_out:
            without.discard("system")
        return given(value, without)


def _sent(body: bytes) -> list[str]:
    """The fields of a request, by their names in `refusals.FIELDS`."""
    asked = json.loads(body)
    names = {*asked, *asked.get("inferenceConfig", ())}
    if any(turn.get("role") == "system" for turn in asked.get("messages", ())):
        names.add("system")
    return [name for name, spellings in FIELDS.items() if names & set(spellings)]


def as_body(value: Mapping[str, Any]) -> bytes:
    """JSON in ASCII: any text a record can hold survives, half surrogate pairs too."""
    return _ENCODER.encode(value).encode("ascii")


def given(value: Mapping[str, Any], omit: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a request that have a value, without those to leave out."""
    return {name: one for name, one in value.items() if one is not None and name not in omit}


def _omitted(options: ModelOptions) -> list[str]:
    """Fields to leave out from the start, in whatever format's spelling."""
    spelled = {
        spelling: name for name, spellings in FIELDS.items() for spelling in (name, *spellings)
    }
    return [spelled[name] for name in options.leave_out if name in spelled]


def refuse_schema(options: ModelOptions, name: str) -> None:
    """For formats that are not asked for a JSON schema here."""
    if options.extra.get("json_schema"):
        raise ConfigError(f"{name}: a JSON schema can be asked of openai: and azure: models only")
