"""One level per study and abnormality, whatever the order of its statements (LABELLING 12).

Levels seen for one abnormality are a set of seven bits; what a set means is looked up in a table
of 128 entries, made once from the pack's resolution rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clinqa.core.records import Level, Phase
from clinqa.packs.loader import Pack
from clinqa.reading.findings import Finding

__all__ = ["LEVELS", "ResolutionTable", "mask_of", "resolution_table", "resolve"]

LEVELS: tuple[int, ...] = (-3, -2, -1, 0, 1, 2, 3)
_BIT = {level: 1 << i for i, level in enumerate(LEVELS)}


def mask_of(levels: Iterable[int]) -> int:
    """The set of levels as bits.

    >>> mask_of([0, 1, 0]) == mask_of([1, 0])
    True
    """
    return sum(_BIT[level] for level in set(levels))


@dataclass(frozen=True, slots=True)
class ResolutionTable:
    """`table[mask]` is the level of a set of levels; `inferred_yields` is whether findings that
    only follow from a structure give way to those that name the abnormality."""

    tables: dict[str, tuple[int, ...]]
    inferred_yields: bool


def resolution_table(pack: Pack, profile: str = "default") -> ResolutionTable:
    """The table of a profile: `strict` makes normal beside a severity a conflict; `published`
    knows no difference between explicit and inferred findings."""
    rules = pack.spec.resolution
    allowed = set(rules.with_severity) - ({0} if profile == "strict" else set())
    severity = set(rules.severity)
    tables: dict[str, tuple[int, ...]] = {}
    for abnormality in pack.abnormalities:
        special = {
            mask_of(row.levels): row.level
            for row in rules.special
            if row.abnormality == abnormality
        }
        row = []
        for mask in range(1 << len(LEVELS)):
            levels = {level for level in LEVELS if mask & _BIT[level]}
            if len(levels) == 1:
                row.append(next(iter(levels)))
            elif mask in special:
                row.append(special[mask])
            elif levels & severity and levels <= severity | allowed:
                row.append(max(levels & severity))
            else:
                row.append(int(Level.CONFLICT))
        tables[abnormality] = tuple(row)
    return ResolutionTable(tables, profile != "published")


def resolve(findings: Iterable[Finding], table: ResolutionTable) -> dict[str, int]:
    """The level of each abnormality of one study at baseline.

    A correction replaces what it names; explicit findings replace inferred ones; then the set of
    levels decides. An abnormality that nobody mentions is absent, not normal.
    """
    masks: dict[str, list[int]] = {}
    for finding in findings:
        if finding.phase is not Phase.BASELINE:
            continue
        kinds = masks.setdefault(finding.abnormality, [0, 0, 0])
        rank = 2 if finding.corrects and finding.explicit else 1 if finding.explicit else 0
        if not table.inferred_yields and rank == 0:
            rank = 1
        kinds[rank] |= _BIT[finding.level]
    return {
        name: table.tables[name][corrections or explicit or inferred]
        for name, (inferred, explicit, corrections) in sorted(masks.items())
    }
