"""A dataset in the formats of other tools: chat messages, lm-eval tasks, Inspect samples.

A format is a file here with a function of items by split, the facet of their kind and a name; it
gives the text of each file.
"""

from __future__ import annotations

from clinqa.dataset.export.write import FORMATS, export

__all__ = ["FORMATS", "export"]
