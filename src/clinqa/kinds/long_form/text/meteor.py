"""METEOR (Lavie and Agarwal 2007) as NLTK computes it.

Words are matched in three rounds: equal words, equal stems, synonyms. Each round goes through the
hypothesis from the right and takes the rightmost free word of the reference that fits. NLTK
hands the *stems* that are left over to the synonym round, so WordNet is asked about stems, and a
word whose stem is no word finds no synonym; published figures have this in them, so it is kept.
Where there is no WordNet the third round is left out, and the metric has another name.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clinqa.core.arrays import Bools, Floats, Ints
from clinqa.kinds.long_form.text.cut_texts import Ragged, WordCodes
from clinqa.kinds.long_form.text.overlap import paired_off
from clinqa.kinds.long_form.text.porter import stem
from clinqa.kinds.long_form.text.wordnet import WordNet

__all__ = ["Meteor"]

_ALPHA: Final = 0.9  # how much more recall counts than precision
_BETA: Final = 3.0  # how fast the penalty grows with the number of chunks
_GAMMA: Final = 0.5  # the largest penalty


class Meteor:
    """METEOR over texts coded with one vocabulary of lower-case tokens."""

    def __init__(self, tokens: list[str], wordnet: WordNet | None) -> None:
        stems = WordCodes()
        self._stems = np.array([stems[stem(token)] for token in tokens], dtype=np.int64)
        self._names = list(stems)
        self._codes = dict(stems)
        self._wordnet = wordnet
        # The codes of each stem's synonyms among the stems at hand; asked for when needed.
        self._synonyms: dict[int, tuple[int, ...]] = {}

    def scores(self, hypotheses: Ragged, references: Ragged) -> Floats:
        """METEOR of each pair."""
        pairs = len(hypotheses.starts) - 1
        owners, reference_owners = hypotheses.rows, references.rows
        partner = np.full(len(hypotheses.flat), -1, dtype=np.int64)
        taken = np.zeros(len(references.flat), dtype=bool)
        rounds = [(hypotheses.flat, references.flat)]
        rounds.append((self._stems[hypotheses.flat], self._stems[references.flat]))
        for ours, theirs in rounds:
            left, right = np.flatnonzero(partner < 0), np.flatnonzero(~taken)
            width = int(max(ours.max(initial=0), theirs.max(initial=0))) + 1
            at_left, at_right = paired_off(
                owners[left] * width + ours[left], reference_owners[right] * width + theirs[right]
            )
            partner[left[at_left]] = right[at_right]
            taken[right[at_right]] = True
        if self._wordnet is not None:
            self._match_synonyms(self._wordnet, rounds[1], owners, references, partner, taken)
        return _scores(partner, hypotheses, references, owners, pairs)

    def _match_synonyms(
        self,
        wordnet: WordNet,
        stems: tuple[Ints, Ints],
        owners: Ints,
        references: Ragged,
        partner: Ints,
        taken: Bools,
    ) -> None:
        """The third round; only words that have a synonym among all stems at hand are looked at."""
        ours, theirs = stems
        left = np.flatnonzero(partner < 0)
        asked = np.unique(ours[left])
        known = np.zeros(len(self._names), dtype=bool)
        known[asked] = [bool(self._synonyms_of(code, wordnet)) for code in asked.tolist()]
        left = left[known[ours[left]]]
        right = np.flatnonzero(~taken)
        cuts = np.flatnonzero(np.diff(owners[left], prepend=-1, append=-1))
        pairs = owners[left[cuts[:-1]]]
        # Plain lists: a loop over numbers of an array takes several times as long.
        first, last = (
            np.searchsorted(right, references.starts[pairs + end]).tolist() for end in (0, 1)
        )
        positions, stems_there = right.tolist(), theirs[right].tolist()
        asking, stems_here = left.tolist(), ours[left].tolist()
        bounds = cuts.tolist()
        for pair in range(len(pairs)):
            free: dict[int, list[int]] = {}
            for at in range(first[pair], last[pair]):
                free.setdefault(stems_there[at], []).append(positions[at])
            for at in range(bounds[pair + 1] - 1, bounds[pair] - 1, -1):
                fitting = [free[c] for c in self._synonyms[stems_here[at]] if free.get(c)]
                if fitting:
                    best = max(fitting, key=lambda found: found[-1]).pop()
                    partner[asking[at]], taken[best] = best, True

    def _synonyms_of(self, code: int, wordnet: WordNet) -> tuple[int, ...]:
        if code not in self._synonyms:
            names = wordnet.synonyms(self._names[code])
            found = (self._codes.get(name, code) for name in names)
            # Equal stems were matched before this round, so a stem is no synonym of itself.
            self._synonyms[code] = tuple(other for other in found if other != code)
        return self._synonyms[code]


def _scores(
    partner: Ints, hypotheses: Ragged, references: Ragged, owners: Ints, pairs: int
) -> Floats:
    """The formula over the alignment: `partner` is the reference position of each word, or -1."""
    matched = partner >= 0
    matches = np.bincount(owners[matched], minlength=pairs)
    # A chunk is a run of words that are neighbours, in the same order, on both sides.
    goes_on = np.zeros(len(partner), dtype=bool)
    goes_on[1:] = matched[1:] & matched[:-1]
    goes_on[1:] &= (partner[1:] == partner[:-1] + 1) & (owners[1:] == owners[:-1])
    chunks = np.bincount(owners[matched & ~goes_on], minlength=pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = matches / hypotheses.lengths, matches / references.lengths
        mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
        penalty = _GAMMA * (chunks / matches) ** _BETA
        return np.where(matches > 0, (1 - penalty) * mean, 0.0)
