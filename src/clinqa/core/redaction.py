"""What stands in no manifest, log or page: secrets of commands, addresses and options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["HIDDEN", "redact", "redact_command"]

_SECRET_KEY = re.compile(r"pass(word|wd|phrase)?$|secret|token$|api[-_]?key|credential|dsn$", re.I)
_URL_USERINFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/\s@]*@", re.I)
_URL_QUERY = re.compile(r"(?P<key>[?&;](?:password|pwd|token|key|secret|sig)=)[^&;\s]+", re.I)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
HIDDEN = "***"


def redact(value: Any, key: str = "") -> Any:
    """`value` with anything that could be a secret hidden, at any depth."""
    if isinstance(value, Mapping):
        return {k: redact(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [redact(v, key) for v in value]
    if isinstance(value, str):
        if value and _SECRET_KEY.search(key):
            return HIDDEN
        without = _URL_USERINFO.sub(rf"\g<scheme>{HIDDEN}@", value)
        return _URL_QUERY.sub(rf"\g<key>{HIDDEN}", without)
    return value


def redact_command(command: Sequence[str]) -> list[str]:
    """The command line without secrets. The name of a variable that holds one is no secret.

    >>> redact_command(["clinqa", "--api-key", "abc", "--dsn=pg://me:pw@host/db"])
    ['clinqa', '--api-key', '***', '--dsn=***']
    >>> redact_command(["clinqa", "--api-key-env", "OUR_KEY", "--api-key-env=sk-1"])
    ['clinqa', '--api-key-env', 'OUR_KEY', '--api-key-env=***']
    """
    shown = []
    before = ""  # the option that the next word belongs to, if it holds a secret
    for word in command:
        name, equals, value = word.partition("=")
        is_secret = name.startswith("-") and bool(_SECRET_KEY.search(name))
        if before:
            shown.append(redact(word) if _names_a_variable(before, word) else HIDDEN)
        elif is_secret and equals and not _names_a_variable(name, value):
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(redact(word))
        before = name if is_secret and not equals and not before else ""
    return shown


def _names_a_variable(option: str, value: str) -> bool:
    """Is this `--…-env NAME`, and not by mistake the key itself?"""
    return option.endswith("-env") and bool(_VARIABLE.fullmatch(value))
