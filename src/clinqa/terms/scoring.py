"""The log-probability of every occurrence of a term in the gold text, under one model.

The gold text is an item as a model reads it. `asked`: the question as a user's turn in the model's
own template, the right answer as its reply; a model without a template gets the same as a
completion. `plain`: the question and below it the answer, without any template, as in S-MedQA's own
scripts (which take the question alone and put it in lower case; here the text stays as it is).

Which tokens are a term is told by character offsets, every occurrence apart. The tokens of a term
in a sentence are not those of the term by itself ("asthma" alone, after a blank, in capitals, glued
to a bracket), so looking for the latter in the former finds the first of several occurrences, or
none and then, with -1 for "none", some other token's probability. Offsets have neither fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.records import Reason
from clinqa.models.local.model import LocalModel
from clinqa.models.local.render import Renderer
from clinqa.models.protocol import Message, ModelOptions
from clinqa.models.registry import open_model
from clinqa.terms.item_texts import ANSWER, CONTEXT, QUESTION

__all__ = [
    "Aligned",
    "GoldText",
    "ScoredPlace",
    "TermPlace",
    "align",
    "gold_text",
    "open_scorer",
    "score_items",
]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The places of a term's tokens in the text's tokens, first and one after the last.

    `reaches`: a token at its edge also covers letters or marks that are not the term's.
    """

    first: int
    after: int
    reaches: bool


def align(text: str, offsets: Sequence[tuple[int, int]], start: int, end: int) -> Aligned | None:
    """The tokens of `text[start:end]`, or None where they do not cover it.

    `offsets` are (start, end) of each token. A token belongs to a term if it covers one of its
    characters other than blanks; pieces of one character, as byte-level tokenizers make of "ö",
    have the offsets of the whole, and all belong.

    >>> align("no asthma.", [(0, 2), (2, 6), (6, 9), (9, 10)], 3, 9)
    Aligned(first=1, after=3, reaches=False)
    >>> align("(asthma)", [(0, 4), (4, 8)], 1, 7)
    Aligned(first=0, after=2, reaches=True)
    >>> align("asthma", [(0, 2), (4, 6)], 0, 6) is None
    True
    """
    inside = [
        place
        for place, (low, high) in enumerate(offsets)
        if low < high and text[max(low, start) : min(high, end)].strip()
    ]
    if not inside:
        return None
    first, after = inside[0], inside[-1] + 1
    covered: set[int] = set()
    reaches = False
    for low, high in offsets[first:after]:
        covered.update(range(low, high))
        reaches |= bool(text[low : min(high, start)].strip() or text[max(low, end) : high].strip())
    missing = any(at not in covered and not text[at].isspace() for at in range(start, end))
    return None if missing else Aligned(first, after, reaches)


_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class TermPlace:
    """One occurrence to be scored: code points of a part of its item."""

    part: str
    start: int
    end: int
    concept: str


@dataclass(frozen=True, slots=True)
class ScoredPlace:
    """What a model gave one occurrence: the sum over its tokens, or why there is none."""

    place: TermPlace
    logprob: float | None
    tokens: int = 0
    reaches: bool = False
    lost: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Text:
    item: str
    tokens: list[int]
    first: int
    found: list[tuple[TermPlace, Aligned | None]]


def open_scorer(name: str, options: ModelOptions) -> LocalModel:
    """The local model `name`; ConfigError for one that does not tell what it gives a text."""
    model = open_model(name, options)
    if not isinstance(model, LocalModel):
        model.close()
        raise ConfigError(
            f"--model {name}: what a text's own tokens are given is known of models on this "
            "machine only: embedded:NAME, hf:PATH or gguf:FILE"
        )
    return model


