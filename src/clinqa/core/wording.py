"""How numbers are written for people: one wording for pages, tables, CSV and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = [
    "MISSING",
    "count",
    "decimals",
    "interval",
    "many",
    "p_value",
    "percent",
    "percent_interval",
    "short_hash",
    "signed",
]

MISSING = "–"
MINUS = "\u2212"


def decimals(value: float | None, digits: int = 3) -> str:
    """A value from 0 to 1 (κ from −1) with three decimals; a dash where there is none.

    >>> decimals(0.5), decimals(-0.01234), decimals(None), decimals(-0.0001)
    ('0.500', '−0.012', '–', '0.000')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", MINUS)


def interval(
    low: float | None, high: float | None, write: Callable[[float], str] = decimals
) -> str:
    """The interval beside a value; empty where it does not exist.

    >>> interval(0.1, 0.25), interval(None, 0.2)
    ('[0.100, 0.250]', '')
    """
    if low is None or high is None:
        return ""
    return f"[{write(low)}, {write(high)}]"


def percent(share: float | None) -> str:
    r"""A share in per cent, one decimal.

    >>> percent(0.1234), percent(0.0), percent(None), percent(0.0001)
    ('12.3\xa0%', '0.0\xa0%', '–', '<0.1\xa0%')
    """
    if share is None or not math.isfinite(share):
        return MISSING
    if 0 < share < 0.0005:
        return "<0.1\u00a0%"
    if 0.9995 <= share < 1:
        return ">99.9\u00a0%"
    return f"{100 * share:.1f}\u00a0%"


def percent_interval(low: float | None, high: float | None) -> str:
    """The interval of a share, in per cent.

    >>> percent_interval(0.1, 0.25)
    '[10.0, 25.0]'
    """
    return interval(low, high, lambda share: f"{100 * share:.1f}")


def p_value(p: float | None) -> str:
    """A p-value as journals print it.

    >>> p_value(0.04321), p_value(0.0001), p_value(None), p_value(1.0)
    ('0.043', '<0.001', '–', '1.000')
    """
    if p is None or not math.isfinite(p):
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def count(n: float | None) -> str:
    """A count with its thousands apart; a mean over repeats keeps one decimal.

    >>> count(12345), count(2.5), count(None)
    ('12,345', '2.5', '–')
    """
    if n is None or not math.isfinite(n):
        return MISSING
    whole = round(n)
    return f"{whole:,}" if math.isclose(n, whole, abs_tol=1e-6) else f"{n:,.1f}"


def many(n: float, one: str, more: str = "") -> str:
    """So many of something, in its number; `more` is the plural where it is no `s`.

    >>> many(1, "page"), many(2500, "page"), many(0, "study", "studies")
    ('1 page', '2,500 pages', '0 studies')
    """
    return f"{count(n)} {one if n == 1 else more or f'{one}s'}"


def short_hash(text: str) -> str:
    """The part of a fingerprint that people compare.

    >>> short_hash("0123456789abcdef")
    '0123456789ab'
    """
    return text[:12]


def signed(value: float | None, digits: int = 3) -> str:
    """A deviation with its sign.

    >>> signed(0.0123), signed(-0.02), signed(None), signed(0.0001)
    ('+0.012', '−0.020', '–', '0.000')
    """
    if value is None:
        return MISSING
    text = decimals(value, digits)
    plain = text.removeprefix(MINUS)
    if float(plain) == 0:
        return plain
    return f"+{text}" if value > 0 else text
