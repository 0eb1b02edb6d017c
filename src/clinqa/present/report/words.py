"""How the report names metrics, kinds of error and numbers; one wording for page, CSV and LaTeX."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "DANGEROUS",
    "ERROR_KINDS",
    "GRAVEST",
    "GROUPS",
    "METRICS",
    "MISSING",
    "NO_ANSWER",
    "RESULT_METRICS",
    "Named",
    "count",
    "decimals",
    "interval",
    "metric_name",
    "p_value",
    "percent",
    "percent_interval",
    "short_hash",
]

MISSING = "–"
MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class Named:
    """A key of `scores.json`, its name on the page and one sentence that says what it is."""

    key: str
    name: str
    meaning: str


METRICS: tuple[Named, ...] = (
    Named("bleu", "BLEU", "corpus BLEU: n-grams shared by all answers and all references together"),
    Named("bleu_sentence", "BLEU, sentences", "mean of the BLEU of each answer, smoothed"),
    Named(
        "bleu_unsmoothed",
        "BLEU, sentences, unsmoothed",
        "the same without smoothing: a reference under four tokens scores 0 even when met exactly",
    ),
    Named("rouge1", "ROUGE-1", "F of shared single words, mean over the items"),
    Named("rouge2", "ROUGE-2", "F of shared pairs of words, mean over the items"),
    Named("rougeL", "ROUGE-L", "F of the longest common sequence of words, mean over the items"),
    Named("token_f1", "F1", "F1 of the answer's tokens against the reference's, mean over items"),
    Named("meteor", "METEOR", "shared words, stems and synonyms, with a penalty for their order"),
    Named("meteor_exact_stem", "METEOR, no synonyms", "METEOR where WordNet was not at hand"),
    Named("level_accuracy", "Level accuracy", "share of answers whose clinical level is right"),
    Named(
        "level_accuracy_corrected",
        "Level accuracy, corrected",
        "level accuracy corrected by the human sample (prediction-powered estimate)",
    ),
    Named("error_right", "Right answers", "level right and nothing unrelated added"),
    Named(
        "level_macro_f1",
        "Level macro-F1",
        "mean of the F1 of the levels that occur among the references",
    ),
    Named("level_weighted_kappa", "Level weighted κ", "agreement beyond chance, by distance"),
)
_NAMES = {metric.key: metric for metric in METRICS}

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
ERROR_KINDS: tuple[Named, ...] = (
    Named("error_right", "right", "level right, nothing added"),
    Named(
        "error_unrelated_added",
        "right, more added",
        "level right, but the answer adds findings the reference does not hold",
    ),
    Named(
        "error_wrong_level", "wrong level", "the asked abnormality at another level, but not below"
    ),
    Named("error_not_highest", "too low", "the asked abnormality below the reference's level"),
    Named(
        "error_other_abnormality",
        "other abnormality",
        "findings, but none of the asked abnormality",
    ),
    Named(
        "error_irrelevant",
        "no finding",
        "no finding can be read from the answer, or there is no answer",
    ),
)
NO_ANSWER = Named("no_answer", "no answer", "empty, cut off, refused or failed")

DANGEROUS: tuple[Named, ...] = (
    Named(
        "error_dangerous_any",
        "any of these",
        "of all items, each counted once; the last column stands apart",
    ),
    Named(
        "error_dangerous_severe_as_mild",
        "severe called mild or less",
        "of the items whose reference is severe",
    ),
    Named(
        "error_dangerous_severe_unseen",
        "severe called not assessable or not mentioned",
        "of the items whose reference is severe",
    ),
    Named(
        "error_dangerous_inadequate_as_normal",
        "inadequate answered as normal",
        "of the items whose reference says the structure could not be judged",
    ),
    Named(
        "error_dangerous_abnormal_as_normal",
        "abnormal called normal",
        "of the items whose reference is abnormal",
    ),
    Named(
        "error_dangerous_normal_as_abnormal",
        "normal called abnormal",
        "of the items whose reference is normal",
    ),
    Named(
        "error_dangerous_invented",
        "findings invented",
        "of the items that ask for something the report does not mention or could not assess",
    ),
    Named(
        "error_abstained",
        "finding missed",
        "called unmentioned, of the items that the report does mention",
    ),
)

# those that are drawn and told first
GRAVEST = tuple(
    kind
    for kind in DANGEROUS
    if kind.key.endswith(("_any", "_severe_as_mild", "_abnormal_as_normal"))
)

GROUPS: tuple[tuple[str, str], ...] = (
    ("biomedical", "Biomedical models"),
    ("general", "General models"),
    ("closed", "Closed models"),
    ("encoder", "Encoders"),
    ("baseline", "Baselines"),
    ("", "Group not stated"),
)


def metric_name(key: str) -> str:
    """A metric's name on the page.

    >>> metric_name("token_f1"), metric_name("something_new")
    ('F1', 'something new')
    """
    return _NAMES[key].name if key in _NAMES else key.replace("_", " ")


def decimals(value: float | None, digits: int = 3) -> str:
    """A value from 0 to 1 (κ from −1) with three decimals; a dash where there is none.

    >>> decimals(0.5), decimals(-0.01234), decimals(None), decimals(-0.0001)
    ('0.500', '−0.012', '–', '0.000')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", MINUS)


def interval(low: float | None, high: float | None) -> str:
    """The interval beside a value; empty where it does not exist.

    >>> interval(0.1, 0.25), interval(None, 0.2)
    ('[0.100, 0.250]', '')
    """
    if low is None or high is None:
        return ""
    return f"[{decimals(low)}, {decimals(high)}]"


def percent(share: float | None) -> str:
    r"""A share in per cent, one decimal.

    >>> percent(0.1234), percent(0.0), percent(None), percent(0.0001)
    ('12.3\xa0%', '0.0\xa0%', '–', '<0.1\xa0%')
    """
    if share is None or not math.isfinite(share):
        return MISSING
    if 0 < share < 0.0005:
        return "<0.1\u00a0%"
    if 0.9995 <= share < 1:
        return ">99.9\u00a0%"
    return f"{100 * share:.1f}\u00a0%"


def percent_interval(low: float | None, high: float | None) -> str:
    """The interval of a share, in per cent.

    >>> percent_interval(0.1, 0.25)
    '[10.0, 25.0]'
    """
    if low is None or high is None:
        return ""
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def p_value(p: float | None) -> str:
    """A p-value as journals print it.

    >>> p_value(0.04321), p_value(0.0001), p_value(None), p_value(1.0)
    ('0.043', '<0.001', '–', '1.000')
    """
    if p is None or not math.isfinite(p):
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def count(n: float | None) -> str:
    """A count with its thousands apart; a mean over repeats keeps one decimal.

    >>> count(12345), count(2.5), count(None)
    ('12,345', '2.5', '–')
    """
    if n is None or not math.isfinite(n):
        return MISSING
    whole = round(n)
    return f"{whole:,}" if math.isclose(n, whole, abs_tol=1e-6) else f"{n:,.1f}"


def short_hash(text: str) -> str:
    """The part of a fingerprint that people compare.

    >>> short_hash("0123456789abcdef")
    '0123456789ab'
    """
    return text[:12]
