"""The data class of what clinqa makes: inherited, never lowered by a stage."""

from __future__ import annotations

from collections.abc import Iterable

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = ["DEFAULTS", "data_class_of", "inherit", "is_private"]

_ORDER = (DataClass.PUBLIC, DataClass.LICENSED, DataClass.RESTRICTED, DataClass.PHI)

# what a source is taken for until its owner says otherwise (simulated reports too)
DEFAULTS = {
    "reports": DataClass.RESTRICTED,
    "references": DataClass.LICENSED,
    "banks": DataClass.PUBLIC,
}


def inherit(classes: Iterable[DataClass]) -> DataClass:
    """The class of something made from several: the strictest of theirs.

    >>> inherit([DataClass.PUBLIC, DataClass.PHI, DataClass.LICENSED])
    <DataClass.PHI: 'phi'>
    """
    found = list(classes)
    if not found:
        raise ValueError("a derived thing has at least one source")
    return max(found, key=_ORDER.index)


def data_class_of(kind: str, given: str | None = None) -> DataClass:
    """The class of a source of this kind: as given by its owner, else the default.

    >>> data_class_of("reports"), data_class_of("reports", "public")
    (<DataClass.RESTRICTED: 'restricted'>, <DataClass.PUBLIC: 'public'>)
    """
    if given is None:
        return DEFAULTS[kind]
    try:
        return DataClass(given.strip().casefold())
    except ValueError:
        known = ", ".join(each.value for each in _ORDER)
        raise ConfigError(f"--data-class must be one of {known}") from None


def is_private(data_class: DataClass) -> bool:
    """May only its owner read files of this class (mode 0600, nothing leaves the machine)?"""
    return data_class in (DataClass.RESTRICTED, DataClass.PHI)
