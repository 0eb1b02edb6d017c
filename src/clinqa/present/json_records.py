"""Records of a JSON file that may have been edited: each value of the type its field has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

__all__ = ["record_of"]

_Record = TypeVar("_Record")


def _number(value: Any) -> float | None:
    """A finite number or None: JSON has no NaN, and a page that prints one is wrong."""
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else None


def _words(value: Any) -> dict[str, str]:
    return {str(key): str(one) for key, one in (value or {}).items()}


_READ: Mapping[Any, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": _number,
    "Mapping[str, str]": _words,
}


def record_of(kind: type[_Record], entry: Mapping[str, Any]) -> _Record:
    """The record; KeyError, TypeError, ValueError or AttributeError where the entry holds none.

    >>> from clinqa.core.figures import PairedTest
    >>> test = {"a": "x", "b": "y", "metric": "f1", "difference": 1, "low": 0, "high": 2, "p": 0.1}
    >>> record_of(PairedTest, test).difference
    1.0
    """
    made = {}
    for field in fields(kind):  # type: ignore[arg-type]  # of dataclasses
        if field.name in entry or (field.default, field.default_factory) == (MISSING, MISSING):
            made[field.name] = _READ[field.type](entry[field.name])
    return kind(**made)
