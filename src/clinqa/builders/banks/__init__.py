"""Datasets from question banks."""

from __future__ import annotations

__all__ = ["NEAR"]

NEAR = 0.8
"""The share of common words that makes two questions nearly the same."""
