"""Text metrics: BLEU, ROUGE, token F1 and METEOR, equal to their reference libraries and faster.

`TextMetrics(references, hypotheses)` computes them; `.corpus()` gives the figures, `.statistics`
the rows of which `text_metrics` makes the figures of any weighted set, and `.signatures` says how.
A new metric: a function beside `overlap.py`, a column, name and signature in `metrics.py`.
"""

from clinqa.kinds.long_form.text.metrics import (
    METRICS,
    STATISTICS,
    TextMetrics,
    TextOptions,
    text_metrics,
)

__all__ = ["METRICS", "STATISTICS", "TextMetrics", "TextOptions", "text_metrics"]
