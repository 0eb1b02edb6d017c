"""Which of its possible forms each pair takes, so that no word gives a label away.

A pair's two statements share all words but those of the edit. If "prolonged" stands in the true
one more often than in the false one, a reader who knows nothing but that is right more often than
not. So the forms are chosen together: the sum over all pairs of (words of the true statement minus
words of the false one) is kept near zero for every word and for every two neighbours. The choice
depends on the pairs alone, not on their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clinqa.builders.references.forms import Edit, PairForm
from clinqa.core.ids import stable_hash

__all__ = ["Candidates", "choose", "is_denial", "over_cap", "without_needless_denials"]

_WORD = re.compile(r"[^\W_]+|[^\w\s]")
_ROUNDS = 8
_MOST = 48
# A denied opposite reads worse than the plain sentence: taken where it is needed for balance.
_DENIED = 3.0
_DENIES = re.compile(r"\bnot\b")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The forms that one source text can take; `key` is its identity."""

    key: str
    forms: tuple[PairForm, ...]


def choose(candidates: Sequence[Candidates], seed: int) -> dict[str, PairForm]:
    """A form for each, by coordinate descent from an order of their hashes."""
    ordered = sorted(candidates, key=lambda one: (stable_hash(seed, "forms", one.key), one.key))
    options = [_options(one, seed) for one in ordered]
    total: Counter[str] = Counter()
    chosen: list[int | None] = [None] * len(ordered)
    for _ in range(_ROUNDS):
        moved = False
        for number, forms in enumerate(options):
            before = chosen[number]
            if before is not None:
                _add(total, forms[before][1], -1)
            best = min(range(len(forms)), key=lambda i: _cost(total, forms, i))
            _add(total, forms[best][1], 1)
            moved |= best != before
            chosen[number] = best
        if not moved:
            break
    return {
        one.key: forms[index][0]
        for one, forms, index in zip(ordered, options, chosen, strict=True)
        if index is not None
    }


def over_cap(candidates: Sequence[Candidates], most: float) -> set[str]:
    """The sources to leave out so that of the False statements no larger a share than `most`
    denies. Only those go that nothing but a denial contradicts, first of the kind that is most.
    """
    only = [one for one in candidates if all(is_denial(form) for form in one.forms)]
    allowed = int(most * (len(candidates) - len(only)) / (1 - most)) if most < 1 else len(only)
    kinds: dict[str, list[str]] = {}
    for one in sorted(only, key=lambda one: (stable_hash("cap", one.key), one.key)):
        kinds.setdefault(one.forms[0].change[1], []).append(one.key)
    out: set[str] = set()
    while len(only) - len(out) > allowed:
        kind = max(sorted(kinds), key=lambda name: len(kinds[name]))
        out.add(kinds[kind].pop())
    return out


def is_denial(form: PairForm) -> bool:
    """Whether the false statement of the pair is the true one denied."""
    return form.edit is Edit.NEGATION and not form.change[0]


def without_needless_denials(forms: Sequence[PairForm]) -> tuple[PairForm, ...]:
    """The forms of a source that another edit contradicts, without those whose False denies."""
    plain = [f for f in forms if f.edit is not Edit.NEGATION and not _DENIES.search(f.true)]
    if not plain:
        return tuple(forms)
    return tuple(f for f in forms if f in plain or (f.edit is Edit.NEGATION and f.change[0]))


def _options(one: Candidates, seed: int) -> list[tuple[PairForm, dict[str, int], float]]:
    """The forms with what each adds to the balance; many alike are thinned by their hash."""
    forms = sorted(
        one.forms, key=lambda form: stable_hash(seed, "form", one.key, form.true, form.false)
    )
    by_edit: Counter[Edit] = Counter()
    kept = []
    for form in forms:
        by_edit[form.edit] += 1
        if by_edit[form.edit] <= _MOST:
            price = _DENIED if form.edit is Edit.NEGATION else 0.0
            kept.append((form, _difference(form), price))
    return kept


def _difference(form: PairForm) -> dict[str, int]:
    made = _features(form.true)
    made.subtract(_features(form.false))
    return {word: n for word, n in made.items() if n}


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(text.casefold())
    return Counter([*words, *(f"{a} {b}" for a, b in pairwise(words))])


def _cost(
    total: Counter[str], forms: Sequence[tuple[PairForm, dict[str, int], float]], index: int
) -> tuple[float, int]:
    _, difference, cost = forms[index]
    for word, n in difference.items():
        # of two neighbours there are many kinds, each rare: they weigh less
        weight = 0.25 if " " in word else 1.0
        cost += weight * ((total[word] + n) ** 2 - total[word] ** 2)
    return cost, index


def _add(total: Counter[str], difference: Mapping[str, int], sign: int) -> None:
    for word, n in difference.items():
        total[word] += sign * n
