"""The loops' dictionary: what each statement says, made ready for look-up before the clock runs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

from clinqa.kinds.long_form.statements import folded, template_key
from clinqa.packs.loader import Pack
from clinqa.reading.attribute import LEVELS, resolution_table
from clinqa.reading.readings import PHASES
from clinqa.reading.sections import SectionTable

__all__ = ["Entry", "entries_of", "header_finder", "level_tables"]

Finding = tuple[int, int, int, bool, bool, bool, bool, bool]
"""Abnormality, bit of the level, phase; explicit, corrects, pinned, hedged, prosthesis."""
Entry = tuple[int, tuple[Finding, ...], bool, int]
"""Its place among the answers, findings, found by the lexicon?, key of the text."""


def entries_of(path: Path, pack: Pack) -> dict[str, dict[str, Entry]]:
    """By structure and text."""
    code = {name: number for number, name in enumerate(pack.abnormalities)}
    phase = {one: number for number, one in enumerate(PHASES)}
    known = pickle.loads(path.read_bytes())
    ranks = sorted(
        {(len({f.abnormality for f in read.findings}), -len(text), text) for _, text, read in known}
    )
    place = {rank: number for number, rank in enumerate(ranks)}
    made: dict[str, dict[str, Entry]] = {}
    for structure, text, read in known:
        findings = tuple(
            (
                code[f.abnormality],
                LEVELS.index(f.level),
                phase[f.phase],
                f.explicit,
                f.corrects,
                f.pinned,
                f.hedged,
                f.prosthesis,
            )
            for f in read.findings
        )
        rank = (len({f.abnormality for f in read.findings}), -len(text), text)
        entry = (place[rank], findings, read.method == "lexicon", template_key(folded(text)))
        made.setdefault(structure, {})[text] = entry
    return made


def level_tables(pack: Pack) -> list[tuple[int, ...]]:
    """The level of every set of levels, by abnormality."""
    tables = resolution_table(pack).tables
    return [tables[name] for name in pack.abnormalities]


def header_finder(pack: Pack) -> Callable[[str, bool], tuple[object, ...] | None]:
    """What a header sets: structure, role, phase, sticky, structural."""
    table = SectionTable(pack)
    phases = {phase: number for number, phase in enumerate(PHASES)}

    def find(text: str, inline: bool) -> tuple[object, ...] | None:
        header = table.find(text, inline=inline)
        if header is None or (header.structure == "?" and "_" not in text):
            return None
        role = None if header.role is None else int(header.role)
        phase = None if header.phase is None else phases[header.phase]
        return header.structure, role, phase, header.sticky, header.structural

    return find
