"""Presets of columns: dimensions by name, and which column of the tables each is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.visible import visible
from clinqa.packs.attributes import PresetOfColumns, attribute_words
from clinqa.packs.loader import read_spec

__all__ = ["Chosen", "chosen_by", "preset_of"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The dimension that each column is, by table and column; `absent` are those of no column."""

    title: str
    dimensions: Mapping[tuple[Path, str], str]
    absent: Sequence[str]


def preset_of(named: str) -> PresetOfColumns:
    """A preset by name, or of a YAML file of one's own with the same keys."""
    presets = attribute_words().presets
    if named in presets:
        return presets[named]
    path = Path(named)
    if path.suffix.casefold() in (".yaml", ".yml"):
        return read_spec(path, PresetOfColumns, hashlib.sha256())
    raise ConfigError(
        f"--preset {visible(named)}: no such preset; there are {', '.join(sorted(presets))}, or a "
        "YAML file"
    )


def chosen_by(preset: PresetOfColumns, columns: Sequence[tuple[Path, str]]) -> Chosen:
    """Which of these columns the preset means: of each dimension the first of its names that there
    is. ConfigError where two tables have it, or none has any."""
    there: dict[str, list[tuple[Path, str]]] = {}
    for path, name in columns:
        there.setdefault(_bare(name), []).append((path, name))
    made: dict[tuple[Path, str], str] = {}
    absent = []
    for dimension, spec in preset.determinants.items():
        found = next((there[key] for one in spec.columns if (key := _bare(one)) in there), None)
        if found is None:
            absent.append(dimension)
            continue
        if len(found) > 1:
            raise ConfigError(
                f"--preset: {dimension} stands in {len(found)} columns called "
                f"{visible(found[0][1])}; leave one of the tables out"
            )
        made[found[0]] = dimension
    if not made:
        first = next(iter(preset.determinants.values())).columns
        raise ConfigError(
            f"--preset: no table has a column of {preset.title}; it looks for names such as "
            f"{', '.join(first[:3])}"
        )
    return Chosen(preset.title, made, tuple(absent))


def _bare(name: str) -> str:
    return "".join(re.findall(r"[^\W_]+", name.casefold()))
