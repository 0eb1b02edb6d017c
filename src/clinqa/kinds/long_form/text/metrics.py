"""The text metrics of many pairs at once, and of every resample of them without recomputing.

Each pair becomes a row of statistics that can be averaged and added up. The metrics of any set of
pairs, weighted in any way, are a function of the weighted sum of the rows (`text_metrics`), so a
figure without one patient in turn is a subtraction. Repeats of an item are averaged as rows.

How each text metric is computed, in one line; equal signatures make figures comparable.

The last field names the library and version whose figures ours equal (to 1e-9, in the tests).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import ArrayLike, Floats, Ints
from clinqa.kinds.long_form.text.bleu import COUNTS, bleu, bleu_counts
from clinqa.kinds.long_form.text.cut_texts import (
    CutTexts,
    Ragged,
    Rule,
    WordCodes,
    prepare_13a,
    rouge,
    rouge_stemmed,
    split,
    squad,
    tokens_13a,
)
from clinqa.kinds.long_form.text.meteor import Meteor
from clinqa.kinds.long_form.text.overlap import rouge_f, token_f1
from clinqa.kinds.long_form.text.wordnet import WordNet, find_wordnet, open_wordnet

__all__ = [
    "METRICS",
    "STATISTICS",
    "TextMetrics",
    "TextOptions",
    "signatures",
    "text_metrics",
]

#: The metrics in the order of every table here. Where there is no WordNet, the last one is
#: named `meteor_exact_stem`: it is another metric, about which comparisons must not be silent.
METRICS: Final = (
    "bleu",
    "bleu_sentence",
    "bleu_unsmoothed",
    "rouge1",
    "rouge2",
    "rougeL",
    "token_f1",
    "meteor",
)

_BLEU: Final = "nrefs:1|case:mixed|eff:{}|tok:13a|smooth:{}|=sacrebleu:2.6"
_UNSMOOTHED: Final = (
    "bleu|mean of sentences|nrefs:1|case:mixed|eff:no|tok:{}|smooth:none|=nltk:3.10"
)
_ROUGE: Final = "{}|f1|mean|case:lower|tok:a-z0-9|stem:{}|=rouge-score:0.1.2"

_F1: Final = "token_f1|mean|case:lower|punctuation:removed|articles:removed|=squad:1.1"


def signatures(
    *, rouge_stemmer: str, meteor_tokens: str, unsmoothed_tokens: str, wordnet: str | None
) -> dict[str, str]:
    """The signature of each metric, in order; `wordnet` is its version, or None without one.

    `bleu_unsmoothed` is our best guess at the BLEU of EchoQA (Moukheiber et al. 2025), whose 0.70
    stands beside a ROUGE-L of 0.98: the mean of unsmoothed sentence BLEU over words cut at white
    space is 0 for every answer under four words, be it right or wrong. Their text does not say;
    hence a guess, to be quoted with the share of such references (`TextMetrics.short_references`).
    """
    made = {
        "bleu": "bleu|corpus|" + _BLEU.format("no", "exp"),
        "bleu_sentence": "bleu|mean of sentences|" + _BLEU.format("yes", "exp"),
        "bleu_unsmoothed": _UNSMOOTHED.format(unsmoothed_tokens),
    }
    for name in ("rouge1", "rouge2", "rougeL"):
        made[name] = _ROUGE.format(name, rouge_stemmer)
    made["token_f1"] = _F1
    name = "meteor" if wordnet else "meteor_exact_stem"
    match = f"match:exact,stem,synonym(wordnet {wordnet})" if wordnet else "match:exact,stem"
    made[name] = (
        f"{name}|mean|case:lower|tok:{meteor_tokens}|stem:porter|{match}"
        "|alpha:0.9|beta:3|gamma:0.5|=nltk:3.10"
    )
    return made


#: The columns of a pair's row: 1, whether its reference is short, BLEU's counts, and the metrics
#: that are means over pairs.
STATISTICS: Final = ("pairs", "short_reference", *COUNTS, *METRICS[1:])
_COUNTS: Final = 2
_MEANS: Final = _COUNTS + len(COUNTS)
_TOKENS_AT_ONCE: Final = 1 << 20
_FEW_TOKENS: Final = 4


@dataclass(frozen=True, slots=True)
class TextOptions:
    """What of the metrics is a matter of choice; each choice stands in the signature."""

    rouge_stemmer: Literal["porter", "none"] = "porter"
    meteor_tokens: Literal["13a", "split"] = "13a"
    unsmoothed_tokens: Literal["13a", "split"] = "split"
    #: `find` takes the WordNet that the machine has; `none` leaves the synonyms out.
    meteor_synonyms: Literal["find", "none"] = "find"


class TextMetrics:
    """BLEU, ROUGE, token F1 and METEOR of hypotheses against one reference each.

    >>> made = TextMetrics(["The LV is normal."], ["The LV is normal."])
    >>> made.corpus()["bleu"].item(), made.corpus()["rougeL"].item()
    (1.0, 1.0)
    """

    def __init__(
        self,
        references: Sequence[str],
        hypotheses: Sequence[str],
        options: TextOptions = TextOptions(),
    ) -> None:
        if len(references) != len(hypotheses):
            raise ValueError("as many hypotheses as references are needed")
        place = find_wordnet() if options.meteor_synonyms == "find" else None
        wordnet = None if place is None else open_wordnet(place)
        #: The name of each column of `corpus`; the last is `meteor` or `meteor_exact_stem`.
        self.signatures: Mapping[str, str] = signatures(
            rouge_stemmer=options.rouge_stemmer,
            meteor_tokens=options.meteor_tokens,
            unsmoothed_tokens=options.unsmoothed_tokens,
            wordnet=None if wordnet is None else wordnet.version,
        )
        self.names: tuple[str, ...] = tuple(self.signatures)
        texts = WordCodes()
        width = len(references)
        coded = np.fromiter(
            map(texts.__getitem__, (*references, *hypotheses)), dtype=np.int64, count=2 * width
        )
        # Each distinct pair is computed once.
        pairs, back = np.unique(
            coded[width:] * max(len(texts), 1) + coded[:width], return_inverse=True
        )
        made = _Rows(list(texts), options, wordnet).of(*np.divmod(pairs, max(len(texts), 1)))
        #: One row a pair, columns as `STATISTICS`.
        self.statistics: Floats = made[back]

    def per_item(self) -> pa.Table:
        """The statistics of each pair and its own metrics, in the order given."""
        columns = dict(zip(STATISTICS, self.statistics.T, strict=True))
        columns[self.names[-1]] = columns.pop(METRICS[-1])
        return pa.table({name: pa.array(column) for name, column in columns.items()})

    def corpus(self, weights: ArrayLike | None = None) -> dict[str, Floats]:
        """Each metric over all pairs; for a matrix of weights, one value for each of its rows."""
        if weights is None:
            # Sorted first: the order of the pairs has no part in the last digits.
            totals = np.sort(self.statistics, axis=0).sum(axis=0)
        else:
            totals = np.asarray(weights, dtype=np.float64) @ self.statistics
        return dict(zip(self.names, text_metrics(totals).T, strict=True))

    @property
    def short_references(self) -> float:
        """The share of references under four tokens, as `bleu_unsmoothed` cuts them.

        It gives their pairs 0 even where hypothesis and reference are equal.
        """
        short = self.statistics[:, 1]
        return float(short.mean()) if len(short) else float("nan")


def text_metrics(totals: ArrayLike) -> Floats:
    """The metrics, in the order of `METRICS`, of weighted sums of rows of statistics.

    A sum of weight 0 has no metrics: NaN.
    """
    sums = np.asarray(totals, dtype=np.float64)
    pairs = sums[..., :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums[..., _MEANS:] / pairs
    corpus = np.where(pairs[..., 0] > 0, bleu(sums[..., _COUNTS:_MEANS]), np.nan)
    return np.concatenate([corpus[..., None], means], axis=-1)


class _Rows:
    """The texts cut and tokenised for every metric; rows of statistics for pairs of them."""

    def __init__(self, texts: list[str], options: TextOptions, wordnet: WordNet | None) -> None:
        cut = CutTexts(texts)
        prepared = list(map(prepare_13a, texts))
        cut_13a = cut if prepared == texts else CutTexts(prepared)
        stemmed = options.rouge_stemmer == "porter"
        self._bleu, _ = cut_13a.tokens(tokens_13a)
        self._rouge, _ = cut.tokens(rouge_stemmed if stemmed else rouge)
        self._f1, _ = cut.tokens(squad)
        self._unsmoothed = self._bleu
        if options.unsmoothed_tokens == "split":
            self._unsmoothed, _ = cut.tokens(split)
        if options.meteor_tokens == "13a":
            self._meteor, vocabulary = cut_13a.tokens(_lower(tokens_13a))
        else:
            self._meteor, vocabulary = cut.tokens(_lower(split))
        self._aligned = Meteor(vocabulary, wordnet)

    def of(self, hypotheses: Ints, references: Ints) -> Floats:
        """A row for each pair of text numbers."""
        made = np.empty((len(hypotheses), len(STATISTICS)))
        for block in self._blocks(hypotheses, references):
            ours, theirs = hypotheses[block], references[block]

            def both(
                tokens: Ragged, ours: Ints = ours, theirs: Ints = theirs
            ) -> tuple[Ragged, Ragged]:
                return tokens.take(ours), tokens.take(theirs)

            counts = bleu_counts(*both(self._bleu))
            rows = made[block]
            unsmoothed = bleu_counts(*both(self._unsmoothed))
            rows[:, 0] = 1
            rows[:, 1] = unsmoothed[:, COUNTS.index("bleu_reference_tokens")] < _FEW_TOKENS
            rows[:, _COUNTS:_MEANS] = counts
            rows[:, _MEANS] = bleu(counts, effective_order=True)
            rows[:, _MEANS + 1] = bleu(unsmoothed, smoothing="none")
            rows[:, _MEANS + 2 : _MEANS + 5] = rouge_f(*both(self._rouge))
            rows[:, _MEANS + 5] = token_f1(*both(self._f1))
            rows[:, _MEANS + 6] = self._aligned.scores(*both(self._meteor))
        return made

    def _blocks(self, hypotheses: Ints, references: Ints) -> Iterator[slice]:
        """Neighbouring pairs of about a million tokens together: memory stays flat."""
        lengths = self._bleu.lengths
        running = np.cumsum(lengths[hypotheses] + lengths[references])
        cuts = np.flatnonzero(np.diff(running // _TOKENS_AT_ONCE)) + 1
        bounds = [0, *cuts.tolist(), len(hypotheses)]
        for start, end in pairwise(bounds):
            if end > start:
                yield slice(start, end)


def _lower(rule: Rule) -> Rule:
    return lambda word: [token.lower() for token in rule(word)]
