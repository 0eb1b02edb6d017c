"""The answer is learnt as it stands."""

from __future__ import annotations

from clinqa.kinds.facets.trains import Trains

__all__ = ["TRAINS"]

TRAINS = Trains()
