"""A small ontology in the format of the HPO, and a small dataset of questions."""

from __future__ import annotations

import json
from pathlib import Path

from clinqa.builders.banks.specialty.pipeline import build_specialty
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions

OBO = """format-version: 1.2
data-version: made/2026-01-01

[Term]
id: HP:0000118
name: Phenotypic abnormality

[Term]
id: HP:0000707
name: Abnormality of the nervous system
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0002086
name: Abnormality of the respiratory system
is_a: HP:0000118

[Term]
id: HP:0001871
name: Abnormality of blood and blood-forming tissues
is_a: HP:0000118

[Term]
id: HP:0002715
name: Abnormality of the immune system
is_a: HP:0000118

[Term]
id: HP:0032101
name: Unusual infection
is_a: HP:0002715

[Term]
id: HP:0011446
name: Abnormality of mental function
is_a: HP:0000707

[Term]
id: HP:0100543
name: Cognitive impairment
is_a: HP:0011446
synonym: "Mental decline" EXACT layperson []
synonym: "Slowness" RELATED []

[Term]
id: HP:0002315
name: Headache
synonym: "Headaches" EXACT plural_form []
is_a: HP:0000707
xref: SNOMEDCT_US:25064002
xref: UMLS:C0018681

[Term]
id: HP:0002090
name: Pneumonia
is_a: HP:0002086
is_a: HP:0032101

[Term]
id: HP:0001903
name: Anemia
synonym: "Anaemia" EXACT uk_spelling []
is_a: HP:0001871

[Term]
id: HP:0001878
name: Hemolytic anemia
is_a: HP:0001903

[Term]
id: HP:0002721
name: Acquired immunodeficiency
synonym: "AIDS" EXACT abbreviation []
is_a: HP:0002715

[Term]
id: HP:0002315X
name: obsolete Head pain
is_obsolete: true

[Term]
id: HP:0000005
name: Mode of inheritance

[Typedef]
id: part_of
name: part of
"""

QUESTIONS = [
    ("train", "Neurology", "A man has a headache and no anaemia. What helps?", "Rest"),
    ("train", "Hematology", "Which drug causes hemolytic anemia?", "Dapsone"),
    ("train", "Respiratory medicine", "Pneumonia with headaches: what is next?", "Culture"),
    ("test", "Neurology", "Headache, then headache again. What is it?", "Cognitive impairment"),
    ("test", "Hematology", "A woman is pale; anemia is found. Why?", "Haemolytic anaemia"),
    ("test", "Respiratory medicine", "Cough for a week. What is it?", "Pneumonia"),
]


def write_obo(folder: Path) -> Path:
    """The ontology as a file."""
    path = folder / "hp.obo"
    path.write_text(OBO, encoding="utf-8")
    return path


def write_bank(folder: Path, questions: list[tuple[str, str, str, str]]) -> Path:
    """The questions as a bank; each has two wrong options."""
    path = folder / "bank.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, (split, specialty, question, answer) in enumerate(questions):
            record = {
                "id": f"q{number}",
                "question": question,
                "options": {"A": "Sleep", "B": answer, "C": "Nothing at all"},
                "answer": "B",
                "specialty": specialty,
                "split": split,
            }
            file.write(json.dumps(record) + "\n")
    return path


def build(folder: Path, questions: list[tuple[str, str, str, str]] = QUESTIONS) -> Path:
    """The questions as a dataset."""
    folder.mkdir(parents=True, exist_ok=True)
    options = SpecialtyOptions(annotator="metadata", sets="none")
    build_specialty([write_bank(folder, questions)], folder / "dataset", options)
    return folder / "dataset"
