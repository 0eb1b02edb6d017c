"""Majority votes of several judges, and all of them of one size at once.

More than half of the members must say it: a tie, or too many who are silent, is no answer. A
search counts bits: for each set of k - 1 members it is kept which items have already t right votes
(t up to the majority), as 64 items a word, so that the last member costs one "and" and one "or".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from clinqa.core.arrays import Bools, Floats, Int8s, Int16s, Ints, UInt64s

__all__ = ["Searched", "majority", "search"]


def majority(codes: Int8s) -> Int8s:
    """The vote over the rows of `codes` (1 True, 0 False, -1 no answer); -1 for a tie.

    >>> majority(np.array([[1, 1, 0, 1], [1, 0, 0, -1], [0, -1, 1, 0]], dtype=np.int8)).tolist()
    [1, -1, 0, -1]
    """
    true, false = (codes == 1).sum(axis=0), (codes == 0).sum(axis=0)
    made = np.full(codes.shape[1], -1, dtype=np.int8)
    made[2 * true > len(codes)] = 1
    made[2 * false > len(codes)] = 0
    return made


@dataclass(frozen=True, slots=True)
class Searched:
    """Every set of `size` members: who they are, and how many True and False items it judges
    right."""

    size: int
    members: Int16s
    true_right: Ints
    false_right: Ints
    true: int
    false: int

    def __len__(self) -> int:
        return len(self.members)

    @property
    def accuracy(self) -> Floats:
        """The share of items judged right, by set."""
        made: Floats = (self.true_right + self.false_right) / (self.true + self.false)
        return made

    def best(self) -> int:
        """The set with the highest accuracy; of equals the first by its members."""
        return int(np.argmax(self.true_right + self.false_right))


def search(right: Bools, gold: Bools, size: int) -> Searched:
    """All sets of `size` of the rows of `right` (judges by items: did it judge the item right?).

    >>> one = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], dtype=bool)
    >>> search(one, np.array([True, True, False, False]), 3).accuracy.tolist()
    [0.75]
    """
    judges = len(right)
    if not 1 <= size <= judges:
        raise ValueError("a size between 1 and the number of judges")
    sets = comb(judges, size)
    parts = [_packed(right[:, gold]), _packed(right[:, ~gold])]
    border = parts[0].shape[1]
    words = np.concatenate(parts, axis=1)
    members = np.empty((sets, size), dtype=np.int16)
    counts = np.empty((sets, 2), dtype=np.int64)
    done = 0
    need = size // 2 + 1
    empty = [np.full(words.shape[1], np.iinfo(np.uint64).max)]
    empty += [np.zeros(words.shape[1], dtype=np.uint64) for _ in range(need)]
    for chosen, votes in _prefixes(words, size - 1, need, (), empty):
        start = chosen[-1] + 1 if chosen else 0
        last = words[start:]
        # right: enough votes without the last, or one too few and the last has it
        bits = np.bitwise_count(votes[need] | (votes[need - 1] & last))
        end = done + len(last)
        members[done:end, :-1] = chosen
        members[done:end, -1] = np.arange(start, judges)
        counts[done:end, 0] = bits[:, :border].sum(axis=1, dtype=np.int32)
        counts[done:end, 1] = bits[:, border:].sum(axis=1, dtype=np.int32)
        done = end
    return Searched(size, members, counts[:, 0], counts[:, 1], int(gold.sum()), int((~gold).sum()))


def _prefixes(
    words: UInt64s, length: int, need: int, chosen: tuple[int, ...], votes: list[UInt64s]
) -> Iterator[tuple[tuple[int, ...], list[UInt64s]]]:
    """Every set of `length` members in order, with the items that have at least t right votes."""
    if not length:
        yield chosen, votes
        return
    for member in range(chosen[-1] + 1 if chosen else 0, len(words) - length):
        more = [
            votes[0],
            *(votes[t] | (votes[t - 1] & words[member]) for t in range(1, need + 1)),
        ]
        yield from _prefixes(words, length - 1, need, (*chosen, member), more)


def _packed(right: Bools) -> UInt64s:
    """Bits by row, 64 a word, the last word filled up with zeros."""
    width = -(-right.shape[1] // 64) * 64
    padded = np.zeros((len(right), width), dtype=np.bool_)
    padded[:, : right.shape[1]] = right
    return np.packbits(padded, axis=1).view(np.uint64)
