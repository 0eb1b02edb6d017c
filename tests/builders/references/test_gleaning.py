"""What the rules take of a page: only what holds by itself."""

from __future__ import annotations

import pytest

from clinqa.builders.references.drafts import Page
from clinqa.builders.references.pack_words import words_of
from clinqa.builders.references.rules import glean, passed_over
from clinqa.packs.references import builtin_reference_pack

WORDS = words_of(builtin_reference_pack())


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (
            "The PAC has a regular QRS complex, while a PVC is probably less regular.",
            ["The PAC has a regular QRS complex."],
        ),
        (
            "The T wave is inverted in lead aVR, where we often see what is possibly its reverse.",
            ["The T wave is inverted in lead aVR."],
        ),
        # here the first clause does not hold without the second
        ("The T wave is upright in lead V1, but we often see what is possibly its reverse.", []),
        ("The T wave is upright in lead V1, unless it is possibly inverted.", []),
        ("The P wave is upright, if only in our recordings.", []),
        ("Our P wave is upright in lead II, while the T wave tends to be flat.", []),
    ],
)
def test_an_afterthought_may_be_left_out_and_a_condition_may_not(
    text: str, taken: list[str]
) -> None:
    drafts = glean(Page("m", 1, text, "text"), WORDS).drafts
    assert [draft.statement for draft in drafts] == taken
    for draft in drafts:
        assert text[draft.start : draft.end] == draft.source_text


@pytest.mark.parametrize(
    "statement",
    [
        "The black plots are ECG signals.",
        "The red plots are BP signals.",
        "The dotted curve is the ECG.",
        "Cross validation between ECG and BP signals is used to identify noise.",
        "The 72 ECGs were recordings of 500 Hz.",
    ],
)
def test_legends_and_one_papers_own_work_make_no_statement(statement: str) -> None:
    assert passed_over(statement, WORDS)
