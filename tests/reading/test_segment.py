"""A report's text becomes statements, each under its heading."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.records import Phase
from clinqa.packs.loader import builtin_pack
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.segment import Piece, segment, unwrap


@cache
def table() -> SectionTable:
    return SectionTable(builtin_pack("echo"))


def pieces(text: str) -> list[Piece]:
    return segment(text, table())


def said(text: str) -> list[str]:
    return [unwrap(text[piece.start : piece.end]) for piece in pieces(text)]


def placed(text: str) -> list[tuple[str, str]]:
    return [(piece.structure, unwrap(text[piece.start : piece.end])) for piece in pieces(text)]


# Where a statement ends


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Mild MR. No MS.", ["Mild MR.", "No MS."]),
        ("No AS.Trace AR.", ["No AS.", "Trace AR."]),
        ("EF 55%.Mild MR", ["EF 55%.", "Mild MR"]),
        ("Jet (posterior).Mild MR", ["Jet (posterior).", "Mild MR"]),
        ("LA 4.5 cm. EF>55%. Fine", ["LA 4.5 cm.", "EF>55%.", "Fine"]),
        ("Mild MR (2.1 cm). No MS", ["Mild MR (2.1 cm).", "No MS"]),
        ("Mild (1+.) MR", ["Mild (1+.)", "MR"]),
        ('Called "mild." No MS', ['Called "mild."', "No MS"]),
        ("Mild MR.,2. Mild TR., more", ["Mild MR.", "Mild TR.", "more"]),
        ("Is it mild? Yes! Fine.", ["Is it mild?", "Yes!", "Fine."]),
        ("Mild MR ([**12-18**]+). Next.", ["Mild MR ([**12-18**]+).", "Next."]),
        ("Wall motion....normal. Next", ["Wall motion....normal.", "Next"]),
        ("FINDINGS: 1) Mild MR 2) Mild TR 3) no AS", ["Mild MR", "Mild TR 3) no AS"]),
        ("FUNCTION: normal   EF SIZE: mild", ["FUNCTION: normal", "EF SIZE: mild"]),
    ],
)
def test_a_full_stop_ends_a_statement_unless_the_sentence_goes_on(
    text: str, statements: list[str]
) -> None:
    assert said(text) == statements


@pytest.mark.parametrize(
    "text",
    [
        "R.V. is normal",
        "seen by Dr. Smith",
        "mild vs. moderate MR",
        "approx. 3 cm",
        "J. Smith saw it",
        "gradient of 1.3 mmHg",
        "e.g. a shunt",
        "file.name is lower",
    ],
)
def test_initials_abbreviations_and_decimals_do_not_end_a_statement(text: str) -> None:
    assert said(text) == [text]


def test_an_abbreviation_in_two_capitals_ends_its_statement() -> None:
    assert said("Severe MR. No AS.") == ["Severe MR.", "No AS."]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_hard_wrap_does_not_end_a_statement(line_end: str) -> None:
    text = line_end.join(
        [
            "The left ventricle is mildly dilated and its ejection fraction is",
            "reduced. The right ventricle is normal.",
        ]
    )
    assert said(text) == [
        "The left ventricle is mildly dilated and its ejection fraction is reduced.",
        "The right ventricle is normal.",
    ]


def test_a_line_that_ends_early_ends_its_statement() -> None:
    assert said("Mild MR\nNo MS\nNormal LA") == ["Mild MR", "No MS", "Normal LA"]


def test_a_line_that_ends_in_a_comma_goes_on() -> None:
    assert said("Mild MR,\nTR") == ["Mild MR, TR"]


def test_width_is_counted_in_characters_and_without_placeholders() -> None:
    wide = "[**Hospital Ward Name 12345**] " * 4
    text = f"{wide}\n\nThe mitral valve is thickened and the posterior leaflet also\nmoves little"
    assert len(said(text)) == 2
    assert said("\u00e9" * 58 + "\nmitral regurgitation") == [
        "\u00e9" * 58 + " mitral regurgitation"
    ]


@pytest.mark.parametrize(
    "between", ["\n\n", "\n \t\n", "\n-----\n", "\n=====\n", "\n***\n", "\n* "]
)
def test_empty_lines_rules_and_bullets_end_a_statement(between: str) -> None:
    long = "The left ventricle is mildly dilated and the ejection fraction"
    assert said(f"{long}{between}is reduced") == [long, "is reduced"]


def test_a_dash_brought_to_a_line_start_by_a_wrap_is_no_bullet() -> None:
    text = "Mitral regurgitation of a degree that was judged to be mild\n- moderate"
    assert said(text) == ["Mitral regurgitation of a degree that was judged to be mild - moderate"]


def test_a_row_of_a_table_is_a_statement_of_its_own() -> None:
    long = "A line about the left ventricle that is long enough for a wrap"
    assert said(f"{long}\nEF | 55 | normal") == [long, "EF | 55 | normal"]


@pytest.mark.parametrize("text", ["", " \n\t\n", "123.", "-- 4+ --", "\x00", "\U0001f600 3."])
def test_what_holds_no_letter_is_no_statement(text: str) -> None:
    assert pieces(text) == []


# Bullets and list numbers


@pytest.mark.parametrize(
    "mark",
    [
        "- ",
        "* ",
        "*",
        "# ",
        "\u2022 ",
        "> ",
        "-- ",
        "1. ",
        "12) ",
        "(3) ",
        "iv. ",
        "(a) ",
        "b. ",
        "- * ",
    ],
)
def test_bullets_and_list_numbers_are_not_part_of_the_statement(mark: str) -> None:
    assert said(f"{mark}Mild MR.\n  {mark}No MS.") == ["Mild MR.", "No MS."]


@pytest.mark.parametrize("text", ["-Mild MR", "2+ MR", "12345. MR", "1.5 cm LA", "i am"])
def test_signs_that_touch_a_word_are_no_bullet(text: str) -> None:
    assert said(text) == [text]


def test_a_list_number_within_a_line_is_skipped() -> None:
    assert said("IMPRESSION: 1.  Mild MR. 2. No MS.") == ["Mild MR.", "No MS."]


# Headers


@pytest.mark.parametrize(
    "header",
    [
        "LEFT ATRIUM: ",
        "Left atrium: ",
        "left atrium:\n",
        "LEFT ATRIUM:\n\n\n   ",
        "LEFT ATRIUM\n",
        "Left Atrium - ",
        "LEFT ATRIUM   ",
        "LEFT ATRIUM\t",
        "Left atrium | ",
        "Left atrium....",
        "**Left Atrium:** ",
        "- LEFT ATRIUM: ",
        "1) Left atrium: ",
        "LEFT  ATRIUM : ",
        "L.A.: ",
        "Left atrium (2D): ",
        "LEFT\u00a0ATRIUM: ",
        "LEFT ATRIUM: : ",
    ],
)
def test_headers_are_known_in_any_form(header: str) -> None:
    text = f"{header}Mildly dilated."
    assert placed(text) == [("LA", "Mildly dilated.")]
    assert text[pieces(text)[0].head :].lstrip("*").lower().startswith("l")


def test_text_after_a_second_colon_is_kept() -> None:
    assert placed("MITRAL VALVE: Note: mild MR.") == [("MV", "Note: mild MR.")]


def test_a_header_with_its_noun_blanked_is_known_by_the_blank() -> None:
    assert placed("___ VALVE: Mild TR.") == [("?", "Mild TR.")]
    assert placed("VALVE: Mild TR.") == [("*", "VALVE: Mild TR.")]
    assert placed("LEFT ATRIUM: Mild ___.") == [("LA", "Mild ___.")]


def test_within_a_line_only_capitals_make_a_header_of_a_structure() -> None:
    assert placed("Normal LV. MITRAL VALVE: Mild MR.") == [("*", "Normal LV."), ("MV", "Mild MR.")]
    assert placed("Normal LV. Mitral valve: Mild MR.") == [
        ("*", "Normal LV."),
        ("*", "Mitral valve: Mild MR."),
    ]


def test_a_sentence_that_begins_with_a_structure_is_no_header() -> None:
    assert placed("Left atrium is mildly dilated.") == [("*", "Left atrium is mildly dilated.")]
    assert placed("left atrium") == [("*", "left atrium")]


def test_a_bullet_after_a_header_on_its_bullets_line_goes_back_to_where_it_was() -> None:
    assert placed("FINDINGS:\n- LV: Normal.\n- Mild MR.") == [("LV", "Normal."), ("*", "Mild MR.")]
    assert placed("LV:\n- Normal.\n- Dilated.") == [("LV", "Normal."), ("LV", "Dilated.")]


def test_the_head_is_where_the_header_begins_or_the_first_statement() -> None:
    text = "Fine.\nMITRAL VALVE:\n Mild MR. No MS."
    assert [piece.head for piece in pieces(text)] == [0, 6, 6]
    assert [piece.section for piece in pieces(text)] == [0, 1, 1]


# Roles and phases


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("INDICATION", Role.IGNORE),
        ("Findings", Role.FINDINGS),
        ("Conclusions", Role.CONCLUSION),
        ("IMPRESSION", Role.CONCLUSION),
        ("Addendum", Role.ADDENDUM),
    ],
)
def test_a_header_says_what_its_section_is_for(header: str, role: Role) -> None:
    assert [piece.role for piece in pieces(f"{header}:\nMild MR. No MS.")] == [role, role]


def test_phases_hold_until_the_next_phase_or_part() -> None:
    text = "PRE-BYPASS:\nLV: Good.\nPOST-BYPASS:\nFine.\nLV: Good.\nIMPRESSION:\nGood."
    assert [piece.phase for piece in pieces(text)] == [
        Phase.BASELINE,
        Phase.POST,
        Phase.POST,
        Phase.BASELINE,
    ]


def test_a_structures_header_ends_an_ignored_part() -> None:
    text = "INDICATION: Heart failure.\nMITRAL VALVE:\nMild MR."
    assert [(piece.role, piece.structure) for piece in pieces(text)] == [
        (Role.IGNORE, "*"),
        (Role.FINDINGS, "MV"),
    ]


def test_an_empty_line_ends_an_ignored_line_where_no_findings_have_come() -> None:
    assert [piece.role for piece in pieces("INDICATION: CHF.\n\nMild MR.")] == [
        Role.IGNORE,
        Role.FINDINGS,
    ]
    assert [piece.role for piece in pieces("INDICATION:\nCHF.\n\nMild MR.")] == [
        Role.IGNORE,
        Role.IGNORE,
    ]


# White space and offsets


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Left\n   atrium     mild", "Left atrium\tmild"),
        ("  a  b ", "a b"),
        ("a\tb", "a\tb"),
        ("a \n\t b", "a b"),
        ("a\r\nb", "a b"),
        ("a\u00a0\u00a0\u00a0b", "a\tb"),
        ("a\u2009b", "a\u2009b"),
        ("a   ", "a"),
        (" \n", ""),
        ("", ""),
    ],
)
def test_unwrap_folds_white_space_and_keeps_columns_apart(text: str, folded: str) -> None:
    assert unwrap(text) == folded
    assert unwrap(folded) == folded


SIGNS = st.text("aB1 .,:;-*|()[]\n\t\r\u00a0\u00e9\u5de6_", max_size=60)


@given(SIGNS, SIGNS)
def test_statements_come_in_order_do_not_overlap_and_are_stripped(one: str, two: str) -> None:
    text = f"{one}\nLV: Normal. {two}"
    at = 0
    for piece in pieces(text):
        assert at <= piece.start < piece.end <= len(text)
        assert unwrap(text[piece.start : piece.end]) == unwrap(f" {text[piece.start : piece.end]} ")
        assert text[piece.start : piece.end].strip(" \t\r\n\u00a0") == text[piece.start : piece.end]
        assert any(char.isalpha() for char in text[piece.start : piece.end])
        assert 0 <= piece.head <= piece.start
        at = piece.end


@pytest.mark.parametrize("last", ["LA.", "RV.", "Doppler."])
def test_the_last_word_of_a_wrapped_sentence_is_no_heading(last: str) -> None:
    first = "RIGHT ATRIUM: No spontaneous echo contrast or thrombus in or by the"
    found = placed(f"{first}\n{last}\nNormal RA pressure.")
    sentence = unwrap(f"{first}\n{last}").removeprefix("RIGHT ATRIUM: ")
    assert found == [("RA", sentence), ("RA", "Normal RA pressure.")]


@given(SIGNS)
def test_a_part_of_a_text_reads_like_that_part_alone(text: str) -> None:
    before, after = "LV: Severe MR.\n\n", "\nsevere"
    whole = segment(before + text + after, table(), len(before), len(before) + len(text))
    alone = segment(text, table())
    shift = len(before)
    assert [(p.start - shift, p.end - shift, p.structure) for p in whole] == [
        (p.start, p.end, p.structure) for p in alone
    ]
