"""What a server says of a failure, whatever shape it gives it.

    {"error": {"message", "type", "param", "code"}}     OpenAI, Anthropic, and most others
    {"error": "…"}, {"detail": …}, {"message": …}       Ollama, TGI, FastAPI, Bedrock
    {"object": "error", "message": …}, [{"error": …}]   vLLM, Gemini's face of OpenAI

An error can stand in another one's text (`metadata.raw` of OpenRouter, a gateway's `message`); and
one of any of these shapes can come with HTTP 200. What is gathered here may quote a record: it is
looked at for what it means, and shown only after `reasons` has been over it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["ServerFault", "error_in", "first_choice", "said_of"]

_DEEP = 6
_ECHOED = frozenset({"input", "flagged_input", "received", "request", "body", "messages"})
"""Keys under which servers give back what was sent to them."""
_TELLS = ("message", "msg", "detail", "error", "raw", "reason", "title", "display_message")
_GENERIC = re.compile(
    r"\W*(provider returned error|upstream error|bad request|(internal )?server error|error)\W*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class ServerFault:
    """What a server says. `message` is all of it together, to be matched; `reason` the sentence
    that tells most; `status` the one it names itself; `fields` those that it says are unknown to
    it; `wait` the seconds it asks for; `late` that it failed after it had begun to answer."""

    code: str = ""
    param: str = ""
    message: str = ""
    reason: str = ""
    status: int = 0
    fields: tuple[str, ...] = ()
    wait: float | None = None
    late: bool = False


def said_of(value: object, headers: Mapping[str, str] | None = None) -> ServerFault:
    """What the JSON value of a failure says."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    error = value.get("error", value) if isinstance(value, Mapping) else value
    if error is None or isinstance(error, bool):
        error = value
    told = error if isinstance(error, Mapping) else {}
    texts = list(_texts(value))
    code = _code(told)
    if named := (headers or {}).get("x-amzn-errortype") or told.get("__type"):
        code = str(named).split(":")[0].rpartition("#")[2]
    param = told.get("param")
    sentences = [text for text in texts if not _GENERIC.fullmatch(text)]
    return ServerFault(
        code=code,
        param=param if isinstance(param, str) else "",
        message="\n".join(texts),
        # an inner error tells more than the words of whoever passes it on
        reason=next(iter(sentences), texts[0] if texts else ""),
        status=_status(told) or (_status(value) if isinstance(value, Mapping) else 0),
        fields=tuple(_forbidden(value)),
        wait=_wait(value, "\n".join(texts)),
    )


def error_in(value: Mapping[str, Any]) -> ServerFault | None:
    """The failure that an answer with HTTP 200 holds; None where it holds none."""
    choice = first_choice(value.get("choices"))
    message = choice.get("message") if isinstance(choice, Mapping) else None
    for place in (value, choice, message):
        for name in ("error", "errors"):
            error = place.get(name) if isinstance(place, Mapping) else None
            if _is_one(error):
                return replace(said_of({"error": error}), late=place is not value)
    named = value.get("object") == "error" or value.get("type") == "error"
    if named or (set(value) <= {"detail", "message", "msg", "status", "code"} and value):
        return said_of(value)
    return None


def first_choice(choices: object) -> object:
    """The one choice that was asked for: number 0, whatever else there is; None where there is
    none."""
    if not isinstance(choices, list) or not choices:
        return None
    numbered = (one for one in choices if isinstance(one, Mapping) and one.get("index") == 0)
    return next(numbered, choices[0])


def _is_one(error: object) -> bool:
    """An error, and not the empty place for one."""
    if isinstance(error, str):
        return bool(error.strip())
    if isinstance(error, Mapping):
        return any(one not in (None, "", 0, False, [], {}) for one in error.values())
    return bool(error)


def _code(error: Mapping[str, Any]) -> str:
    """The most telling of the words for a kind of error; numbers are statuses, not words."""
    inner, details = error.get("innererror"), error.get("details")
    found = (
        inner.get("code") if isinstance(inner, Mapping) else None,
        details.get("error_code") if isinstance(details, Mapping) else None,
        error.get("code"),
        error.get("type"),
        error.get("error_type"),
        error.get("status"),
    )
    words = (one for one in found if isinstance(one, str) and one and not one.isdecimal())
    return next(words, "")


