"""The log-probability of every occurrence of a term under one model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clinqa.core.errors import ConfigError
from clinqa.core.records import Reason
from clinqa.models.local.model import LocalModel
from clinqa.models.protocol import ModelOptions
from clinqa.models.registry import open_model
from clinqa.terms.align import Aligned, align
from clinqa.terms.gold import gold_text

__all__ = ["ScoredPlace", "TermPlace", "open_scorer", "score_items"]

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
    tokens, offsets = model.renderer.encode_text(gold.text)
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
