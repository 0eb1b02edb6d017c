"""What makes two statements one template, and how near the nearest is."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from clinqa.kinds.long_form.statements import folded, nearest, template_key
from clinqa.packs.loader import pack_folder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mild MR.", "MILD MR"),
        ("EF 55 %.", "EF 30%"),
        ("The gradient is 32 mm Hg.", "The gradient is 45 mmHg."),
        ("LV diameter 4.5 cm", "LV diameter 47 mm"),
        ("Transoesophageal; haemodynamics normal.", "transesophageal hemodynamics normal"),
        ("The colour Doppler shows no flow", "The color Doppler shows no flow."),
        ("mild-to-moderate TR", "Mild to moderate TR"),
    ],
)  # fmt: skip
def test_case_numbers_units_and_spelling_are_folded(one: str, other: str) -> None:
    assert folded(one) == folded(other)
    assert template_key(folded(one)) == template_key(folded(other))


@pytest.mark.parametrize(
    ("one", "other"), [("Mild MR.", "Moderate MR."), ("No AS", "AS"), ("Normal LA", "Normal RA")]
)
def test_other_findings_stay_other_statements(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(st.text())
def test_folding_twice_changes_nothing_that_is_compared(text: str) -> None:
    once = folded(text)
    assert once == " ".join(once.split()) and nearest([once], [once]) == [1.0]


def made(size: int, seed: int) -> list[str]:
    """Statements put together from the words of the lexicon's."""
    draw = random.Random(seed)
    words = [word for text in known() for word in text.split()]
    return [" ".join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(size)]


def known() -> list[str]:
    """The statements of the lexicon, folded."""
    rows = (pack_folder("echo") / "lexicon.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return sorted({folded(row.split("\t")[1]) for row in rows if row.count("\t")})


def test_the_nearest_is_what_comparing_with_all_gives_for_nearly_all() -> None:
    asked, among = known()[::4], [text for at, text in enumerate(known()) if at % 4]
    every = [process.extractOne(one, among, scorer=fuzz.ratio)[1] / 100 for one in asked]
    apart = [best - one for one, best in zip(nearest(asked, among), every, strict=True)]
    assert len(apart) > 100 and min(apart) > -1e-9
    assert sum(one < 0.01 for one in apart) >= 0.97 * len(apart)


def test_three_thousand_against_ten_thousand_take_seconds() -> None:
    asked, among = made(3_000, 3), made(10_000, 4)
    start = time.process_time()
    nearest(asked, among)
    assert time.process_time() - start < 20


def test_nothing_alike_is_not_near_and_nothing_to_compare_with_is_no_error() -> None:
    assert nearest(["alpha beta"], ["gamma delta"]) == [0.0]
    assert nearest(["alpha"], []) == [0.0] and nearest([], ["alpha"]) == []
