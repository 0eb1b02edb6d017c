"""McNemar's test, by the name that it had."""

from clinqa.stats.comparing import mcnemar

__all__ = ["mcnemar"]
