"""What of a voter's reply may hold a vote: a reply that failed is none.

Thinking aloud is no part of it. Of one that gives the question back only what is new counts. One
that was cut off counts only where its first line is a name alone, or it is whole JSON: there it had
said all. One that begins as JSON and is none is half of something.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["json_in", "new_text", "said_before_cut"]

_LONG_LINE = 40  # a line of the prompt so long stands in a reply only if it was copied
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_DENIES = re.compile(
    r"\b(not|no|never|cannot|unable|wrong|incorrect|neither|nor)\b|n['’]t\b", re.IGNORECASE
)


def new_text(reply: str, prompt: str) -> str:
    """The reply without thinking and without what it repeats of the prompt.

    >>> new_text("<think>Cardiology?</think>Neurology", "")
    'Neurology'
    """
    text = reply.rpartition("</think>")[2]
    if "<think>" in text:  # it was still thinking
        text = text.partition("<think>")[0]
    asked = {line.strip() for line in prompt.splitlines() if line.strip()}
    if any(len(line) >= _LONG_LINE and line in text for line in asked):
        lines = (line for line in text.splitlines() if line.strip() not in asked)
        text = "\n".join(lines)
    return text.strip()


def said_before_cut(text: str) -> str:
    """Of a text that was cut off, what had been said by then: its first line, or whole JSON."""
    value, rest = json_in(text)
    if value is not None and not rest:
        return text
    first, new_line, _ = text.partition("\n")
    return first if new_line else ""


def json_in(text: str) -> tuple[dict[str, Any] | None, str]:
    """The object of a reply, and what stands around it; none where there is no whole one.

    Talk around it that denies anything may deny it, and then it is none.
    """
    text = _FENCE.sub("", text).strip()
    start = text.find("{")
    if start < 0:
        return None, text
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, text
    rest = f"{text[:start]} {text[end:]}".strip()
    if not isinstance(value, dict) or "{" in rest or _DENIES.search(rest):
        return None, text
    return value, rest
