"""The data class of what clinqa makes: inherited, never lowered by a stage."""

from __future__ import annotations

from clinqa.core.data_class import inherit, is_private
from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = ["DEFAULTS", "data_class_of", "inherit", "is_private"]

# what a source is taken for until its owner says otherwise (simulated reports too)
DEFAULTS = {
    "reports": DataClass.RESTRICTED,
    "references": DataClass.LICENSED,
    "banks": DataClass.PUBLIC,
}


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
        known = ", ".join(each.value for each in DataClass)
        raise ConfigError(f"--data-class must be one of {known}") from None
