"""Text metrics: BLEU, ROUGE, token F1 and METEOR, equal to their reference libraries and faster.

`TextMetrics(references, hypotheses)` computes them; `.corpus()` gives the figures, `.statistics`
the rows of which `text_metrics` makes the figures of any weighted set, and `.signatures` says how.
A new metric: its own file, a column in `metrics.py`, its name and signature in `signatures.py`.
"""

from clinqa.kinds.long_form.text.metrics import STATISTICS, TextMetrics, TextOptions, text_metrics
from clinqa.kinds.long_form.text.signatures import METRICS

__all__ = ["METRICS", "STATISTICS", "TextMetrics", "TextOptions", "text_metrics"]
