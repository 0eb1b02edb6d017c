"""The next item is made while the one before is being used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["ahead"]

T = TypeVar("T")


class _End:
    """What stands after the last item."""


_END = _End()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items in the same order, each made by a thread while its forerunner is in use.

    Worth it where making one is mostly work of compiled code, which runs beside Python. What
    making an item raises is raised here, in its place.

    >>> list(ahead(iter([3, 1, 2])))
    [3, 1, 2]
    """
    source = iter(items)

    def make() -> T | _End:
        return next(source, _END)

    with ThreadPoolExecutor(1, "clinqa-ahead") as pool:
        coming = pool.submit(make)
        while not isinstance(item := coming.result(), _End):
            coming = pool.submit(make)
            yield item
