"""How the scanner's functions are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "njit"]

F = TypeVar("F", bound=Callable[..., Any])


def njit(function: F, **options: bool) -> F:
    decorate: Any = numba.njit
    try:
        return cast(F, decorate(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # nowhere to keep the cache: compile in every process
        return cast(F, decorate(nogil=True, **options)(function))


def compiled(function: F) -> F:
    """Compiled, for what only reads and writes arrays that its caller holds.

    Without numba's reference counts, which cost more than the work of such small functions. The
    switch is private to numba: where a version lacks it, the same runs slower.
    """
    try:
        return njit(function, _nrt=False, forceinline=True)
    except (KeyError, TypeError, AttributeError):
        return njit(function)
