"""The order of data classes: what is made of several things has the strictest of theirs."""

from __future__ import annotations

from collections.abc import Iterable

from clinqa.core.errors import ClinqaError, ConfigError
from clinqa.core.records import DataClass

__all__ = ["inherit", "is_private", "strictest"]

_ORDER = (DataClass.PUBLIC, DataClass.LICENSED, DataClass.RESTRICTED, DataClass.PHI)


def inherit(classes: Iterable[DataClass]) -> DataClass:
    """The class of something made from several: the strictest of theirs.

    >>> inherit([DataClass.PUBLIC, DataClass.PHI, DataClass.LICENSED])
    <DataClass.PHI: 'phi'>
    """
    found = list(classes)
    if not found:
        raise ValueError("a derived thing has at least one source")
    return max(found, key=_ORDER.index)


def strictest(
    classes: Iterable[DataClass | str],
    wanted: DataClass | None = None,
    *,
    read: str = "the dataset is",
    of: str = "it",
    instead: str = "",
    error: type[ClinqaError] = ConfigError,
) -> DataClass:
    """The class of what is made from things of these classes; `wanted` may raise it, never lower.

    `read` says what those things are, `of` what they are called and `instead` what can be done,
    for the `error` that a lower one is refused with.

    >>> strictest(["public", "licensed"], DataClass.PHI)
    <DataClass.PHI: 'phi'>
    """
    own = inherit(map(DataClass, classes))
    if wanted is not None and inherit([own, wanted]) is not wanted:
        raise error(
            f"--data-class {wanted.value}: {read} {own.value}, and what is made from {of} cannot "
            f"be less{instead}"
        )
    return wanted or own


def is_private(data_class: DataClass | str) -> bool:
    """May only its owner read files of this class (mode 0600)? An unknown class is private."""
    return data_class not in (DataClass.PUBLIC, DataClass.LICENSED)
