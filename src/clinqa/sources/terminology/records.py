"""What an ontology's file holds of one concept, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Label", "Ontology", "RawConcept"]


@dataclass(frozen=True, slots=True)
class Label:
    """One name of a concept.

    `rank` is 0 for its preferred name and grows as names get less certain: of two concepts with
    the same name the one with the lower rank is meant. `exact_case` is set for abbreviations.
    """

    text: str
    rank: int = 1
    exact_case: bool = False


@dataclass(slots=True)
class RawConcept:
    """A concept as the ontology has it. `kind` is phenotype, disorder, finding, procedure, …"""

    id: str
    name: str
    kind: str = ""
    labels: list[Label] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ontology:
    """Concepts by id. `title` and `version` are for people, `sha256` is of the files read.

    `skipped` counts what was read and not taken, by reason; `guessed` are files that are not UTF-8
    and were read in an encoding of one byte a letter.
    """

    title: str
    version: str
    sha256: Mapping[str, str]
    concepts: Mapping[str, RawConcept]
    skipped: Mapping[str, int] = field(default_factory=dict)
    guessed: Sequence[str] = ()

    def warnings(self) -> list[str]:
        """What of its files could not be read, and what was read as something else."""
        made = [f"{self.title}: {name} is not UTF-8: read as Windows-1252" for name in self.guessed]
        if broken := self.skipped.get("broken_rows"):
            made.append(f"{self.title}: {broken:,} rows could not be read")
        return made

    def ancestors(self, ids: Iterable[str]) -> set[str]:
        """These concepts and all that lies above them; a circle in the file does no harm."""
        found: set[str] = set()
        waiting = [one for one in ids if one in self.concepts]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += [p for p in self.concepts[one].parents if p in self.concepts]
        return found