def _status(error: Mapping[str, Any]) -> int:
    for name in ("code", "status", "status_code", "statusCode"):
        told = error.get(name)
        if isinstance(told, str) and told.isdecimal() and len(told) == 3:
            told = int(told)
        if isinstance(told, int) and not isinstance(told, bool) and 400 <= told < 600:
            return told
    return 0


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Every text under a key that tells something, inner errors before what wraps them."""
    if depth > _DEEP:
        return
    if isinstance(value, str):
        yield from _unwrapped(value, depth)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, depth + 1)
    elif isinstance(value, Mapping):
        metadata = value.get("metadata")
        if isinstance(metadata, Mapping):
            yield from _texts({"raw": metadata.get("raw")}, depth + 1)
        for name in _TELLS:
            yield from _texts(value.get(name), depth + 1)


def _unwrapped(text: str, depth: int) -> Iterator[str]:
    """A text; where it is JSON itself, what that says first."""
    start = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=-1)
    if start >= 0:
        try:
            inner, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict | list):
            yield from _texts(inner, depth + 1)
    if text.strip():
        yield text


_LOC = re.compile(r"extra_forbidden'?,\s*'loc':\s*\('body',\s*'(\w+)'\)")


def _forbidden(value: object, depth: int = 0) -> Iterator[str]:
    """The fields of the request that a validation of it did not know (`extra_forbidden`)."""
    if depth > _DEEP:
        return
    if isinstance(value, str):  # the list as Python prints it, in a text
        yield from _LOC.findall(value)
    elif isinstance(value, list):
        for one in value:
            yield from _forbidden(one, depth + 1)
    elif isinstance(value, Mapping):
        where = value.get("loc")
        if isinstance(where, list) and where and "extra" in str(value.get("type", "")):
            if len(where) <= 2 and isinstance(where[-1], str):
                yield where[-1]
            return
        for name, one in value.items():
            if name not in _ECHOED:
                yield from _forbidden(one, depth + 1)


_AGAIN = re.compile(
    r"\b(?:try again|retry|available|wait)\s+(?:in|after|for)?\s*(?:about\s*)?"
    r"(?:(?P<d>\d{1,6})\s*d(?:ays?)?\s*)?(?:(?P<h>\d{1,6})\s*h(?:ours?)?\s*)?"
    r"(?:(?P<m>\d{1,9})\s*m(?:in(?:utes?)?)?\s*(?![a-z]))?"
    r"(?:(?P<s>\d{1,12}(?:\.\d{1,12})?)\s*(?P<unit>ms|s)(?:ec(?:onds?)?)?\b)?",
    re.I,
)


def _wait(value: object, text: str) -> float | None:
    """Seconds asked for in the body: a field of its own, or words.

    >>> _wait({}, "Please try again in 9m38.5s."), _wait({"estimated_time": 20.0}, "")
    (578.5, 20.0)
    """
    for name in ("estimated_time", "retry_after", "retryDelay"):
        told = _found(value, name)
        if isinstance(told, str) and re.fullmatch(r"\d+(\.\d+)?s?", told):
            told = float(told.rstrip("s"))
        if isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told < 1e7:
            return float(told)
    for match in _AGAIN.finditer(text):
        if any(match[part] for part in "dhms"):
            seconds = float(match["s"] or 0) * (0.001 if match["unit"] == "ms" else 1)
            return seconds + sum(
                int(match[part] or 0) * size
                for part, size in (("d", 86400), ("h", 3600), ("m", 60))
            )
    return None


def _found(value: object, name: str, depth: int = 0) -> object:
    if depth > _DEEP or not isinstance(value, Mapping | list):
        return None
    if isinstance(value, Mapping) and name in value:
        return value[name]
    for one in value.values() if isinstance(value, Mapping) else value:
        if (found := _found(one, name, depth + 1)) is not None:
            return found
    return None
