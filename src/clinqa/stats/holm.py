"""Holm's correction, by the name that it had."""

from clinqa.stats.families import holm

__all__ = ["holm"]
