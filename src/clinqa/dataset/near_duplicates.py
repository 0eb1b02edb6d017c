"""Near-duplicate texts: all pairs whose word sets overlap enough, none missed, none invented.

The words of a text are what is left when it is in lower case and everything but letters and digits
is a blank. Two texts are as alike as their word sets: shared words over all words (Jaccard). All
pairs at or above a threshold are found exactly by a prefix filter: of two sets that alike, the
rarest few words of each must share one (Bayardo, Ma and Srikant 2007; Xiao et al. 2008). Texts with
equal word sets are one set, so that a thousand copies cost no more than one.

Words are told apart by 64-bit hashes. Compiled where numba is installed; the same pairs without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bytes, Floats, Int32s, Ints
from clinqa.dataset.near_kernel import join_sets, number_distinct, rank_words, word_hashes

__all__ = [
    "Alike",
    "clusters",
    "highest_across",
    "jaccard",
    "near_duplicates",
    "normalised",
    "stay",
]


@dataclass(frozen=True, slots=True)
class Alike:
    """Which texts are alike. Sets are numbered by the first text that has them.

    `set_of` gives each text's set, or -1 for a text of no words; `left` < `right` are sets that are
    alike, in order, with their `similarity`.
    """

    set_of: Ints
    left: Ints
    right: Ints
    similarity: Floats

    def at_least(self, threshold: float) -> Alike:
        """The same at a higher threshold."""
        keep = self.similarity >= threshold
        return Alike(self.set_of, self.left[keep], self.right[keep], self.similarity[keep])

    def pairs(self) -> list[tuple[int, int, float]]:
        """Every pair of texts with its similarity; equal sets have 1."""
        single = np.bincount(self.set_of[self.set_of >= 0], minlength=1) == 1
        first = np.full(len(single), -1, dtype=np.int64)
        has = np.flatnonzero(self.set_of >= 0)[::-1]
        first[self.set_of[has]] = has
        plain = single[self.left] & single[self.right] if len(self.left) else np.zeros(0, bool)
        a, b = first[self.left[plain]], first[self.right[plain]]
        low, high = np.minimum(a, b).tolist(), np.maximum(a, b).tolist()
        found = list(zip(low, high, self.similarity[plain].tolist(), strict=True))
        members: dict[int, list[int]] = {}
        several = np.flatnonzero((self.set_of >= 0) & ~single[np.maximum(self.set_of, 0)])
        for text in several.tolist():
            members.setdefault(int(self.set_of[text]), []).append(text)
        for own in members.values():
            found += [(a, b, 1.0) for i, a in enumerate(own) for b in own[i + 1 :]]
        for one, other, alike in zip(
            self.left[~plain].tolist(),
            self.right[~plain].tolist(),
            self.similarity[~plain].tolist(),
            strict=True,
        ):
            for a in members.get(one, (int(first[one]),)):
                for b in members.get(other, (int(first[other]),)):
                    found.append((min(a, b), max(a, b), alike))
        return sorted(found)


def normalised(text: str) -> str:
    """The text as its words are counted.

    >>> normalised("The normal PR interval is 120-200 ms.")
    'the normal pr interval is 120 200 ms'
    """
    return " ".join("".join(char if char.isalnum() else " " for char in text.lower()).split())


def jaccard(one: str, other: str) -> float:
    """How alike two texts are; 0 where neither has a word.

    >>> round(jaccard("The normal PR interval is 120 to 200 ms.",
    ...               "The normal PR interval is 120-200 ms"), 3)
    0.889
    """
    a, b = set(normalised(one).split()), set(normalised(other).split())
    return len(a & b) / len(a | b) if a or b else 0.0


def near_duplicates(texts: Sequence[str] | pa.Array, threshold: float = 0.8) -> Alike:
    """All pairs of texts whose word sets have a Jaccard similarity of at least `threshold`.

    >>> alike = near_duplicates(["a b c d e", "e d c b a f", "x y", "A, b; c d e!"])
    >>> alike.pairs()
    [(0, 1, 0.8333333333333334), (0, 3, 1.0), (1, 3, 0.8333333333333334)]
    """
    share = Fraction(str(threshold))
    if not 0 < share <= 1:
        raise ValueError("a threshold above 0 and up to 1")
    data, ends = _bytes_of(texts)
    hashes, starts = word_hashes(data, ends)
    words = rank_words(hashes, starts)
    set_of, first = _equal_sets(words, starts)
    left, right, shared = join_sets(words, starts, first, share.numerator, share.denominator)
    sizes = np.diff(starts)
    a, b = first[left], first[right]
    union = sizes[a] + sizes[b] - shared
    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((high, low))
    return Alike(set_of, low[order], high[order], (shared / np.maximum(union, 1))[order])


def stay(
    alike: Alike,
    ranks: Sequence[int] | Ints,
    threshold: float,
    differ: Callable[[int, int], bool] | None = None,
) -> Ints:
    """Which text each text is a duplicate of, or -1 for those that stay.

    The lowest rank of what is alike stays; a text goes only for one that stays itself. `differ`
    says of two texts that they are not the same for all their likeness.
    """
    ranks = np.asarray(ranks, dtype=np.int64)
    neighbours: dict[int, list[int]] = {}
    kept = alike.at_least(threshold)
    for one, other in zip(kept.left.tolist(), kept.right.tolist(), strict=True):
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    instead = np.full(len(alike.set_of), -1, dtype=np.int64)
    staying: dict[int, list[int]] = {}
    for text in np.argsort(ranks, kind="stable").tolist():
        own = int(alike.set_of[text])
        if own < 0:
            continue
        near = [
            other
            for one in (own, *neighbours.get(own, ()))
            for other in staying.get(one, ())
            if differ is None or not differ(other, text)
        ]
        if near:
            instead[text] = min(near, key=lambda other: int(ranks[other]))
        else:
            staying.setdefault(own, []).append(text)
    return instead


def clusters(alike: Alike, texts: Iterable[int] | None = None) -> Ints:
    """The cluster of each text: those connected by pairs that are alike, named by their first.

    With `texts`, only these count; the others have -1. A text of no words is a cluster of its own.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # slow to import

    size = len(alike.set_of)
    own = np.where(alike.set_of >= 0, alike.set_of, size + np.arange(size))  # no words: alone
    counted = np.arange(size) if texts is None else np.array(sorted(set(texts)), dtype=np.int64)
    both = np.isin(alike.left, own[counted]) & np.isin(alike.right, own[counted])
    left, right = alike.left[both], alike.right[both]
    pairs = coo_array((np.ones(len(left), bool), (left, right)), shape=(2 * size, 2 * size))
    _, joined = connected_components(pairs, directed=False)
    _, first, place = np.unique(joined[own[counted]], return_index=True, return_inverse=True)
    made = np.full(size, -1, dtype=np.int64)
    made[counted] = counted[first][place]
    return made


