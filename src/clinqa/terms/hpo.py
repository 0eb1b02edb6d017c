"""From the Human Phenotype Ontology to concepts with specialties: the embedded default.

A concept belongs to what its nearest mapped ancestor says, on each path to the root apart: what
the pack says of cognitive impairment goes before what it says of mental function, and pneumonia
is of the lungs and an infection.
"""

from __future__ import annotations

from clinqa.packs.terms import TermPack
from clinqa.sources.terminology.records import Ontology
from clinqa.terms.matcher import Concept

__all__ = ["hpo_concepts", "hpo_specialties", "hpo_warnings"]

PATH = "hpo branch"


def hpo_specialties(ontology: Ontology, pack: TermPack) -> dict[str, tuple[str, ...]]:
    """The specialties of every concept under the pack's roots."""
    known: dict[str, frozenset[str]] = {}
    under = dict.fromkeys(pack.hpo_roots, True)

    def settle(one: str) -> None:
        waiting = [one]
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

    for one in ontology.concepts:
        if one not in known:
            settle(one)
    return {one: tuple(sorted(known[one])) for one in ontology.concepts if under[one]}


def hpo_concepts(ontology: Ontology, pack: TermPack) -> dict[str, Concept]:
    """The phenotypes as concepts."""
    return {
        one: Concept(one, ontology.concepts[one].name, "phenotype", owners, PATH)
        for one, owners in hpo_specialties(ontology, pack).items()
    }


def hpo_warnings(ontology: Ontology, pack: TermPack) -> list[str]:
    """Branches of the pack that this ontology does not have, or has under another name."""
    made = []
    for one, branch in pack.hpo.items():
        there = ontology.concepts.get(one)
        if there is None:
            made.append(f"{one} ({branch.name}) of the pack is not in {ontology.title}")
        elif there.name != branch.name:
            made.append(f"{one} is {branch.name!r} in the pack and {there.name!r} in the ontology")
    return made
