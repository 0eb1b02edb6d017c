"""What tables about patients and places write, and presets of columns: `attributes.yaml`."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from clinqa.core.yamlfile import Strict
from clinqa.packs.loader import read_spec

__all__ = ["AttributeSpec", "DeterminantSpec", "PresetOfColumns", "attribute_words"]


class DeterminantSpec(Strict):
    """A dimension of a preset, and what columns of it are called; the first is taken."""

    title: str
    columns: tuple[str, ...] = Field(min_length=1)


class PresetOfColumns(Strict):
    """Dimensions by name."""

    title: str
    source: str
    determinants: dict[str, DeterminantSpec] = Field(min_length=1)


class AttributeSpec(Strict):
    """The file: words are compared without case."""

    unknown: frozenset[str]
    beside: frozenset[str]
    signs: frozenset[str]
    in_numbers: frozenset[str]
    in_columns: dict[str, frozenset[str]]
    ranks: tuple[str, ...]
    parts: tuple[str, ...]
    percents: tuple[str, ...]
    places: tuple[str, ...]
    presets: dict[str, PresetOfColumns]


@lru_cache(maxsize=1)
def attribute_words() -> AttributeSpec:
    """What the package holds."""
    path = Path(__file__).with_name("attributes.yaml")
    return read_spec(path, AttributeSpec, hashlib.sha256())
