"""Half a name: "mild left and moderate right atrial enlargement" speaks of both atria."""

from __future__ import annotations

from dataclasses import replace

from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["complete_sides"]

_REACH = 4


def complete_sides(
    marks: list[MarkedPhrase], sides: dict[str, dict[str, str]]
) -> list[MarkedPhrase]:
    """Give a lone side the structure that its partner names: {"left": {"RA": "LA"}}."""
    if not sides:
        return marks
    out = list(marks)
    for i, mark in enumerate(marks):
        pairs = sides.get(mark.text)
        if pairs is None or mark.roles.structures or mark.roles.targets:
            continue
        joined = False
        for other in marks[i + 1 : i + 1 + _REACH]:
            joined |= other.has("and") or other.has("or") or other.text == "/"
            named = other.roles.structures or [t.structure for t in other.roles.targets]
            if any(named):
                whole = tuple(pairs[s] for s in named if s in pairs)
                if joined and whole:
                    out[i] = replace(mark, roles=replace(mark.roles, structures=whole))
                break
    return out
