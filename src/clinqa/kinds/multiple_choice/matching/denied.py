"""Which mentions of an option an output denies: "not B", "B is wrong", "neither A nor B".

Rules, not learnt: a denial turns the meaning of every word around it, and annotated outputs hold
too few to learn that from. "B is false" is none of them: a question may ask for what is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

__all__ = ["is_denied"]

_NOT = frozenset({"not", "nicht", "pas", "cannot", "neither", "nor", "never"})
_OPENERS = frozenset("([{\"'*`:“‘_")
_CLOSERS = frozenset(")]}\"'*`”’_")
_ARTICLES = frozenset({"a", "an", "the", "option", "choice", "answer", "letter"})
_VERBS = frozenset({"be", "choose", "pick", "select", "have"})
_OUT = frozenset(
    {"exclude", "excludes", "excluding", "eliminate", "eliminates", "eliminating", "reject"}
)
_PAIRS = frozenset({("rather", "than"), ("instead", "of"), ("rule", "out"), ("ruled", "out")})
_ALL_BUT = frozenset({"all", "everything", "none", "nothing"})
_ARE = frozenset({"is", "was", "are", "were", "seems", "looks", "would", "can", "could", "does"})
_ADVERBS = frozenset({"be", "therefore", "thus", "also", "clearly", "simply"})
_WRONG = frozenset({"wrong", "incorrect", "excluded", "eliminated", "unlikely", "ruled"})
_RIGHT = frozenset({"correct", "right", "likely", "supported", "possible", "appropriate", "fit"})
_MENTIONS = frozenset({"<letter>", "<text>"})
_LINKS = frozenset({",", "and", "or", "nor", "&", "/"})
_END = frozenset(".!?\n;")


def is_denied(tokens: Sequence[str], at: int) -> bool:
    """Is the mention at this token denied by what stands before or after it?

    >>> is_denied("the answer is not <letter> .".split(), 4)
    True
    >>> is_denied("not <letter> but <text> .".split(), 3)
    False
    >>> is_denied("<letter> ) <text> is not wrong".split(), 0)
    False
    """
    before = list(tokens[max(0, at - 2) : at])
    if len(before) == 2 and before[1] == "but" and before[0] in _ALL_BUT:
        return False  # "all but B are wrong"
    return _before(tokens, at) or _after(tokens, at)


def _before(tokens: Sequence[str], at: int) -> bool:
    place = _skip(tokens, at - 1, _OPENERS | _ARTICLES)
    if place >= 1 and tokens[place] in _CLOSERS and tokens[place - 1] in _MENTIONS:
        return _before(tokens, place - 1)  # "not B) its text": one mention in two parts
    if place >= 0 and tokens[place] in _LINKS:
        return _linked_to_denied(tokens, place)
    if place >= 0 and tokens[place] in _VERBS:
        place -= 1
    if place < 0:
        return False
    word, earlier = tokens[place], tokens[place - 1] if place else "."
    if word.endswith(("n't", "n’t")) and earlier in _END:
        return False  # "Isn't it B?"
    if (earlier, word) == ("anything", "but"):  # "anything but B", "it can't be anything but B"
        return not any(_negates(one) for one in tokens[max(0, place - 5) : place - 1])
    return _negates(word) or word in _OUT or (earlier, word) in _PAIRS


def _linked_to_denied(tokens: Sequence[str], place: int) -> bool:
    """Is the mention before the links at `place` denied, and what is linked to it as well?"""
    links = set()
    while place >= 0 and tokens[place] in _LINKS | _CLOSERS:
        links.add(tokens[place])
        place -= 1
    if place < 0 or tokens[place] not in _MENTIONS:
        return False
    # "not A or B" denies both, "not A, B" only the one; "neither" all that follow it
    either = bool(links & {"or", "nor"}) and _before(tokens, place)
    return either or _of_neither(tokens, place)


def _of_neither(tokens: Sequence[str], place: int) -> bool:
    place = _skip(tokens, place, _MENTIONS | _CLOSERS | _OPENERS | frozenset({","}))
    return place >= 0 and tokens[place] == "neither"


def _after(tokens: Sequence[str], at: int) -> bool:
    place = at + 1
    while place < len(tokens) and (
        tokens[place] in _CLOSERS or (tokens[place] in _MENTIONS and tokens[place - 1] in ").:")
    ):
        place += 1
    following = place
    while following < len(tokens) and tokens[following] in _LINKS | _OPENERS:
        following += 1
    if place < following < len(tokens) and tokens[following] in _MENTIONS:
        return _after(tokens, following)  # "A, C and D are wrong"
    return _called_wrong(list(takewhile(lambda one: one not in _END, tokens[place : place + 6])))


def _called_wrong(rest: list[str]) -> bool:
    """Do the words after a mention say that it is not so?"""
    no = bool(rest) and _negates(rest[0])
    if not rest or not (no or rest[0] in _ARE):
        return False
    rest = rest[1:]
    while rest and (rest[0] in _ADVERBS or _negates(rest[0])):
        no = no or _negates(rest[0])
        rest = rest[1:]
    if not no:
        wrong = bool(rest) and (rest[0] in _WRONG)
        return wrong and not any(word in _WRONG for word in rest[1:])  # "unlikely to be wrong"
    if not rest:
        return True  # "A is not."
    if rest[0] in ("the", "a", "my"):
        rest = rest[1:]
    return bool(rest) and (
        rest[0] in _RIGHT or rest[0] == "answer" or rest[:2] == ["best", "answer"]
    )


def _skip(tokens: Sequence[str], place: int, over: frozenset[str]) -> int:
    while place >= 0 and tokens[place] in over:
        place -= 1
    return place


def _negates(word: str) -> bool:
    return word in _NOT or word.endswith(("n't", "n’t"))
