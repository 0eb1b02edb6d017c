"""Which tokens are a term: golden cases of offsets, and properties."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.terms.scoring import Aligned, align

Offsets = list[tuple[int, int]]


def _pieces(*tokens: str) -> tuple[str, Offsets]:
    """A text from its tokens, and their offsets; a blank before a token is part of it."""
    text, offsets = "", []
    for token in tokens:
        offsets.append((len(text), len(text) + len(token)))
        text += token
    return text, offsets


def _of(text: str, offsets: Offsets, term: str, nth: int = 0) -> Aligned | None:
    start = [m.start() for m in re.finditer(re.escape(term), text)][nth]
    return align(text, offsets, start, start + len(term))


def test_every_occurrence_has_tokens_of_its_own() -> None:
    # alone, after a blank and in capitals the same term is made of other tokens
    text, offsets = _pieces("As", "thma", ",", " asthma", " and", " as", "thma", "!")
    assert _of(text, offsets, "Asthma") == Aligned(0, 2, False)
    assert _of(text, offsets, "asthma", 0) == Aligned(3, 4, False)
    assert _of(text, offsets, "asthma", 1) == Aligned(5, 7, False)


def test_a_term_at_the_start_and_at_the_end_of_a_text() -> None:
    text, offsets = _pieces("gout", " or", " lupus")
    assert _of(text, offsets, "gout") == Aligned(0, 1, False)
    assert _of(text, offsets, "lupus") == Aligned(2, 3, False)


def test_offsets_that_leave_the_blank_out_are_as_good() -> None:
    text = "no asthma"
    assert align(text, [(0, 2), (3, 9)], 3, 9) == Aligned(1, 2, False)
    assert align(text, [(0, 2), (2, 3), (3, 9)], 3, 9) == Aligned(2, 3, False)


def test_pieces_of_one_letter_all_belong() -> None:
    # "ö" as two byte tokens, both with the letter's place
    text = "Sjögren's"
    offsets = [(0, 2), (2, 3), (2, 3), (3, 7), (7, 8), (8, 9)]
    assert align(text, offsets, 0, 9) == Aligned(0, 6, False)
    assert align(text, offsets, 2, 3) == Aligned(1, 3, False)


def test_a_term_across_hyphens_apostrophes_and_greek_letters() -> None:
    text, offsets = _pieces("has", " β", "-", "thal", "assemia", " and", " Crohn", "’s", " disease")
    assert _of(text, offsets, "β-thalassemia") == Aligned(1, 5, False)
    assert _of(text, offsets, "Crohn’s disease") == Aligned(6, 9, False)


def test_a_token_that_reaches_past_the_term_is_taken_and_told() -> None:
    text, offsets = _pieces("(", "asth", "ma)")
    assert _of(text, offsets, "asthma") == Aligned(1, 3, True)
    text, offsets = _pieces("post", "asthma", "tic")
    assert _of(text, offsets, "asthma") == Aligned(1, 2, False)


def test_a_blank_beside_the_term_is_no_reach() -> None:
    text, offsets = _pieces("a", " gout ", "b")
    assert _of(text, offsets, "gout") == Aligned(1, 2, False)


def test_marks_of_the_tokenizer_stand_nowhere() -> None:
    assert align("gout", [(0, 0), (0, 4), (0, 0)], 0, 4) == Aligned(1, 2, False)


def test_what_tokens_do_not_cover_is_no_term() -> None:
    assert align("asthma", [(0, 2), (4, 6)], 0, 6) is None  # an unknown piece was dropped
    assert align("asthma", [], 0, 6) is None
    assert align("no asthma", [(0, 2)], 3, 9) is None


@pytest.mark.parametrize("blank", [" ", "\n", "\u00a0"])
def test_a_blank_within_the_term_need_not_be_a_token(blank: str) -> None:
    text = f"chest{blank}pain"
    assert align(text, [(0, 5), (6, 10)], 0, 10) == Aligned(0, 2, False)


@given(
    st.lists(st.text(alphabet="ab -é", min_size=1, max_size=4), min_size=1, max_size=12), st.data()
)
def test_the_tokens_of_a_span_cover_it_and_no_neighbour_belongs(
    tokens: list[str], data: st.DataObject
) -> None:
    text, offsets = _pieces(*tokens)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = align(text, offsets, start, end)
    if not text[start:end].strip():
        assert found is None
        return
    assert found is not None
    inside = text[offsets[found.first][0] : offsets[found.after - 1][1]]
    assert text[start:end].strip() in inside
    for place, (low, high) in enumerate(offsets):
        if not found.first <= place < found.after:
            assert not text[max(low, start) : min(high, end)].strip()
