from __future__ import annotations

from scoring.conftest import dataset

__all__ = ["dataset"]
