"""What can become of one answer of a model."""

from __future__ import annotations

__all__ = ["STATUSES"]

STATUSES = ("answered", "ambiguous", "refused", "empty", "truncated", "unreadable", "error")
"""The column `answer_status`; what is not `answered` counts as wrong."""
