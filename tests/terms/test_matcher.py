"""Names of concepts in a text: longest, whole words, one spelling."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clinqa.sources.terminology.records import Label
from clinqa.terms.matcher import NameMatcher, key_of, tokens

NAMES = [
    ("pain", [Label("Pain", 0)]),
    ("chest", [Label("Chest pain", 0), Label("Thoracic pain", 1)]),
    ("crohn", [Label("Crohn disease", 0)]),
    ("aids", [Label("AIDS", 1, True)]),
    ("thal", [Label("Beta thalassemia", 0)]),
    ("diar", [Label("Diarrhea", 0)]),
    ("ibs", [Label("Irritable bowel syndrome", 0)]),
    ("mass", [Label("Mass", 0)]),
    ("sjog", [Label("Sjögren syndrome", 0)]),
]


def _found(text: str) -> list[tuple[str, str]]:
    return [(f.concept, text[f.start : f.end]) for f in NameMatcher(NAMES).find(text)]


def test_the_longest_name_wins_and_names_do_not_overlap() -> None:
    assert _found("Chest pain, then pain.") == [("chest", "Chest pain"), ("pain", "pain")]


def test_every_occurrence_is_found_at_its_place() -> None:
    text = "Pain? pain; PAIN"
    assert [(f.start, f.end) for f in NameMatcher(NAMES).find(text)] == [(0, 4), (6, 10), (12, 16)]


def test_a_name_does_not_go_over_the_end_of_a_sentence() -> None:
    assert _found("He holds his chest. Pain follows") == [("pain", "Pain")]
    assert _found("chest, pain") == [("pain", "pain")]


def test_a_name_is_whole_words() -> None:
    assert _found("painful paint in Spain") == []


def test_spelling_case_accents_plural_and_genitive_do_not_matter() -> None:
    assert _found("Crohn's disease") == [("crohn", "Crohn's disease")]
    assert _found("Crohn’s Diseases") == [("crohn", "Crohn’s Diseases")]
    assert _found("diarrhoea") == [("diar", "diarrhoea")]
    assert _found("β-thalassaemia") == [("thal", "β-thalassaemia")]
    assert _found("Sjogren's syndrome, Sjögren syndrome") == [
        ("sjog", "Sjogren's syndrome"),
        ("sjog", "Sjögren syndrome"),
    ]
    assert _found("mass masses") == [("mass", "mass")]


def test_an_abbreviation_is_found_in_its_capitals_only() -> None:
    assert _found("A cane aids her; AIDS does not") == [("aids", "AIDS")]


def test_a_word_of_three_letters_is_found_as_it_is_written_only() -> None:
    matcher = NameMatcher([("tic", [Label("Tic", 0)])])
    assert [f.start for f in matcher.find("Tic, tic, TIC")] == [0]


def test_roman_and_arabic_numbers_of_types_are_alike() -> None:
    assert key_of("Type II diabetes") == key_of("type 2 diabetes")
    assert key_of("IV drip") == ("iv", "drip")


def test_of_two_concepts_with_a_name_the_preferred_one_is_meant_whatever_the_order() -> None:
    both = [("b", [Label("Spell", 1)]), ("a", [Label("Spell", 1)]), ("c", [Label("spells", 0)])]
    for names in (both, both[::-1]):
        matcher = NameMatcher(names)
        assert [f.concept for f in matcher.find("a spell")] == ["c"]
        assert matcher.shared == 2


def test_words_of_the_pack_are_no_terms() -> None:
    assert NameMatcher(NAMES, {"pains"}).find("pain") == []


def test_a_whole_text_is_looked_up_and_a_part_of_it_is_not() -> None:
    matcher = NameMatcher(NAMES)
    assert matcher.lookup(" chest pains ") == "chest"
    assert matcher.lookup("severe chest pain") is None
    assert matcher.lookup("") is None


@given(st.text(alphabet="pain chest-,.;'sé\n\u2019\U0001f600", max_size=60))
def test_places_are_code_points_and_give_the_name_back(text: str) -> None:
    last = 0
    for found in NameMatcher(NAMES).find(text):
        assert last <= found.start < found.end <= len(text)
        last = found.end
        assert key_of(text[found.start : found.end]) in {
            key_of(label.text) for _, labels in NAMES for label in labels
        }


@given(st.text(max_size=80))
def test_tokens_are_in_order_and_inside_the_text(text: str) -> None:
    last = 0
    for token, start, end in tokens(text):
        assert token and last <= start < end <= len(text)
        last = end
