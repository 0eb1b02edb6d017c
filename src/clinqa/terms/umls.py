"""From the UMLS to concepts with specialties.

MRCONSO and MRSTY hold names, codes and kinds, but no hierarchy: where a release of SNOMED CT is
given too, its codes lead into it and the path is that of `snomed`; else codes and cross-references
of the HPO lead to its branches. A semantic type that is a specialty's own (mental disorders,
neoplasms) decides where nothing else does.
"""

from __future__ import annotations

from collections import defaultdict

from clinqa.packs.terms import TermPack
from clinqa.sources.terminology.records import Ontology, RawConcept
from clinqa.terms.hpo import hpo_specialties
from clinqa.terms.matcher import Concept
from clinqa.terms.snomed import ANCESTORS, DISORDER, NONE, THROUGH_HPO, Bridge

__all__ = ["umls_concepts"]

BRANCH = "hpo branch"
TYPE = "semantic type"
_SNOMED = "SNOMEDCT_US:"


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
                codes = [x.removeprefix(_SNOMED) for x in concept.xrefs if x.startswith(_SNOMED)]
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
    for kind in (DISORDER, "finding", "procedure", "observable"):
        if kind in kinds:
            return kind
    return "other"
