"""What a server's answer comes to: a `Reply`, or a `BadReply` that names what came instead.

The body of an answer is read here, whatever it is. What is no character becomes the mark for that;
a byte-order mark, and the mark that ends a stream behind a whole object, are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clinqa.privacy.egress import Answer

__all__ = ["BadReply", "Finish", "Reply", "checked_text", "joined", "object_of", "tokens"]

MOST_TOKENS = 2**31 - 1
_END_OF_STREAM = "data: [DONE]"


class Finish(StrEnum):
    """How an answer ended: all there is (`protocol.FINISH_REASONS`)."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


class BadReply(Exception):
    """What came with HTTP 200 is not what the format promises.

    `why` says what came, in words of our own and never of the server's. `always`: what a server
    sends so, it sends to every request (another path, another format).
    """

    def __init__(self, why: str = "is not in the format expected", *, always: bool = False) -> None:
        super().__init__(why)
        self.why, self.always = why, always


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, in the words of `protocol.Output`.

    `finish` is None where the server did not say how the answer ended; `word` is what it said,
    folded, where that is an error; `served` the model that it says has answered.
    """

    text: str
    finish: Finish | None
    input_tokens: int | None
    output_tokens: int | None
    word: str = ""
    served: str = ""


def object_of(answer: Answer) -> Any:
    """The JSON value of an answer's body; BadReply that names what it is instead."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().casefold()
    text = answer.body.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if not text:
        raise BadReply("is empty")
    if text.startswith(("data:", "event:", ":")):
        raise BadReply("is a stream, and none was asked for", always=True)
    if text[:1] == "<" or kind in ("text/html", "application/xhtml+xml"):
        raise BadReply("is an HTML page, not an API's answer; is --base-url right?", always=True)
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        raise BadReply("is no JSON, or only half of it") from None
    if text[end:].strip() not in ("", _END_OF_STREAM):
        raise BadReply("is several JSON values, and one was asked for", always=True)
    return value


def joined(blocks: object, is_text: Callable[[Mapping[str, Any]], bool]) -> str | None:
    """The texts of an answer's blocks; None where no block is text, BadReply without blocks."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise BadReply("holds no text where the answer should be")
    texts = [checked_text(block.get("text")) for block in blocks if is_text(block)]
    return "".join(texts) if texts else None


def checked_text(value: object) -> str:
    """A text as a reply must hold it; half a surrogate pair becomes a question mark."""
    if not isinstance(value, str):
        raise BadReply("holds no text where the answer should be")
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def tokens(usage: object, *names: str) -> int | None:
    """The sum of some counts of tokens; None where a server gives none that can be one.

    The first name is the count itself; what the others name (parts that were cached) may lack.

    >>> tokens({"input": 3, "cached": 7}, "input", "cached", "written")
    10
    """
    counts = [_count(usage.get(name)) for name in names] if isinstance(usage, Mapping) else [None]
    total = sum(count or 0 for count in counts)
    return None if counts[0] is None or total > MOST_TOKENS else total


def _count(count: object) -> int | None:
    if isinstance(count, bool) or not isinstance(count, int):
        return None
    return count if 0 <= count <= MOST_TOKENS else None
