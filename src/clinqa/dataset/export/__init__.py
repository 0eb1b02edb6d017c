"""A dataset in the formats of other tools: chat messages, lm-eval tasks, Inspect samples.

A format is a file here with a function `(items by split, name) -> {file name: its text}`.
"""

from __future__ import annotations

from clinqa.dataset.export.write import FORMATS, export

__all__ = ["FORMATS", "export"]
