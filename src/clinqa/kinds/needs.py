"""One rule for options that not every kind of item can use."""

from __future__ import annotations

from clinqa.core.errors import ConfigError
from clinqa.core.options import Options, options_of
from clinqa.kinds.registry import ItemKind, can

__all__ = ["refuse_unused"]


def refuse_unused(options: Options, kind: ItemKind) -> None:
    """ConfigError for an option that was given and that items of this kind have no use for."""
    for one in options_of(type(options)):
        given = getattr(options, one.name) not in (one.default, False)
        if given and one.needs and not kind.has(one.needs):
            raise ConfigError(f"{one.flag} is for {can(one.needs)} items, not {kind.name}")