def score_items(
    model: LocalModel,
    items: Sequence[tuple[str, Mapping[str, str], Sequence[TermPlace]]],
    form: str,
) -> Iterator[tuple[str, list[ScoredPlace]]]:
    """(item, its occurrences scored), in the order of the items, some at a time."""
    for start in range(0, len(items), _AT_ONCE):
        texts: list[_Text] = []
        told: dict[str, list[ScoredPlace]] = {}
        for item, parts, places in items[start : start + _AT_ONCE]:
            made = _prepared(model, item, parts, places, form)
            if isinstance(made, _Text):
                texts.append(made)
            else:
                told[item] = made
        scores = model.score_tokens([t.tokens for t in texts], [t.first for t in texts])
        for text, values in zip(texts, scores, strict=True):
            told[text.item] = [_scored(place, at, text, values) for place, at in text.found]
        for item, _, _ in items[start : start + _AT_ONCE]:
            yield item, told[item]


def _prepared(
    model: LocalModel,
    item: str,
    parts: Mapping[str, str],
    places: Sequence[TermPlace],
    form: str,
) -> _Text | list[ScoredPlace]:
    gold = gold_text(parts, form, model.renderer)
    tokens, offsets = model.renderer.encode_text(gold.text, gold.written)
    if len(tokens) > model.window:
        return [ScoredPlace(place, None, lost=Reason.OVER_WINDOW) for place in places]
    found = []
    for place in places:
        at = gold.starts[place.part]
        found.append((place, align(gold.text, offsets, at + place.start, at + place.end)))
    usable = [one.first for _, one in found if one is not None and one.first > 0]
    if not usable:
        return [ScoredPlace(place, None, lost=_why(one)) for place, one in found]
    return _Text(item, tokens, min(usable), found)


def _scored(
    place: TermPlace, at: Aligned | None, text: _Text, values: Sequence[float]
) -> ScoredPlace:
    if at is None or at.first == 0:
        return ScoredPlace(place, None, lost=_why(at))
    own = values[at.first - text.first : at.after - text.first]
    return ScoredPlace(place, math.fsum(own), at.after - at.first, at.reaches)


def _why(at: Aligned | None) -> Reason:
    """A term at the very start of a text, with no mark before it, follows from nothing."""
    return Reason.NOT_ALIGNED if at is None else Reason.NOTHING_BEFORE


_MARK = "clinqa-text-stands-here"


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text, where each part of the item begins in it, and what of it a template wrote."""

    text: str
    starts: Mapping[str, int]
    written: tuple[tuple[int, int], ...] = ()


def gold_text(parts: Mapping[str, str], form: str, renderer: Renderer) -> GoldText:
    """The text of an item's question, context and answer in this form."""
    asked = {name: parts[name] for name in (CONTEXT, QUESTION) if parts.get(name, "").strip()}
    body, starts = "", {}
    for name, text in asked.items():
        body += "\n\n" if body else ""
        starts[name] = len(body)
        body += text
    answer = parts.get(ANSWER, "")
    lead = ""
    if form == "plain":
        before, shown, after = "", body, "\n" if answer.strip() else ""
    else:
        before, shown, after = _shown(body, renderer)
        # a completion's "Answer:" is followed by a blank, as training has it
        lead = " " if renderer.kind == "completion" and not answer[:1].isspace() else ""
    cut = body.index(shown)
    starts = {name: len(before) + at - cut for name, at in starts.items()}
    text = before + shown + after
    written = ((0, len(before)), (len(before) + len(shown), len(text)))
    if answer.strip():
        starts[ANSWER] = len(text) + len(lead)
        text += lead + answer
    return GoldText(text, starts, written)


def _shown(body: str, renderer: Renderer) -> tuple[str, str, str]:
    """What the template puts before a user's text, the text as it shows it, and what follows."""
    before, _, after = renderer.text([Message("user", _MARK)]).partition(_MARK)
    whole = renderer.text([Message("user", body)])
    for shown in (body, body.strip()):  # some templates strip a turn
        if whole == before + shown + after:
            return before, shown, after
    raise ModelError("the model's chat template changes the text of a question; use --form plain")