def _bytes_of(texts: Sequence[str] | pa.Array) -> tuple[Bytes, Ints]:
    """The texts' bytes in lower case and where each begins; only letters and digits stay beyond
    ASCII, whose own punctuation the scan passes over."""
    column = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    column = pc.fill_null(column.cast(pa.large_string()), "")
    plain = pc.equal(pc.binary_length(column), pc.utf8_length(column))
    if not pc.all(plain).as_py():
        mask = pl.Series(pl.from_arrow(plain))
        series = pl.Series(pl.from_arrow(column))
        cleaned = series.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ")
        column = cleaned.zip_with(~mask, series).to_arrow().cast(pa.large_string())
    if not isinstance(column, pa.Array):
        column = column.combine_chunks()
    buffers = column.buffers()
    offsets = np.frombuffer(buffers[1], np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None else np.empty(0, np.uint8)
    return data, offsets


def _equal_sets(words: Int32s, starts: Ints) -> tuple[Ints, Ints]:
    """The set of each text, and the first text of each set; texts without words have no set."""
    sizes = np.diff(starts)
    mixed = words.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    keys = total[starts[1:]] - total[starts[:-1]] + sizes.astype(np.uint64)
    has = sizes > 0
    where = np.flatnonzero(has)
    number, first = number_distinct(keys[has])
    set_of = np.full(len(sizes), -1, dtype=np.int64)
    set_of[where] = number
    return set_of, where[first].astype(np.int64)


_FLOORS = (0.6, 0.4, 0.2)


def highest_across(texts: Sequence[str], splits: Sequence[int]) -> float:
    """The highest Jaccard similarity of two texts in different splits: what a leak would look like.

    Searched from above: pairs at 0.6 or more first; what is below 0.2 counts as 0.

    >>> highest_across(["a b c d", "a b c e", "x y"], [0, 1, 0])
    0.6
    """
    place = np.asarray(splits, dtype=np.int64)
    for floor in _FLOORS:
        alike = near_duplicates(list(texts), floor)
        if _equal_across(alike.set_of, place):
            return 1.0
        first = {int(own): i for i, own in reversed(list(enumerate(alike.set_of.tolist())))}
        best = max(
            (
                similarity
                for one, other, similarity in zip(
                    alike.left.tolist(),
                    alike.right.tolist(),
                    alike.similarity.tolist(),
                    strict=True,
                )
                if place[first[one]] != place[first[other]]
            ),
            default=0.0,
        )
        if best:
            return float(best)
    return 0.0


def _equal_across(sets: Ints, place: Ints) -> bool:
    """Whether equal texts stand in different splits."""
    order = np.lexsort((place, sets))
    same = (sets[order][1:] == sets[order][:-1]) & (sets[order][1:] >= 0)
    return bool((same & (place[order][1:] != place[order][:-1])).any())
