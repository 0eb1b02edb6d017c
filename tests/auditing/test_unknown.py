"""What is not known in a column: words, marks in place of numbers, codes by their value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.auditing.unknown import Rules, not_known, read_column, rules_of
from clinqa.core.errors import ConfigError


def cells(name: str, *texts: str, **told: Rules) -> list[str | None]:
    return list(read_column(name, texts, told.get("rules", Rules())).cells)


@pytest.mark.parametrize(
    "text",
    ["UNKNOWN", "UNABLE TO OBTAIN", "DECLINED", "?", "N/A", "#N/A", "Patient Declined to Answer",
     "NOT SPECIFIED", "UNKNOWN/NOT SPECIFIED", "(X)", "-", "NULL", "NaN", "..", "Unknown (default)",
     "k.A.", "Don’t know", "prefer not to say", "asked but unknown", "not_reported", "*", ""],
)  # fmt: skip
def test_words_and_marks_for_not_known_are_not_known(text: str) -> None:
    assert not_known(text) and not_known(text.casefold())


@pytest.mark.parametrize(
    "text", ["Other", "None", "No", "0", "Other/Unknown", "default", "Unknown Street 5", "MISSION"]
)
def test_words_that_say_something_are_known(text: str) -> None:
    assert not not_known(text)


@pytest.mark.parametrize(
    "code", ["-999", "-999.0", "−999", "-9999", "-666666666", "-888888888", "-1e9", "-999.9"]
)
def test_numbers_of_minus_999_and_below_are_never_values(code: str) -> None:
    assert cells("EP_POV", "0.1", code, "0.9", "0.5") == ["0.1", None, "0.9", "0.5"]
    assert cells("area", "Urban", code, "Rural") == ["Urban", None, "Rural"]


@pytest.mark.parametrize(
    ("name", "texts", "missing"),
    [
        ("age", ["20", "90", "999"], {"999"}),
        ("age", ["20", "90", "99"], set()),  # somebody is 99
        ("sex", ["1", "2", "9"], {"9"}),
        ("children", ["0", "1", "9", "8"], set()),
        ("bmi", ["18.5", "41", "99.0", "999"], {"99.0", "999"}),
        ("bmi", ["18.5", "61", "99"], set()),
        ("score", ["1", "2", "3", "-9"], {"-9"}),
        ("temperature", ["-12", "20", "-9"], set()),
        ("ADI_NATRANK", ["1", "2", "99"], set()),
        ("adi_percentile", ["1", "2", "9"], set()),
        ("IMD Decile", ["1", "2", "9"], set()),
        ("RPL_THEMES", ["0.2", "0.3", "9"], set()),
        ("pct_white", ["95", "96", "99"], set()),
        ("pct_white", ["5", "96", "999"], {"999"}),
        ("x", ["9", "9"], set()),  # there is nothing else to lie outside of
    ],
)
def test_nines_are_codes_where_they_lie_farther_out_than_the_others_span(
    name: str, texts: list[str], missing: set[str]
) -> None:
    found = read_column(name, texts, Rules())
    assert set(found.codes.values()) == missing
    assert [cell is None for cell in found.cells] == [text in missing for text in texts]


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=40),
    st.lists(st.sampled_from(["GQ", "PH", "GQ-PH", "QDI", "KVM"]), max_size=3),
)
def test_ranks_with_codes_among_them_stay_numbers_and_every_rank_stays(
    ranks: list[int], codes: list[str]
) -> None:
    if len(set(ranks)) < 2 or len(set(codes)) >= len(set(ranks)):
        return
    found = read_column("ADI_NATRANK", [*map(str, ranks), *codes], Rules())
    assert list(found.cells) == [*map(str, ranks), *[None] * len(codes)]
    assert list(found.codes.values()) == codes


def test_letters_among_words_are_words() -> None:
    assert cells("sex", "F", "M", "F") == ["F", "M", "F"]
    assert cells("NYHA", "I", "II", "N") == ["I", "II", "N"]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "999", "12,000"], ["1234", "999", "12000"]),
        (["$1,234", "$999"], ["1234", "999"]),
        (["12.5%", "3%"], ["12.5", "3"]),
        (["12,5", "3,25"], ["12.5", "3.25"]),
        (["1.234,5", "12,5"], ["1234.5", "12.5"]),
        (["250,000+", "20,000", "35,000", "-"], ["250000", "20000", "35000", None]),
        (["> 89", "54", "61", "70"], ["89", "54", "61", "70"]),
        (["<18", "18-64", "65+"], ["<18", "18-64", "65+"]),
        (["12%", "13", "14"], ["12%", "13", "14"]),
        (["0101", "0102"], ["0101", "0102"]),
    ],
)
def test_numbers_are_read_as_people_write_them(texts: list[str], numbers: list[str]) -> None:
    assert cells("x", *texts) == numbers


def test_options_name_what_is_missing_and_what_is_not_for_all_columns_or_for_one() -> None:
    rules = rules_of(["Refused to say", "education=9"], ["AGE=999"], ["education", "age", "b"])
    assert cells("education", "1", "5", "9.0", rules=rules) == ["1", "5", None]
    assert cells("b", "1", "5", "9", rules=rules) == ["1", "5", "9"]
    assert cells("b", "x", "REFUSED  TO SAY", rules=rules) == ["x", None]
    assert cells("age", "1", "5", "999", rules=rules) == ["1", "5", "999"]
    with pytest.raises(ConfigError, match="named by both"):
        rules_of(["9"], ["9"], [])


@pytest.mark.parametrize(
    ("name", "texts", "known"),
    [
        ("sex", ["F", "M", "U", "unk"], ["F", "M", None, None]),
        ("race_concept_id", ["8515", "8527", "0"], ["8515", "8527", None]),
        ("visits", ["3", "5", "0"], ["3", "5", "0"]),
        ("language", ["eng", "spa", "und"], ["eng", "spa", None]),
        ("blood", ["A", "B", "U"], ["A", "B", "U"]),
        ("bmi", ["20", "31.5", "27", ".A", "._"], ["20", "31.5", "27", None, None]),
        ("zscore", ["−0.5", "1", "−2"], ["-0.5", "1", "-2"]),
        ("age", ["90 or older", "54", "61", "≥ 89", "23"], ["90", "54", "61", "89", "23"]),
    ],
)
def test_columns_by_name_marks_of_statistics_programs_and_true_minuses(
    name: str, texts: list[str], known: list[str | None]
) -> None:
    assert cells(name, *texts) == known


def test_a_number_below_minus_999_that_nobody_chose_as_a_code_is_counted_and_not_quoted() -> None:
    found = read_column("worth", ["5", "70", "-12345.67", "-4100", "-9999"], Rules())
    assert list(found.codes.values()) == ["a number below -999"] * 2 + ["-9999"]


def test_sevens_and_eights_of_surveys_are_told_where_they_hide_one_another() -> None:
    days = [str(day) for day in range(1, 31)]
    found = read_column("menthlth", [*days, "77", "88", "99"], Rules())
    assert not found.codes
    assert "sevens, eights or nines lie farther" in found.notes[0]
    rules = rules_of(["menthlth=77", "menthlth=99"], [], ["menthlth"])
    assert list(read_column("menthlth", ["5", "88", "99"], rules).cells) == ["5", "88", None]


def test_a_value_far_from_all_others_is_told_and_not_quoted() -> None:
    notes = read_column("los", ["1", "2", "3", "4", "800"], Rules()).notes
    assert "highest value lies 3 times farther" in notes[0] and "800" not in notes[0]


def test_nines_among_words_are_not_known_and_other_numbers_among_them_are_told() -> None:
    read = read_column("sex", ["M", "F", "99", "F", "9"], Rules())
    assert read.cells == ["M", "F", None, "F", None]
    assert dict(read.codes) == {2: "99", 4: "9"}
    assert read_column("ward", ["A", "B", "9", "12"], Rules()).cells == ["A", "B", "9", "12"]
    assert read_column("rank", ["high", "low", "9"], Rules()).cells == ["high", "low", "9"]
    kept = rules_of([], ["99"], ["sex"])
    assert read_column("sex", ["M", "F", "99"], kept).cells == ["M", "F", "99"]
