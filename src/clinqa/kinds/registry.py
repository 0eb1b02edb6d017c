"""Which kinds of items there are, and the facets of each.

A kind is a folder of this package whose `__init__` holds a light record, `KIND`. A facet is a
module of that folder, and what it gives stands under the module's name in capitals: the facet
`asks` of a kind is `ASKS` in `asks.py`. It is imported when a stage asks for it and not before.
A folder that is taken away takes its kind with it, and nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import clinqa.kinds
from clinqa.core.errors import ConfigError
from clinqa.core.options import Options, options_of

__all__ = [
    "FACETS",
    "ItemKind",
    "can",
    "kind_named",
    "kinds",
    "refuse_unused",
    "register",
]

FACETS = (
    *("columns", "asks", "reads", "judges", "measures", "codes", "shows", "describes"),
    *("audited", "trains", "exports", "baseline"),
)
"""What a kind may say of itself; none but `columns` has to be there."""
_DONE = {
    "columns": "kept in a dataset",
    "asks": "asked",
    "reads": "read from answers",
    "judges": "judged",
    "measures": "scored",
    "codes": "compared as codes",
    "shows": "shown on a page of their own",
    "describes": "described",
    "audited": "audited",
    "trains": "trained on",
    "exports": "exported",
    "baseline": "answered by a baseline",
}
"""What people do with items of a kind that says it."""


@dataclass(frozen=True, slots=True)
class ItemKind:
    """One kind of item: its name in the column `kind`, what people call it, and what it can do.

    `facets` are those of FACETS that its package has. `abilities` are parts of facets that
    options may need: `orders` of `asks`, say.
    """

    name: str
    title: str
    package: str
    facets: frozenset[str]
    abilities: frozenset[str] = field(default=frozenset())

    def has(self, name: str) -> bool:
        """Is this a facet or an ability of the kind?"""
        return name in self.facets or name in self.abilities

    def must_have(self, *facets: str) -> None:
        """ConfigError that names the first of these facets that the kind lacks, and who has it."""
        for name in facets:
            if name not in FACETS:
                raise ValueError(f"{name} is no facet")
            if name not in self.facets:
                raise ConfigError(
                    f"items of kind {self.name} cannot be {_DONE[name]}; "
                    f"kinds that can: {can(name) or 'none'}"
                )

    def facet(self, name: str) -> Any:
        """The facet, imported now; ConfigError where the kind has none of that name."""
        self.must_have(name)
        return getattr(importlib.import_module(f"{self.package}.{name}"), name.upper())


_MORE: dict[str, ItemKind] = {}


@cache
def _found() -> dict[str, ItemKind]:
    made = {}
    for module in pkgutil.iter_modules(clinqa.kinds.__path__, "clinqa.kinds."):
        if module.ispkg:
            kind = getattr(importlib.import_module(module.name), "KIND", None)
            if isinstance(kind, ItemKind):
                made[kind.name] = kind
    return made


def kinds() -> tuple[ItemKind, ...]:
    """All kinds, in the order of their names."""
    known = {**_found(), **_MORE}
    return tuple(known[name] for name in sorted(known))


def register(kind: ItemKind) -> None:
    """Make a kind of another package known; the last of one name counts."""
    _MORE[kind.name] = kind


def kind_named(name: str) -> ItemKind:
    """The kind of this name; ConfigError for one that is not known."""
    for kind in kinds():
        if kind.name == name:
            return kind
    raise ConfigError(
        f"no items of kind {name!r} are known; there are {', '.join(k.name for k in kinds())}"
    )


def can(name: str) -> str:
    """The names of the kinds that have this facet or ability, for help and errors.

    >>> can("columns").split(", ")[0]
    'long_form'
    """
    return ", ".join(kind.name for kind in kinds() if kind.has(name))


def refuse_unused(options: Options, kind: ItemKind) -> None:
    """ConfigError for an option that was given and that items of this kind have no use for."""
    for one in options_of(type(options)):
        given = getattr(options, one.name) not in (one.default, False)
        if given and one.needs and not kind.has(one.needs):
            raise ConfigError(f"{one.flag} is for {can(one.needs)} items, not {kind.name}")
