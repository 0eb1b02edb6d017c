"""Source texts on their page: typography aside, everything that carries meaning exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.builders.references.evidence import Evidence, PageIndex, find, fold, tokens_of
from clinqa.core.records import Reason

NEGATION = frozenset({"not", "no", "never", "without"})
FIXED = frozenset({"left", "right", "prolonged", "shortened", "typical", "atypical"})
CASES = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"


def index(page: str) -> PageIndex:
    return PageIndex(page, FIXED, NEGATION)


@pytest.mark.parametrize(
    ("page", "quote"),
    [
        ("A pro\u00adlonged QT interval", "A prolonged QT interval"),
        ("Classi\ufb01cation of atrial \ufb01brillation", "Classification of atrial fibrillation"),
        ("concurrent mea-\nsurement of the pressure", "concurrent measurement of the pressure"),
        (
            "the T\u2011wave and 250\u2013350/min, axis \u221230\u00b0",
            "the T-wave and 250-350/min, axis -30\u00b0",
        ),
        ("in the T-\nwave of lead V1", "in the T-wave of lead V1"),
        ("the 12-\nlead recording", "the 12-lead recording"),
        ("a rate of 120 \u2013 200 per minute", "a rate of 120-200 per minute"),
        ("QRS \u2265120ms is wide", "QRS \u2265 120 ms is wide"),
        ("It is a  wide\n\ncomplex.", "it is a wide complex"),
        ("\u201cAtrial\u201d flutter waves", '"Atrial" flutter waves'),
    ],
)
def test_typography_does_not_matter(page: str, quote: str) -> None:
    found = index(page).find(quote)
    assert isinstance(found, Evidence)
    assert found.text == page[found.start : found.end]


@pytest.mark.parametrize(
    ("page", "quote"),
    [
        ("axis more negative than \u221230\u00b0", "axis more negative than 30\u00b0"),
        ("axis more positive than 30\u00b0", "axis more positive than -30\u00b0"),
        ("PR interval is 120 to 200 ms", "PR interval is 120 to 300 ms"),
        ("PR interval is 120 to 200 ms", "PR interval is 120 to 200 s"),
        ("the QRS is at least 120 ms", "the QRS is at least 12 ms"),
        ("a potential of 0.5 mV in all leads", "a potential of 5 mV in all leads"),
        ("the left bundle branch is blocked", "the right bundle branch is blocked"),
        ("a prolonged interval is present here", "a shortened interval is present here"),
        ("a typical pattern is found in leads", "atypical pattern is found in leads"),
        ("the wave is not inverted in lead II", "the wave is inverted in lead II"),
        ("the interval is normal in this lead", "the interval is not normal in this lead"),
        ("QRS < 120 ms is narrow here", "QRS > 120 ms is narrow here"),
    ],
)
def test_meaning_must_be_the_pages_own(page: str, quote: str) -> None:
    assert index(page).find(quote) is Reason.QUOTE_NOT_FOUND


def test_an_article_or_a_misspelt_letter_is_no_other_text() -> None:
    page = "The electrocardiogram records the potential of the heart muscle at the skin."
    found = index(page).find(
        "The electrocardiagram records potential of the heart muscle at the skin"
    )
    assert isinstance(found, Evidence)
    assert not found.exact
    assert found.text == page


def test_a_short_quote_matches_any_page_and_is_refused() -> None:
    assert index("the Tenant ... QRS ...").find("QRS") is Reason.QUOTE_TOO_SHORT
    assert index("the QRS").find("  q r s      ........") is not None


def test_a_quote_over_two_pages_is_told_as_such() -> None:
    one, two = "The ECG of right bundle", "branch block shows rSR' in V1."
    quote = "right bundle branch block shows rSR'"
    assert find(index(one), quote, two, None) is Reason.QUOTE_SPANS_PAGES
    assert find(index(two), quote, None, one) is Reason.QUOTE_SPANS_PAGES
    assert find(index(one), "something else entirely", two, None) is Reason.QUOTE_NOT_FOUND


def test_a_quote_may_not_leave_out_the_word_that_denies() -> None:
    page = "It is not true that the axis is normal. In no lead is the T wave tall, and it is flat."
    assert index(page).find("the axis is normal") is Reason.QUOTE_CUTS_NEGATION
    assert index(page).find("lead is the T wave tall") is Reason.QUOTE_CUTS_NEGATION
    assert isinstance(index(page).find("and it is flat."), Evidence)


def test_where_the_page_lost_a_sign_nothing_is_evidence() -> None:
    page = "The axis is \ufffd30 degrees here. The QRS complex is narrow."
    assert index(page).find("The axis is 30 degrees here") is Reason.QUOTE_NOT_FOUND
    assert index(page).find("30 degrees here.") is Reason.QUOTE_NOT_FOUND
    assert isinstance(index(page).find("The QRS complex is narrow."), Evidence)


def test_offsets_give_the_pages_text_whatever_stands_before() -> None:
    page = "\u00adx \ufb03 \u2212\n\n The QRS complex is narrow.\n"
    found = index(page).find("the qrs complex is narrow")
    assert isinstance(found, Evidence)
    assert page[found.start : found.end] == "The QRS complex is narrow."


def test_folding_is_the_same_the_second_time() -> None:
    for text in ("a mea-\nsurement \u2212 30", "T\u2013wave", "1 - 2 -3 \ufb01", "- x -\n- 3"):
        once = fold(text).text
        assert fold(once).text == once


def test_a_sign_belongs_to_its_number_and_a_range_has_none() -> None:
    assert [t.text for t in tokens_of("120-200")] == ["120", "-", "200"]
    assert [t.text for t in tokens_of("from -30 to +90")] == ["from", "-30", "to", "+90"]


def test_the_cases_of_source_matching() -> None:
    if not CASES.is_file():
        pytest.skip("shared/data/cases_qa.jsonl is not here")
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    for case in (one for one in cases if one["area"] == "source_match"):
        given = case["input"]
        if "page_n" in given:
            pages = [given["page_n"].split("...")[1].strip('"'), given["page_n+1"].strip('"')]
            found = find(index(pages[0]), given["quote"], pages[1], None)
        else:
            found = index(given["page"]).find(given["quote"])
        expected = case["expected"]
        if expected == "found":
            assert isinstance(found, Evidence), case["id"]
        else:
            assert isinstance(found, Reason), case["id"]
