"""Statements of models that leave out a part of their source: what may go and what may not."""

from __future__ import annotations

import pytest

from clinqa.builders.references.check import supported, well_formed
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.forms import Edit, forms_of
from clinqa.builders.references.pack_words import words_of
from clinqa.packs.references import builtin_reference_pack

WORDS = words_of(builtin_reference_pack())


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        ("The P wave is inverted in lead aVR of the normal heart.", " heart"),
        ("The T wave of a healthy grown person is inverted in lead aVR.", " in lead aVR"),
        ("Sinus bradycardia is a sinus rhythm below 60 beats per minute.", " per minute"),
        ("The normal PR interval of a grown person is 120 to 200 ms.", " ms"),
        ("The normal PR interval of a grown person is 120 to 200 ms.", "to 200 "),
        ("In left bundle branch block, the R wave of lead V6 is notched and broad.", "In left "),
        ("The P wave is upright in leads I, II and V4 to V6.", " to V6"),
        ("The P wave is upright in leads I, II, aVF and V4, but not in lead aVR.", " but not"),
        ("The large QRS complex of premature beats is wide, except in children.", ", except"),
        ("The QT interval of grown men and women is short (at high rates) in sleep.", " in sleep"),
    ],
)
def test_a_piece_of_a_clause_is_not_what_the_source_says(source: str, piece: str) -> None:
    assert supported(source, source, WORDS)
    assert not supported(source.replace(piece, ""), source, WORDS)


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        ("However, the P wave represents depolarization of the atria.", "However, "),
        ("The P wave (first wave) represents the depolarization of both atria.", " (first wave)"),
        ("The QRS complex of ventricular tachycardia is broad, since it spreads.", ", since it"),
        ("The QRS complex is broad in bundle branch block; the P wave stays.", "; the P wave"),
    ],
)
def test_what_limits_nothing_may_go(source: str, piece: str) -> None:
    left = source.replace(piece, "") if piece.endswith((" ", ")")) else source.partition(piece)[0]
    assert supported(left, source, WORDS)


@pytest.mark.parametrize("end", ["of", "to", "in the", "is not", "between", "not"])
def test_a_sentence_that_breaks_off_is_not_well_formed(end: str) -> None:
    assert well_formed("The normal PR interval of adults is short.")
    assert not well_formed(f"The normal PR interval of adults is {end}.")


def test_what_exceeds_a_bound_may_exceed_another() -> None:
    clause = read_clause("The R peak time in lead V6 exceeds 60 ms in wide complexes.", WORDS)
    assert clause is not None
    assert {form.edit for form in forms_of(clause, WORDS, {"ms": (200.0, 20.0)})} == {Edit.NEGATION}
