"""The label that was said."""

from __future__ import annotations

from clinqa.kinds.facets.reads import Reads
from clinqa.kinds.true_false.labels import read_label

__all__ = ["READS"]

READS = Reads(lambda output, own: read_label(output))
