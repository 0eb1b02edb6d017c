"""What a model's reply holds: items where there are any, and a count of what could not be read.

A reply is looked at as data and never run. Thinking aloud, code fences and talk around the JSON
are passed over; of a reply cut off in the middle the whole items count.

A verdict is another matter: it decides, so it is one JSON object and nothing else. Talk around it
may deny it, and a second one may contradict it; either is no verdict, and no verdict is no yes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

__all__ = [
    "MOST_ITEMS",
    "JudgeSays",
    "RawItem",
    "ReplyItems",
    "label_of",
    "read_field",
    "read_reply",
    "read_verdict",
]

MOST_ITEMS = 100
_MAX_CHARS = 400_000
_MAX_TEXT = 2_000
_TRIES = 200
_DECODER = json.JSONDecoder()
_LIST = re.compile(r'"questions"\s*:\s*\[')
_FIELDS = ("question", "source")


@dataclass(frozen=True, slots=True)
class RawItem:
    """One item as a model wrote it; `label` is whatever stood there."""

    question: str
    label: object
    source: str


@dataclass(frozen=True, slots=True)
class ReplyItems:
    """The items of a reply, how many pieces were none, and whether it was JSON as asked."""

    items: tuple[RawItem, ...] = ()
    malformed: int = 0
    whole: bool = False


def read_reply(text: str) -> ReplyItems:
    r"""The items of a reply.

    >>> cut = '{"questions": [{"question": "Q", "label": "True", "source": "s"}, {"que'
    >>> read_reply(cut).malformed
    1
    """
    text = _answer_part(text)
    value = _first_value(text)
    if value is not None:
        made = _items(value)
        if made is not None:
            return made
    return _salvaged(text)


def read_field(text: str, name: str) -> Any:
    """A field of the first JSON object of a reply, or None."""
    value = _first_value(_answer_part(text))
    return value.get(name) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class JudgeSays:
    """What a judge says: it holds, it does not, or nothing (None), and then why."""

    holds: bool | None
    why: str = ""


def read_verdict(text: str) -> JudgeSays:
    """The verdict of a reply that is `{"verdict": "yes"}` or `{"verdict": "no"}` and nothing else.

    >>> read_verdict('{"verdict": "Yes"}'), read_verdict('not {"verdict": "yes"}')
    (JudgeSays(holds=True, why=''), JudgeSays(holds=None, why='not_json_alone'))
    """
    text = _FENCE.sub("", _answer_part(text)).strip()
    if not text:
        return JudgeSays(None, "empty")
    try:
        pairs, end = _PAIRS.raw_decode(text)
    except (ValueError, RecursionError):
        return JudgeSays(None, "not_json_alone")
    if text[end:].strip() or not isinstance(pairs, _Pairs):
        return JudgeSays(None, "not_json_alone")
    said = {
        value.strip().casefold() if isinstance(value, str) else None
        for name, value in pairs
        if name.strip().casefold() == "verdict"
    }
    if len(said) != 1:
        return JudgeSays(None, "two_verdicts" if said else "no_verdict")
    return _VERDICTS.get(said.pop(), JudgeSays(None, "no_verdict"))


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with every key it has, those too that stand twice."""


_PAIRS = json.JSONDecoder(object_pairs_hook=_Pairs)
_FENCE = re.compile(r"^\s*```(?:json)?\s*$", re.MULTILINE | re.IGNORECASE)
_VERDICTS: dict[str | None, JudgeSays] = {"yes": JudgeSays(True), "no": JudgeSays(False)}


def label_of(value: object) -> bool | None:
    """True or False where the label says exactly one of them, else None.

    >>> [label_of(v) for v in ("TRUE", True, "Yes", "True/False", 1, None, " false ")]
    [True, True, None, None, None, None, False]
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().casefold())
    return None


def _answer_part(text: str) -> str:
    """The reply without thinking aloud, and of no more than a sane length."""
    return text[-_MAX_CHARS:].rpartition("</think>")[2]


def _first_value(text: str) -> Any:
    """The first object or list that can be read to its end and is worth reading."""
    for match in islice(re.finditer(r"[{\[]", text), _TRIES):
        try:
            value, _ = _DECODER.raw_decode(text, match.start())
        except RecursionError:
            return None
        except ValueError:
            if match[0] == "{":
                return None  # what is inside a broken object is for `_salvaged`
            continue
        if isinstance(value, dict) or (
            isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
        ):
            return value
    return None


def _items(value: Any) -> ReplyItems | None:
    """The items of a value of the right form; None where it is of another."""
    whole = isinstance(value, dict) and "questions" in value
    if whole:
        listed = value["questions"]
    elif isinstance(value, dict) and "question" in value:
        listed = [value]
    elif isinstance(value, list):
        listed = value
    else:
        return None
    if not isinstance(listed, list):
        return ReplyItems(malformed=1)
    items = tuple(item for one in listed[:MOST_ITEMS] if (item := _item(one)) is not None)
    return ReplyItems(items, len(listed) - len(items), whole)


def _item(one: Any) -> RawItem | None:
    if not isinstance(one, dict) or "label" not in one:
        return None
    texts = [one.get(name) for name in _FIELDS]
    if not all(isinstance(t, str) and len(t.strip()) > 0 and len(t) <= _MAX_TEXT for t in texts):
        return None
    return RawItem(" ".join(str(texts[0]).split()), one["label"], str(texts[1]).strip())


def _salvaged(text: str) -> ReplyItems:
    """The whole items of JSON that is not: cut off, or broken somewhere."""
    start = _LIST.search(text)
    at = start.end() if start else text.find("[") + 1
    items: list[RawItem] = []
    bad = 0
    while at < len(text) and len(items) < MOST_ITEMS:
        at = text.find("{", at)
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            bad += 1
            break
        except ValueError:
            bad += 1
            at = _next_item(text, at + 1)
            continue
        item = _item(value)
        if item is None:
            bad += 1
        else:
            items.append(item)
        at = end
    if not items and not bad:
        bad = 1  # no JSON at all is one reply that could not be read
    return ReplyItems(tuple(items), bad)


def _next_item(text: str, at: int) -> int:
    """Where an item may start again after a broken one."""
    found = re.compile(r'\{\s*"(question|label|source|topic)"').search(text, at)
    return found.start() if found else len(text)
