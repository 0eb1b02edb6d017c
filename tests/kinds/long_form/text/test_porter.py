"""The stemmer equals NLTK's, which rouge-score uses too."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.kinds.long_form.text.porter import stem

ENDINGS = (
    "ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness "
    "fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance "
    "ence er ic able ible ant ement ment ent sion tion ion ou ism ate iti ous ive ize e ll y yy "
    "ies ied sses ss s eed ed ing ting tt zz"
)
words = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="aeioubcdlstyzwx'-é", max_size=6).flatmap(
        lambda root: st.lists(st.sampled_from(ENDINGS.split()), max_size=3).map(
            lambda endings: root + "".join(endings)
        )
    ),
)


@settings(deadline=None, max_examples=400)
@given(words)
def test_stems_of_odd_words_equal_nltks(word: str) -> None:
    porter = pytest.importorskip("nltk.stem.porter")
    assert stem(word) == porter.PorterStemmer().stem(word)


def test_stems_of_many_made_words_equal_nltks() -> None:
    porter = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    chooser = random.Random(1)
    endings = ENDINGS.split()
    for _ in range(8000):
        root = "".join(chooser.choices("aeiouybcdlstzwx", k=chooser.randrange(6)))
        word = root + "".join(chooser.choices(endings, k=chooser.randrange(1, 4)))
        assert stem(word) == porter.stem(word), word


def test_irregular_words_have_their_own_stems() -> None:
    made = {"skies": "sky", "dying": "die", "news": "news", "outings": "outing", "howe": "howe"}
    assert {word: stem(word) for word in made} == made
