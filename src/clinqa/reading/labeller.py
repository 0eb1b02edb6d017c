"""One statement, one reading: the curated lexicon first, the grammar for what it does not hold."""

from __future__ import annotations

import re

from clinqa.core.records import Method
from clinqa.packs.loader import Pack
from clinqa.reading.findings import Finding, Reading
from clinqa.reading.grammar import Grammar
from clinqa.reading.sections import Role
from clinqa.reading.tokens import abstract, plain

__all__ = ["LONGEST", "Labeller", "lexicon_key"]

_UNREAD = Reading((), Method.GRAMMAR)

LONGEST = 4_000
"""Characters of a statement that is read; the longest real ones list a ventricle's segments."""


def lexicon_key(text: str) -> str:
    """What makes two spellings of a statement the same entry of the lexicon.

    >>> lexicon_key("Mild MR  (EF 35 %).") == lexicon_key("MILD MR (EF 35 %)")
    True
    """
    return abstract(plain(text)).rstrip(" .;,").casefold()


class Labeller:
    """Reads each distinct statement once.

    `published` keeps to the lexicon and to Findings sections, as the published code did, and
    reads "marked" as moderate.
    """

    def __init__(self, pack: Pack, profile: str = "default") -> None:
        self.pack = pack
        self.profile = profile
        self._grammar = Grammar(pack)
        self._lexicon = {
            (row.structure, lexicon_key(row.statement)): Reading(
                tuple(
                    Finding(
                        label.abnormality,
                        self._published(label.level, row.statement),
                        not label.inferred,
                        label.hedged,
                    )
                    for label in row.labels
                ),
                Method.LEXICON,
            )
            for row in pack.lexicon
        }
        self._read: dict[tuple[str, str], Reading] = {}
        # where a width is read its digits matter
        measured = [t for s in pack.spec.widths for t in pack.spec.structures[s].terms]
        self._measured = re.compile("|".join(map(re.escape, measured)) or r"(?!)", re.IGNORECASE)

    def _published(self, level: int, statement: str) -> int:
        if self.profile == "published" and level == 3 and "marked" in statement.casefold():
            return 2
        return level

    def counts(self, role: Role) -> bool:
        """Do statements of this kind of section count in this profile?"""
        if self.profile == "published":
            return role is Role.FINDINGS
        return role is not Role.IGNORE

    def read(self, text: str, structure: str) -> Reading:
        """What a statement in the section of `structure` says; `text` as written, unwrapped."""
        if structure == "?":
            structure = self.pack.spec.blank_section or "*"
        if len(text) > LONGEST:
            return _UNREAD
        words = plain(text)
        if not self._measured.search(words):
            words = abstract(words)
        key = (structure, words)
        reading = self._read.get(key)
        if reading is None:
            reading = self._read[key] = self._find(words, structure)
        return reading

    def _find(self, words: str, structure: str) -> Reading:
        key = abstract(words).rstrip(" .;,").casefold()
        known = self._lexicon.get((structure, key)) or self._lexicon.get(("*", key))
        if known is not None:
            return known
        if self.profile == "published":
            return Reading((), Method.LEXICON)
        return Reading(self._grammar.read(words, structure), Method.GRAMMAR)
