"""Which errors could harm: the pack's table of true and answered level, and what they are called.

The table (`consequences.yaml` of a pack) alone decides what is a danger. The names below are for
people: each stands for some cells, an error has every name that its cell has, and one whose cell
has none is `other_danger`, so that a table with other dangers loses none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.packs.loader import Pack, refuse_unknown
from clinqa.packs.schema import ConsequencesSpec, LevelColumn

__all__ = ["DANGERS", "Consequences", "consequences_of", "consequences_spec"]

FILE = "consequences.yaml"
_MAX_BYTES = 64 * 1024
_GRADED, _ABNORMAL = frozenset({2, 3}), frozenset({-2, 1, 2, 3})
_SEEN = frozenset({-2, -1, 0, 1, 2, 3})
_UNSEEN: frozenset[int | None] = frozenset({-3, None})
_Levels = frozenset[int | None]

#: By name, the gravest first: true and answered levels, in one direction or more.
_NAMED: dict[str, tuple[tuple[Collection[int | None], Collection[int | None]], ...]] = {
    "severe_as_mild": (({3}, {0, 1}),),
    "severe_unseen": (({3}, _UNSEEN),),
    "severe_as_moderate": (({3}, {2}),),
    "inadequate_as_normal": (({-3}, {0}),),
    "swapped": ((_ABNORMAL, {0}), ({0}, _ABNORMAL)),
    "abnormal_as_normal": ((_ABNORMAL, {0}),),
    "abnormal_unseen": ((_ABNORMAL - {3}, _UNSEEN),),
    "low_swapped": (({-1}, _GRADED), (_GRADED, {-1})),
    "normal_as_abnormal": (({0}, _ABNORMAL),),
    "mild_as_severe": (({1}, {3}),),
    "invented": (({-3}, _SEEN - {0}), ({None}, _SEEN - {0})),
    "inadequate_as_seen": (({-3}, _SEEN),),
}
OTHER = "other_danger"
DANGERS = (*_NAMED, OTHER)
"""The errors that could harm, the gravest first: severe called mild or less, severe called not
assessable or not mentioned, severe called moderate, not assessable called normal, normal and
abnormal swapped (and each direction), abnormal called not assessable or not mentioned, hyperdynamic
or small swapped with moderate or severe, mild called severe, a finding made up where the report
says nothing or could not assess it, any level where it could not assess it; and what a table calls
a danger besides."""


class Consequences:
    """A pack's table, asked by abnormality; None stands for what is not mentioned."""

    def __init__(self, spec: ConsequencesSpec) -> None:
        self._common = {
            (_level(row), _level(column)): cell == "danger"
            for row, cells in spec.table.items()
            for column, cell in zip(spec.columns, cells, strict=True)
        }
        self._own: dict[str, dict[tuple[int | None, int | None], bool]] = {}
        for other in spec.exceptions:
            changed = {
                (_level(row), _level(column)): cell == "danger"
                for row, cells in other.table.items()
                for column, cell in cells.items()
            }
            for name in other.abnormalities:
                self._own[name] = {**self._common, **self._own.get(name, {}), **changed}

    def danger(self, abnormality: str, level: int | None, answered: int | None) -> bool:
        """Is it a danger to say `answered` where the report says `level`?"""
        return self._own.get(abnormality, self._common).get((level, answered), False)

    def dangers(
        self, abnormality: str, level: int | None, answered: Iterable[int | None]
    ) -> tuple[str, ...]:
        """The names of the danger, the gravest first; none where any of what is said is no danger.

        Of an answer that leaves several levels open those names stand that fit all of them, or
        else those of the level whose gravest name is the least grave.
        """
        said = frozenset(answered)
        if not said or not all(self.danger(abnormality, level, one) for one in said):
            return ()
        each = [_names(level, one) for one in said]
        least = max(each, key=_gravest)
        fits = set(least).intersection(*each) or set(least)
        return tuple(name for name in DANGERS if name in fits)

    def possible(
        self, abnormality: str, level: int | None, answers: Iterable[_Levels]
    ) -> tuple[str, ...]:
        """The names that a wrong answer among these could have."""
        found = {name for said in answers for name in self.dangers(abnormality, level, said)}
        return tuple(name for name in DANGERS if name in found)


def _names(level: int | None, answered: int | None) -> list[str]:
    found = [
        name
        for name, cells in _NAMED.items()
        if any(level in true and answered in said for true, said in cells)
    ]
    return found or [OTHER]


def _gravest(names: list[str]) -> int:
    return DANGERS.index(names[0])


def _level(column: LevelColumn) -> int | None:
    return None if column == "none" else column


@lru_cache(maxsize=8)
def _read(path: Path, data: bytes) -> ConsequencesSpec:
    return validated(path, data, ConsequencesSpec)


def consequences_spec(pack: Pack) -> ConsequencesSpec:
    """The pack's table; ConfigError where it has none, since no error would be a danger then."""
    path = pack.folder / FILE
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; answers are judged by a table of what could harm")
    spec = _read(path, read_bytes(path, _MAX_BYTES))
    for other in spec.exceptions:
        refuse_unknown(
            f"{path}: exceptions", "abnormality", other.abnormalities, pack.spec.abnormalities
        )
    return spec


def consequences_of(pack: Pack) -> Consequences:
    """The pack's table of what could harm."""
    return Consequences(consequences_spec(pack))
