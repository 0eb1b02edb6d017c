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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clinqa.build.references.forms import Edit, Form
from clinqa.core.ids import stable_hash

__all__ = ["Candidates", "choose", "negation_surplus"]

_WORD = re.compile(r"[^\W_]+|[^\w\s]")
_ROUNDS = 8
_MOST = 48
# A denied opposite reads worse than the plain sentence: taken where it is needed for balance.
_PREFERENCE: Mapping[Edit, float] = {Edit.NEGATION: 0.6}


@dataclass(frozen=True, slots=True)
class Candidates:
    """The forms that one source text can take; `key` is its identity."""

    key: str
    forms: tuple[Form, ...]


def choose(candidates: Sequence[Candidates], seed: int) -> dict[str, Form]:
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


def negation_surplus(
    chosen: Mapping[str, Form], denies: Callable[[str], bool], most: float | None
) -> set[str]:
    """The pairs to leave out so that a denial does not give False away.

    With `most`, False statements with a denial are no larger a share of all; else they are no more
    than the true ones with a denial, and a tenth of all pairs.
    """
    true = [key for key, form in chosen.items() if denies(form.true) and not denies(form.false)]
    false = [key for key, form in chosen.items() if denies(form.false) and not denies(form.true)]
    both = sum(denies(form.false) and denies(form.true) for form in chosen.values())
    false.sort(key=lambda key: (stable_hash("surplus", key), key))
    out: set[str] = set()
    for key in false:
        left = len(chosen) - len(out)
        with_cue = len(false) - len(out) + both
        if most is not None:
            enough = with_cue <= most * left
        else:
            enough = len(false) - len(out) <= len(true) + 0.1 * left
        if enough:
            break
        out.add(key)
    return out


def _options(one: Candidates, seed: int) -> list[tuple[Form, dict[str, int], float]]:
    """The forms with what each adds to the balance; many alike are thinned by their hash."""
    forms = sorted(
        one.forms, key=lambda form: stable_hash(seed, "form", one.key, form.true, form.false)
    )
    by_edit: Counter[Edit] = Counter()
    kept = []
    for form in forms:
        by_edit[form.edit] += 1
        if by_edit[form.edit] <= _MOST:
            kept.append((form, _difference(form), _PREFERENCE.get(form.edit, 0.0)))
    return kept


def _difference(form: Form) -> dict[str, int]:
    made = _features(form.true)
    made.subtract(_features(form.false))
    return {word: n for word, n in made.items() if n}


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(text.casefold())
    return Counter([*words, *(f"{a} {b}" for a, b in zip(words, words[1:], strict=False))])


def _cost(
    total: Counter[str], forms: Sequence[tuple[Form, dict[str, int], float]], index: int
) -> tuple[float, int]:
    _, difference, preference = forms[index]
    cost = preference
    for word, n in difference.items():
        # of two neighbours there are many kinds, each rare: they weigh less
        weight = 0.25 if " " in word else 1.0
        cost += weight * ((total[word] + n) ** 2 - total[word] ** 2)
    return cost, index


def _add(total: Counter[str], difference: Mapping[str, int], sign: int) -> None:
    for word, n in difference.items():
        total[word] += sign * n
