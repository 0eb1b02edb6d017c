"""Which mentions of an option an output denies: "not B", "B is wrong", "neither A nor B".

Rules, not learnt: a denial turns the meaning of every word around it, and annotated outputs hold
too few to learn that from.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["is_denied"]

_NOT = frozenset({"not", "nicht", "pas", "cannot", "neither", "nor"})
_OPENERS = frozenset("([{\"'*`:“‘_")
_CLOSERS = frozenset(")]}\"'*`”’_")
_ARTICLES = frozenset({"a", "an", "the", "option", "choice", "answer", "letter"})
_VERBS = frozenset({"be", "choose", "pick", "select", "have"})
_OUT = frozenset({"exclude", "excludes", "excluding", "eliminate", "eliminates", "eliminating"})
_ARE = frozenset({"is", "was", "are", "were", "seems", "looks", "be", "would", "can", "could"})
_WRONG = frozenset({"wrong", "incorrect", "false", "excluded", "eliminated", "unlikely"})
_RULED = ("ruled", "out")
_MENTIONS = frozenset({"<letter>", "<text>"})


def is_denied(tokens: Sequence[str], at: int) -> bool:
    """Is the mention at this token denied by what stands before or after it?

    >>> is_denied("the answer is not <letter> .".split(), 4)
    True
    >>> is_denied("not <letter> but <text> .".split(), 3)
    False
    >>> is_denied("<letter> ) <text> is not wrong".split(), 0)
    False
    """
    return _before(tokens, at) or _after(tokens, at)


def _before(tokens: Sequence[str], at: int) -> bool:
    place = at - 1
    while place >= 0 and (tokens[place] in _OPENERS or tokens[place] in _ARTICLES):
        place -= 1
    if place >= 0 and tokens[place] in ("or", "nor"):
        # "not A or B", "neither A nor B": what holds of the first holds of the second
        place -= 1
        while place >= 0 and (tokens[place] in _CLOSERS or tokens[place] == ","):
            place -= 1
        return place >= 0 and tokens[place] in _MENTIONS and _before(tokens, place)
    if place >= 0 and tokens[place] in ")" and place and tokens[place - 1] in _MENTIONS:
        return _before(tokens, place - 1)  # "not B) its text": one mention in two parts
    if place >= 0 and tokens[place] in _VERBS:
        place -= 1
    if place < 0:
        return False
    word, earlier = tokens[place], tokens[place - 1] if place else ""
    return (
        _negates(word)
        or word in _OUT
        or (earlier, word) in (("rather", "than"), ("instead", "of"), ("rule", "out"), _RULED)
    )


def _after(tokens: Sequence[str], at: int) -> bool:
    place = at + 1
    while place < len(tokens) and (
        tokens[place] in _CLOSERS or (tokens[place] in _MENTIONS and tokens[place - 1] in ").:")
    ):
        place += 1
    rest = list(tokens[place : place + 5])
    if not rest:
        return False
    if rest[0] in _ARE:
        rest = rest[1:]
        if rest and rest[0] in ("be", "therefore", "thus", "also", "clearly"):
            rest = rest[1:]
    elif not _negates(rest[0]):
        return False
    if not rest:
        return False
    if _negates(rest[0]):
        doubled = len(rest) > 1 and (rest[1] in _WRONG or rest[1] in ("only", "just", "ruled"))
        return not doubled
    return rest[0] in _WRONG or tuple(rest[:2]) == _RULED


def _negates(word: str) -> bool:
    return word in _NOT or word.endswith(("n't", "n’t"))
