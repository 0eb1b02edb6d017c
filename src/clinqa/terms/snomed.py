"""From SNOMED CT to concepts with specialties, by the path of S-MedQA's A.8.

A disorder belongs to the specialties of the high-level disorders above it. A finding, a procedure
or an observable is looked up in the HPO, by cross-reference or by name (without "acute", "left"
and the like where it is not found with them); the phenotype, or else the phenotypes under it,
lead back to disorders. Which way led to a specialty is kept with the concept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from clinqa.packs.terms import Branch, TermPack
from clinqa.sources.terminology.records import Ontology, RawConcept
from clinqa.terms.folding import key_of
from clinqa.terms.matcher import Concept, NameMatcher

__all__ = ["Bridge", "snomed_concepts", "snomed_warnings"]

DISORDER = "disorder"
ANCESTORS = "snomed ancestors"
THROUGH_HPO = "hpo, snomed ancestors"
NONE = "none"
_XREF = "SNOMEDCT_US:"


class Bridge:
    """From phenotypes to disorders of SNOMED CT, and from anything named like one to phenotypes."""

    def __init__(
        self, snomed: Ontology, hpo: Ontology, pack: TermPack, branches: Mapping[str, Branch]
    ) -> None:
        self._snomed, self._hpo = snomed, hpo
        self._modifiers = pack.modifiers
        self._branches = branches
        self._names = NameMatcher((one, c.labels) for one, c in hpo.concepts.items())
        self._by_xref: defaultdict[str, list[str]] = defaultdict(list)
        self._under: defaultdict[str, list[str]] = defaultdict(list)
        for one, concept in hpo.concepts.items():
            for xref in concept.xrefs:
                self._by_xref[xref].append(one)
            for parent in concept.parents:
                self._under[parent].append(one)
        self._disorders: dict[tuple[str, ...], list[str]] = {}
        for one, concept in snomed.concepts.items():
            if concept.kind == DISORDER:
                for label in concept.labels:
                    self._disorders.setdefault(key_of(label.text), []).append(one)
        self._known: dict[str, frozenset[str]] = {}

    def of_disorder(self, one: str) -> frozenset[str]:
        """The specialties of the high-level disorders at or above this one."""
        above = self._snomed.ancestors([one])
        return frozenset(
            name
            for top in above & self._branches.keys()
            for name in self._branches[top].specialties
        )

    def phenotypes(self, concept: RawConcept, xrefs: Iterable[str]) -> list[str]:
        """The phenotypes a concept is: by cross-reference, else by one of its names."""
        found = [one for xref in xrefs for one in self._by_xref.get(xref, ())]
        if not found:
            found = [one for label in concept.labels if (one := self._named(label.text))]
        return sorted(set(found))

    def through_hpo(self, phenotypes: Sequence[str]) -> frozenset[str]:
        """The specialties of the disorders that phenotypes lead to."""
        return frozenset().union(*(self._of_phenotype(one) for one in phenotypes))

    def _named(self, name: str) -> str | None:
        words = name.split()
        while words:
            found = self._names.lookup(" ".join(words))
            if found is not None:
                return found
            if words[0].casefold().strip(",") not in self._modifiers:
                return None
            words = words[1:]
        return None

    def _of_phenotype(self, one: str) -> frozenset[str]:
        """Of the phenotype itself if it is a disorder, else of the nearest ones under it."""
        if one not in self._known:
            level, seen = [one], {one}
            found: frozenset[str] = frozenset()
            while level and not found:
                found = frozenset().union(*(self._own(p) for p in level))
                level = sorted({u for p in level for u in self._under.get(p, ())} - seen)
                seen.update(level)
            self._known[one] = found
        return self._known[one]

    def _own(self, one: str) -> frozenset[str]:
        concept = self._hpo.concepts[one]
        codes = [x.removeprefix(_XREF) for x in concept.xrefs if x.startswith(_XREF)]
        disorders = [
            code
            for code in codes
            if code in self._snomed.concepts and self._snomed.concepts[code].kind == DISORDER
        ]
        if not disorders:
            for label in concept.labels:
                disorders += self._disorders.get(key_of(label.text), [])
        return frozenset().union(*(self.of_disorder(d) for d in disorders))


def snomed_concepts(snomed: Ontology, bridge: Bridge) -> dict[str, Concept]:
    """The disorders, findings, procedures and observables of a release as concepts."""
    made = {}
    for one, concept in snomed.concepts.items():
        if not concept.labels:
            continue
        if concept.kind == DISORDER:
            owners, path = bridge.of_disorder(one), ANCESTORS
        else:
            phenotypes = bridge.phenotypes(concept, [f"{_XREF}{one}"])
            owners, path = bridge.through_hpo(phenotypes), THROUGH_HPO
        made[one] = Concept(
            one, concept.name, concept.kind, tuple(sorted(owners)), path if owners else NONE
        )
    return made


def snomed_warnings(snomed: Ontology, branches: Mapping[str, Branch]) -> list[str]:
    """High-level concepts of the pack that the release does not have or names otherwise."""
    made = []
    for one, branch in branches.items():
        there = snomed.concepts.get(one)
        if there is None:
            made.append(f"{one} ({branch.name}) of the pack is not active in this release")
        elif key_of(there.name) != key_of(branch.name):
            made.append(f"{one} is {branch.name!r} in the pack and {there.name!r} in the release")
    if snomed.skipped.get("broken_rows"):
        made.append(f"{snomed.skipped['broken_rows']:,} rows of the release could not be read")
    return made
