"""How each text metric is computed, in one line; equal signatures make figures comparable.

The last field names the library and version whose figures ours equal (to 1e-9, in the tests).
"""

from __future__ import annotations

from typing import Final

__all__ = ["METRICS", "signatures"]

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
