"""The headers of a pack as a look-up that forgives case, bullets, spaces and punctuation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from clinqa.core.records import Phase
from clinqa.packs.loader import Pack

__all__ = ["Header", "Role", "SectionTable", "header_key"]


class Role(IntEnum):
    """What a section is for. Only IGNORE sections never label and never stand in a context."""

    FINDINGS = 0
    CONCLUSION = 1
    ADDENDUM = 2
    IGNORE = 3


@dataclass(frozen=True, slots=True)
class Header:
    """What a header sets; None leaves as it was."""

    structure: str | None = None
    role: Role | None = None
    phase: Phase | None = None
    sticky: bool = False  # on one line with its text it does not end an ignored part
    structural: bool = False  # names a structure: only in capitals counts within a line


@lru_cache(maxsize=1 << 14)
def header_key(text: str) -> str:
    """A header's letters and digits, folded, without brackets: how headers are compared.

    >>> header_key("**R.A. / Septum (2D)**:")
    'raseptum'
    """
    out = []
    depth = 0
    for char in text:
        if char in "([":
            depth += 1
        elif char in ")]":
            depth = max(depth - 1, 0)
        elif depth == 0 and char.isascii() and char.isalnum():
            out.append(char.lower())
    return "".join(out)


class SectionTable:
    """Every header a pack knows."""

    def __init__(self, pack: Pack) -> None:
        self.headers: dict[str, Header] = {}
        self.blocks: dict[str, Header] = {}  # where nothing follows on the line
        roles = pack.spec.roles
        phases = {"post": Phase.POST, "stress": Phase.STRESS, "baseline": Phase.BASELINE}
        for section in pack.spec.sections:
            into = self.blocks if section.block else self.headers
            for term in section.headers:
                into[header_key(term)] = Header(
                    structure=section.structure,
                    sticky=section.sticky,
                    structural=section.structure != "*",
                )
        heads = {name: Header("*", None, phase) for name, phase in phases.items()}
        heads |= {role.name.lower(): Header("*", role, Phase.BASELINE) for role in Role}
        for name, header in heads.items():
            for term in roles.get(name, ()):
                self.headers[header_key(term)] = header
        for term in roles.get("ignore_block", ()):
            self.blocks[header_key(term)] = Header("*", Role.IGNORE, Phase.BASELINE)
        self.headers.pop("", None)
        self.blocks.pop("", None)

    def find(self, text: str, *, inline: bool) -> Header | None:
        """The header that `text` is; `inline` if words follow it on its line."""
        key = header_key(text)
        if not inline and key in self.blocks:
            return self.blocks[key]
        return self.headers.get(key)
