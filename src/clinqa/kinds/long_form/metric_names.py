"""What the figures of long-form answers are called: metrics, kinds of error, dangerous errors."""

from __future__ import annotations

from dataclasses import replace

from clinqa.kinds.facets.shows import MetricName

__all__ = [
    "ANSWERED",
    "ANY_DANGER",
    "DANGEROUS",
    "DANGER_KINDS",
    "ERROR_KINDS",
    "GRAVEST",
    "METRICS",
    "NAMES",
    "NO_ANSWER",
    "RESULT_METRICS",
]


def _elsewhere(kind: MetricName, what: str) -> MetricName:
    return replace(kind, name=kind.key.replace("_", " "), alone=f"{what}: {kind.name}")


METRICS: tuple[MetricName, ...] = (
    MetricName(
        "bleu", "BLEU", "corpus BLEU: n-grams shared by all answers and all references together"
    ),
    MetricName("bleu_sentence", "BLEU, sentences", "mean of the BLEU of each answer, smoothed"),
    MetricName(
        "bleu_unsmoothed",
        "BLEU, sentences, unsmoothed",
        "the same without smoothing: a reference under four tokens scores 0 even when met exactly",
    ),
    MetricName("rouge1", "ROUGE-1", "F of shared single words, mean over the items"),
    MetricName("rouge2", "ROUGE-2", "F of shared pairs of words, mean over the items"),
    MetricName(
        "rougeL", "ROUGE-L", "F of the longest common sequence of words, mean over the items"
    ),
    MetricName(
        "token_f1", "F1", "F1 of the answer's tokens against the reference's, mean over items"
    ),
    MetricName(
        "meteor", "METEOR", "shared words, stems and synonyms, with a penalty for their order"
    ),
    MetricName("meteor_exact_stem", "METEOR, no synonyms", "METEOR where WordNet was not at hand"),
    MetricName(
        "level_accuracy", "Level accuracy", "share of answers whose clinical level is right"
    ),
    MetricName(
        "level_accuracy_corrected",
        "Level accuracy, corrected",
        "level accuracy corrected by the human sample (prediction-powered estimate)",
    ),
    MetricName("error_right", "Right answers", "level right and nothing unrelated added"),
    MetricName(
        "level_macro_f1",
        "Level macro-F1",
        "mean of the F1 of the levels that occur among the references",
    ),
    MetricName("level_weighted_kappa", "Level weighted κ", "agreement beyond chance, by distance"),
)

# the columns of EchoQA's Table 3, and the clinical one that no text metric stands for
RESULT_METRICS = (
    "bleu",
    "rouge1",
    "rouge2",
    "rougeL",
    "token_f1",
    "meteor",
    "meteor_exact_stem",
    "level_accuracy",
)

# in the order of a stacked bar: right first, then from the mildest failing to the gravest
ERROR_KINDS: tuple[MetricName, ...] = (
    MetricName("error_right", "right", "level right, nothing added"),
    MetricName(
        "error_unrelated_added",
        "right, more added",
        "level right, but the answer adds findings the reference does not hold",
    ),
    MetricName(
        "error_wrong_level", "wrong level", "the asked abnormality at another level, but not below"
    ),
    MetricName("error_not_highest", "too low", "the asked abnormality below the reference's level"),
    MetricName(
        "error_other_abnormality",
        "other abnormality",
        "findings, but none of the asked abnormality",
    ),
    MetricName(
        "error_irrelevant",
        "no finding",
        "no finding can be read from the answer, or there is no answer",
    ),
)
NO_ANSWER = MetricName("no_answer", "no answer", "empty, cut off, refused or failed")

ANSWERED = MetricName("status_answered", "answered", "the share of all items that has an answer")

# the rate, twice, and its kinds, the gravest first
ANY_DANGER: tuple[MetricName, ...] = (
    MetricName(
        "error_dangerous_any",
        "any, of all items",
        "an item counts once; no answer is no danger, so read it beside the answered share",
    ),
    MetricName(
        "error_dangerous_answered",
        "any, of answered items",
        "an item counts once; items without an answer are left out",
    ),
)
DANGER_KINDS: tuple[MetricName, ...] = (
    MetricName(
        "error_dangerous_severe_as_mild",
        "severe called mild or less",
        "of the answered items whose reference is severe",
    ),
    MetricName(
        "error_dangerous_severe_unseen",
        "severe called not assessable or not mentioned",
        "of the answered items whose reference is severe",
    ),
    MetricName(
        "error_dangerous_severe_as_moderate",
        "severe called moderate",
        "of the answered items whose reference is severe",
    ),
    MetricName(
        "error_dangerous_inadequate_as_normal",
        "inadequate answered as normal",
        "of the answered items whose reference says the structure could not be judged",
    ),
    MetricName(
        "error_dangerous_abnormal_as_normal",
        "abnormal called normal",
        "of the answered items whose reference is moderate, severe or abnormal with no degree",
    ),
    MetricName(
        "error_dangerous_abnormal_unseen",
        "abnormal called not assessable or not mentioned",
        "of the answered items whose reference is moderate or abnormal with no degree",
    ),
    MetricName(
        "error_dangerous_low_swapped",
        "low swapped with moderate or severe",
        "of the answered items whose reference is hyperdynamic, small, moderate or severe, where "
        "both can be",
    ),
    MetricName(
        "error_dangerous_normal_as_abnormal",
        "normal called abnormal",
        "of the answered items whose reference is normal; mild is no danger",
    ),
    MetricName(
        "error_dangerous_mild_as_severe",
        "mild called severe",
        "of the answered items whose reference is mild",
    ),
    MetricName(
        "error_dangerous_invented",
        "findings invented",
        "of the answered items that ask for something the report does not mention or could not "
        "assess",
    ),
    MetricName(
        "error_dangerous_inadequate_as_seen",
        "inadequate answered with a level, or as adequate",
        "of the answered items whose reference says the structure could not be judged",
    ),
    MetricName(
        "error_dangerous_other_danger",
        "another danger of the pack's table",
        "of the answered items where one is possible",
    ),
)
MISSED = MetricName(
    "error_abstained",
    "finding missed",
    "called unmentioned, of the answered items that the report does mention",
)
DANGEROUS = (*ANY_DANGER, *DANGER_KINDS, MISSED)

# those that are drawn and told first
GRAVEST = (
    *ANY_DANGER,
    *(k for k in DANGER_KINDS if k.key.endswith(("_severe_as_mild", "_abnormal_as_normal"))),
)

# errors are told by their kind alone in tables of errors, and with more words elsewhere
NAMES = (
    *METRICS,
    *(_elsewhere(kind, "Dangerous errors") for kind in DANGEROUS),
    replace(ANSWERED, alone="Answered share"),
    *(_elsewhere(kind, "Errors") for kind in ERROR_KINDS[1:]),
)
