"""What the figures of True/False items are called, and what each means."""

from __future__ import annotations

from clinqa.kinds.facets.shows import MetricName

__all__ = ["LEANING", "MAIN", "NAMES"]

NAMES = (
    MetricName("accuracy", "Accuracy", "share judged right"),
    MetricName("macro_f1", "Macro-F1", "mean of the F1 of True and of False"),
    MetricName("sensitivity", "Sensitivity", "share of True statements judged True"),
    MetricName("specificity", "Specificity", "share of False statements judged False"),
    MetricName("precision", "Precision", "share of those judged True that are"),
    MetricName("mcc", "MCC", "Matthews' correlation; 0 for one answer only"),
    MetricName("kappa", "κ", "Cohen's kappa with the truth; on a balanced set 2 · accuracy − 1"),
    MetricName("youden_j", "J", "sensitivity + specificity − 1"),
    MetricName("directional_bias", "Bias", "accuracy − macro-F1; 1/6 for one answer only"),
    MetricName("true_share", "True said", "share judged True, of the answered"),
    MetricName("pair_both", "Both right", "share of pairs with both statements right"),
    MetricName("pair_one", "One right",
               "share of pairs with one right; all of them for one answer only"),
    MetricName("pair_none", "None right", "share of pairs with both wrong"),
)  # fmt: skip
MAIN = tuple(name.key for name in NAMES[:8])
LEANING = tuple(name.key for name in NAMES[8:])
