"""An estimate, by the place that it had."""

from clinqa.stats.estimates import Estimate

__all__ = ["Estimate"]
