"""Keys: read from the environment, sent in a header, and shown nowhere."""

from __future__ import annotations

import os

from clinqa.core.errors import ConfigError

__all__ = ["Keyed", "Secret"]


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


class Keyed:
    """A wire that sends one key, from an environment variable; "" where none is needed."""

    name: str

    def take_key(self, variable: str) -> None:
        """Read the key that the variable holds, if it is set."""
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
