"""From an ontology to concepts with specialties; three paths.

SNOMED CT, by the path of S-MedQA's A.8: a disorder belongs to the specialties of the high-level
disorders above it. A finding, a procedure or an observable is looked up in the HPO, by
cross-reference or by name (without "acute", "left" and the like where it is not found with them);
the phenotype, or else the phenotypes under it, lead back to disorders. Which way led to a specialty
is kept with the concept.

The Human Phenotype Ontology, the embedded default: a concept belongs to what its nearest mapped
ancestor says, on each path to the root apart: what the pack says of cognitive impairment goes
before what it says of mental function, and pneumonia is of the lungs and an infection.

The UMLS: MRCONSO and MRSTY hold names, codes and kinds, but no hierarchy. Where a release of SNOMED
CT is given too, its codes lead into it and the path is the first; else codes and cross-references
of the HPO lead to its branches. A semantic type that is a specialty's own (mental disorders,
neoplasms) decides where nothing else does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from clinqa.packs.terms import Branch, TermPack
from clinqa.sources.terminology.records import Ontology, RawConcept
from clinqa.terms.matcher import Concept, NameMatcher, key_of

__all__ = [
    "Bridge",
    "hpo_concepts",
    "hpo_specialties",
    "hpo_warnings",
    "snomed_concepts",
    "snomed_warnings",
    "umls_concepts",
]

DISORDER = "disorder"
ANCESTORS = "snomed ancestors"
THROUGH_HPO = "hpo, snomed ancestors"
NONE = "none"
BRANCH = "hpo branch"
TYPE = "semantic type"
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
    lacking = "of the pack is not active in this release"
    return _unlike(snomed, branches, lacking, "release", key_of)


def _unlike(
    ontology: Ontology,
    branches: Mapping[str, Branch],
    lacking: str,
    where: str,
    spelt: Callable[[str], object],
) -> list[str]:
    """Concepts that the ontology does not have, or has under a name that is spelt otherwise."""
    made = []
    for one, branch in branches.items():
        there = ontology.concepts.get(one)
        if there is None:
            made.append(f"{one} ({branch.name}) {lacking}")
        elif spelt(there.name) != spelt(branch.name):
            made.append(f"{one} is {branch.name!r} in the pack and {there.name!r} in the {where}")
    return made


def hpo_specialties(ontology: Ontology, pack: TermPack) -> dict[str, tuple[str, ...]]:
    """The specialties of every concept under the pack's roots."""
    known: dict[str, frozenset[str]] = {}
    under = dict.fromkeys(pack.hpo_roots, True)

    for one in ontology.concepts:
        waiting = [] if one in known else [one]
        while waiting:
            now = waiting[-1]
            parents = [p for p in ontology.concepts[now].parents if p in ontology.concepts]
            missing = [p for p in parents if p not in known and p not in waiting]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            branch = pack.hpo.get(now)
            above = frozenset().union(*(known.get(p, frozenset()) for p in parents))
            known[now] = frozenset(branch.specialties) if branch else above
            under.setdefault(now, any(under.get(p, False) for p in parents))
    return {one: tuple(sorted(known[one])) for one in ontology.concepts if under[one]}


def hpo_concepts(ontology: Ontology, pack: TermPack) -> dict[str, Concept]:
    """The phenotypes as concepts."""
    return {
        one: Concept(one, ontology.concepts[one].name, "phenotype", owners, BRANCH)
        for one, owners in hpo_specialties(ontology, pack).items()
    }


def hpo_warnings(ontology: Ontology, pack: TermPack) -> list[str]:
    """Branches of the pack that this ontology does not have, or has under another name."""
    return _unlike(ontology, pack.hpo, f"of the pack is not in {ontology.title}", "ontology", str)


def umls_concepts(
    umls: Ontology, hpo: Ontology, pack: TermPack, bridge: Bridge | None
) -> dict[str, Concept]:
    """The concepts of the wanted types; `bridge` leads into SNOMED CT where it is at hand."""
    branches = hpo_specialties(hpo, pack)
    by_cui: defaultdict[str, list[str]] = defaultdict(list)
    for one, phenotype in hpo.concepts.items():
        for xref in phenotype.xrefs:
            if xref.startswith("UMLS:"):
                by_cui[xref.removeprefix("UMLS:")].append(one)
    made = {}
    for one, concept in umls.concepts.items():
        kind = _kind(concept, pack)
        phenotypes = sorted({x for x in concept.xrefs if x in hpo.concepts} | set(by_cui[one]))
        owners, path = frozenset[str](), NONE
        if bridge is not None:
            if kind == DISORDER:
                codes = [x.removeprefix(_XREF) for x in concept.xrefs if x.startswith(_XREF)]
                owners = frozenset().union(*(bridge.of_disorder(code) for code in codes))
                path = ANCESTORS
            if not owners:
                known = phenotypes or bridge.phenotypes(concept, concept.xrefs)
                owners, path = bridge.through_hpo(known), THROUGH_HPO
        else:
            owners = frozenset(name for p in phenotypes for name in branches.get(p, ()))
            path = BRANCH
        if not owners:
            types = pack.specialties_of_type
            owners = frozenset(name for t in concept.types for name in types.get(t, ()))
            path = TYPE if owners else NONE
        made[one] = Concept(one, concept.name, kind, tuple(sorted(owners)), path)
    return made


def _kind(concept: RawConcept, pack: TermPack) -> str:
    """Disorder before finding before the others where a concept has several types.

    Of a pack's kinds, whatever the order in which MRSTY lists the types.
    """
    kinds = {pack.kind_of_type[one] for one in concept.types if one in pack.kind_of_type}
    order = (DISORDER, "finding", "procedure", "observable")
    return next((kind for kind in order if kind in kinds), "other")
