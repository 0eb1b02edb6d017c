"""Data classes, the identifier screen, redaction.

`clinqa.privacy.screen` needs pyarrow and is imported by those who screen.
"""

from __future__ import annotations

from clinqa.privacy.data_class import DEFAULTS, data_class_of, inherit, is_private

__all__ = ["DEFAULTS", "data_class_of", "inherit", "is_private"]
