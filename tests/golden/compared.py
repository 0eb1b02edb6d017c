"""Two kept results, compared: where they differ, before and after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

__all__ = ["SHOWN", "differences", "told"]

SHOWN = 20
_CLOSE = 1e-9
_MISSING = "(nothing)"


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each place where the two are not the same; numbers are, within 1e-9."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(
                before.get(key, _MISSING), after.get(key, _MISSING), f"{path} > {key}"
            )
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif not _same(before, after):
        yield path, before, after


def _of_lists(before: list[Any], after: list[Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    if len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{at}]")
        return
    yield f"{path} (how many)", len(before), len(after)
    gone = [one for one in before if one not in after]
    new = [one for one in after if one not in before]
    for at in range(max(len(gone), len(new))):
        yield (
            f"{path} (in one alone)",
            gone[at] if at < len(gone) else _MISSING,
            new[at] if at < len(new) else _MISSING,
        )


def _same(before: Any, after: Any) -> bool:
    if before == after and isinstance(before, bool) == isinstance(after, bool):
        return True
    if isinstance(before, str) and isinstance(after, str):
        return _same_cells(before, after)
    numbers = (int, float)
    if isinstance(before, bool) or isinstance(after, bool):
        return False
    if not isinstance(before, numbers) or not isinstance(after, numbers):
        return False
    return math.isclose(before, after, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _same_cells(before: str, after: str) -> bool:
    """Rows of a CSV table are texts of cells; long numbers in them may differ in the last digit."""
    ones, others = before.split(" | "), after.split(" | ")
    if len(ones) != len(others) or "." not in before:
        return False
    for one, other in zip(ones, others, strict=True):
        if one == other:
            continue
        try:
            close = math.isclose(float(one), float(other), rel_tol=_CLOSE, abs_tol=_CLOSE)
        except ValueError:
            return False
        if not close or min(len(one), len(other)) < 10:
            return False
    return True


def told(before: Any, after: Any, name: str) -> str:
    """The first differences for people; empty where there are none."""
    found = list(islice(differences(before, after, name), SHOWN + 1))
    lines = [f"{path}\n    before: {_short(a)}\n    after:  {_short(b)}" for path, a, b in found]
    if len(found) > SHOWN:
        lines[SHOWN:] = ["and more"]
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]} … ({len(text):,} characters)"
