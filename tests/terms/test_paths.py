"""The paths of A.8: from a concept of each source to its specialties."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError
from clinqa.packs.specialties import builtin_specialties
from clinqa.packs.terms import builtin_terms, load_terms
from clinqa.terms.find import find_terms
from clinqa.terms.term_options import FindOptions
from clinqa.terms.vocabulary import TermVocabulary, open_vocabulary
from terms.made_releases import write_rf2, write_rrf
from terms.made_terms import build, write_obo


def _opened(folder: Path, source: str, **options: Any) -> TermVocabulary:
    asked = FindOptions(source=source, hpo=write_obo(folder), **options)
    asked.check()
    return open_vocabulary(asked, builtin_terms())


def test_a_disorder_belongs_to_the_high_level_disorders_above_it(tmp_path: Path) -> None:
    made = _opened(tmp_path, "snomed", snomed=write_rf2(tmp_path / "ct"))
    lumpy = made.concepts["1001001"]
    assert lumpy.specialties == ("Infectious diseases", "Neurology")
    assert lumpy.path == "snomed ancestors"
    assert made.concepts["1001002"].specialties == ()
    assert made.concepts["1001003"].specialties == ("Infectious diseases",)


def test_wider_concepts_add_specialties_that_the_paper_has_not(tmp_path: Path) -> None:
    made = _opened(tmp_path, "snomed", snomed=write_rf2(tmp_path / "ct"), concepts="wider")
    assert made.concepts["1001003"].specialties == ("Infectious diseases", "Respiratory medicine")


def test_a_finding_goes_through_the_phenotype_to_disorders(tmp_path: Path) -> None:
    # headache is no disorder; the phenotype under it is, by its name
    obo = tmp_path / "hp.obo"
    write_obo(tmp_path)
    obo.write_text(obo.read_text() + "\n[Term]\nid: HP:7\nname: Moon headaches\nis_a: HP:0002315\n")
    options = FindOptions(source="snomed", hpo=obo, snomed=write_rf2(tmp_path / "ct"))
    made = open_vocabulary(options, builtin_terms())
    headache = made.concepts["2001001"]
    assert headache.specialties == ("Neurology",)
    assert headache.path == "hpo, snomed ancestors"
    # found without "acute" and "severe"
    assert made.concepts["2001002"].specialties == ("Neurology",)
    assert made.concepts["2001003"].specialties == ()
    assert made.concepts["2001003"].path == "none"


def test_body_structures_are_no_terms(tmp_path: Path) -> None:
    made = _opened(tmp_path, "snomed", snomed=write_rf2(tmp_path / "ct"))
    assert "4001001" not in made.concepts
    assert [f.concept for f in made.finder.find("lumpy brains in the brain; LBD, lbd")] == [
        "1001001", "1001001"
    ]  # fmt: skip


def test_concepts_of_the_pack_that_a_release_lacks_are_warned_about(tmp_path: Path) -> None:
    made = _opened(tmp_path, "snomed", snomed=write_rf2(tmp_path / "ct"))
    told = "\n".join(made.warnings)
    assert "49601007" in told and "118940003" not in told
    assert "SNOMED CT: 2 rows could not be read" in told


def test_the_umls_alone_goes_by_the_phenotypes_and_semantic_types(tmp_path: Path) -> None:
    made = _opened(tmp_path, "umls", umls=write_rrf(tmp_path / "umls"))
    assert made.concepts["C0018681"].specialties == ("Neurology",)
    assert made.concepts["C0018681"].kind == "finding"
    assert made.concepts["C0000003"].specialties == ("Psychiatry",)
    assert made.concepts["C0000003"].path == "semantic type"
    assert made.concepts["C0000001"].specialties == ()
    assert made.concepts["C0000005"].kind == "disorder"


def test_the_umls_with_snomed_goes_by_its_ancestors(tmp_path: Path) -> None:
    made = _opened(
        tmp_path, "umls", umls=write_rrf(tmp_path / "u"), snomed=write_rf2(tmp_path / "ct")
    )
    lumpy = made.concepts["C0000001"]
    assert lumpy.specialties == ("Infectious diseases", "Neurology")
    assert lumpy.path == "snomed ancestors"
    assert [f.concept for f in made.finder.find("cerebrum nodosum")] == ["C0000001"]


def test_a_whole_run_from_a_release(tmp_path: Path) -> None:
    questions = [
        ("train", "Neurology", "Lumpy brain disease is found. What is next?", "Rest"),
        ("test", "Neurology", "Which sign goes with a lumpy brain?", "Cephalalgia"),
    ]
    options = FindOptions(
        source="snomed", hpo=write_obo(tmp_path), snomed=write_rf2(tmp_path / "ct")
    )
    made = find_terms(build(tmp_path / "b", questions), tmp_path / "out", options)
    assert made.counts["occurrences"] == 3


def test_scispacy_marks_spans_and_the_ontology_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipeline:
        pipe_names = ("ner",)
        meta = {"lang": "en", "name": "made", "version": "1"}  # noqa: RUF012

        def __call__(self, text: str) -> Any:
            at = text.index("headache")
            span = types.SimpleNamespace(start_char=at, end_char=at + len("headache"))
            return types.SimpleNamespace(ents=[span])

    fake = types.ModuleType("spacy")
    fake.load = lambda name: Pipeline()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", fake)
    monkeypatch.setitem(sys.modules, "scispacy", types.ModuleType("scispacy"))
    made = _opened(tmp_path, "scispacy")
    text = "Anemia with headache"
    assert [(f.concept, text[f.start : f.end]) for f in made.finder.find(text)] == [
        ("HP:0002315", "headache")
    ]
    assert made.facts["spacy_model"] == "en_made 1"


def test_without_scispacy_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scispacy", None)
    with pytest.raises(ConfigError, match="pip install scispacy"):
        _opened(tmp_path, "scispacy")


@pytest.mark.parametrize(
    "options",
    [
        {"source": "mesh"},
        {"source": "snomed"},
        {"source": "umls"},
        {"source": "hpo", "snomed": Path("x")},
        {"source": "snomed", "snomed": Path("x"), "umls": Path("y")},
        {"train": "test"},
        {"general": 1},
        {"concepts": "all"},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        FindOptions(**options).check()


def test_a_mistake_in_the_pack_is_named_with_its_line(tmp_path: Path) -> None:
    good = builtin_terms()
    assert set(good.snomed("paper")) < set(good.snomed("wider"))
    assert len(good.snomed_paper) == 9
    path = tmp_path / "terms.yaml"
    path.write_text(
        "hpo:\n  roots: [HP:1]\n  branches:\n    - {id: HP:2, name: X, specialties: [Heartology]}\n"
        "snomed:\n  paper: [{id: '1', name: Y, specialties: []}]\n"
        "umls: {disorder: [T1], finding: [T2], procedure: [], observable: []}\n"
    )
    with pytest.raises(ConfigError, match=r"terms\.yaml:4: HP:2: unknown specialty 'Heartology'"):
        load_terms(path, builtin_specialties())
    path.write_text(path.read_text().replace("Heartology", "Cardiology").replace("[T2]", "[T1]"))
    with pytest.raises(ConfigError, match="T1 is a finding and a disorder"):
        load_terms(path, builtin_specialties())
