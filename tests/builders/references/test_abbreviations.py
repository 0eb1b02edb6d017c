"""Abbreviations that a document explains itself, and statements that hang on their page."""

from __future__ import annotations

import pytest

from clinqa.builders.references.abbreviations import explained, spelt_out
from clinqa.builders.references.check import check_item, page_index
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft, LostDraft, Page
from clinqa.builders.references.forms import forms_of
from clinqa.builders.references.pack_words import words_of
from clinqa.builders.references.replies import RawItem
from clinqa.builders.references.stages import drafts_by_rules
from clinqa.core.records import Reason
from clinqa.packs.references import builtin_reference_pack

WORDS = words_of(builtin_reference_pack())


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("alterations called T-wave\nalternans (TWA) are seen", "TWA", "T-wave alternans"),
        ("premature ventricular contractions (PVCs)", "PVC", "premature ventricular contraction"),
        ("Supraventricular premature beat (SVPB)", "SVPB", "supraventricular premature beat"),
        ("block of the left bundle branch (BLBB)", "BLBB", "block of the left bundle branch"),
        ("an acute Hypotensive Episode (AHE)", "AHE", "acute Hypotensive Episode"),
    ],
)
def test_what_stands_before_the_bracket_explains(text: str, short: str, long: str) -> None:
    assert explained([text])[short] == long


@pytest.mark.parametrize(
    "texts",
    [
        ["as in the figure (ABC)", "the heart rate (see HR)"],
        ["left ventricle (LA)"],
        ["aortic stenosis (AS)", "arterial shunt (AS)"],
        ["Boston (MA)"],
    ],
)
def test_what_does_not_begin_with_its_letters_or_is_told_twice_explains_nothing(
    texts: list[str],
) -> None:
    assert explained(texts) == {}


def test_one_page_explains_for_all_and_no_other_document() -> None:
    pages = [
        Page(
            "a",
            1,
            "A beat that comes early is one of supraventricular premature beats (SVPB).",
            "text",
        ),
        Page("a", 2, "The SVPB has a regular QRS complex.", "text"),
        Page("b", 1, "The SVPB has a narrow QRS complex.", "text"),
    ]
    staged = drafts_by_rules(pages, WORDS)
    assert [(one.md5, one.statement) for one in staged.drafts] == [
        ("a", "The supraventricular premature beat has a regular QRS complex.")
    ]
    assert staged.drafts[0].source_text == "The SVPB has a regular QRS complex."
    assert staged.counts["sentences"].out_of_scope_by_reason["unknown_abbreviation"] == 1


def test_the_article_follows_the_word() -> None:
    meanings = {"SVPB": "supraventricular premature beat"}
    assert spelt_out("Seen in an SVPB.", meanings, frozenset()) == (
        "Seen in a supraventricular premature beat."
    )
    assert spelt_out("An SVPB is.", meanings, frozenset({"SVPB"})) == "An SVPB is."


@pytest.mark.parametrize(
    "statement",
    [
        "It represents depolarization of the atria.",
        "This wave represents depolarization of the atria.",
        "The P wave of our NSVPQ represents depolarization of the atria.",
        "The XQZ represents depolarization of the atria.",
    ],
)
def test_a_models_statement_that_only_its_page_explains_is_none(statement: str) -> None:
    page = Page("m", 1, f"The P wave is small. {statement}", "text")
    made = check_item(RawItem(statement, "True", statement), page, page_index(page, WORDS), WORDS)
    assert isinstance(made, LostDraft)
    assert made.reason is Reason.NEEDS_CONTEXT


@pytest.mark.parametrize(
    "statement",
    [
        "Some P waves are negative in lead III.",
        "The QRS complex is sometimes wide.",
        "The T wave of most children is inverted in lead V1.",
        "The T wave is often inverted in lead V1.",
    ],
)
def test_what_is_said_of_some_has_no_counterpart(statement: str) -> None:
    page = Page("m", 1, statement, "text")
    made = check_item(RawItem(statement, "True", statement), page, page_index(page, WORDS), WORDS)
    clause = read_clause(statement, WORDS)
    if isinstance(made, Draft) and clause is not None:
        assert forms_of(clause, WORDS, {}) == []
