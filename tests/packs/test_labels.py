from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.packs.loader import LabelSyntaxError, LexiconLabel, format_labels, parse_labels

LABEL = st.builds(
    LexiconLabel,
    abnormality=st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True),
    level=st.sampled_from([-3, -2, -1, 0, 1, 2, 3]),
    inferred=st.booleans(),
    hedged=st.booleans(),
)


def test_marks_say_inferred_and_hedged_in_either_order() -> None:
    assert parse_labels("mitral_regurgitation=1 rv_cavity=0~ la_cavity=2? lv_wall=-3?~") == [
        LexiconLabel("mitral_regurgitation", 1),
        LexiconLabel("rv_cavity", 0, inferred=True),
        LexiconLabel("la_cavity", 2, hedged=True),
        LexiconLabel("lv_wall", -3, inferred=True, hedged=True),
    ]


def test_a_dash_labels_nothing_and_nothing_is_written_as_a_dash() -> None:
    assert parse_labels("-") == []
    assert format_labels([]) == "-"


@pytest.mark.parametrize(
    "cell",
    ["", "  ", "mr", "mr=", "=1", "mr=4", "mr=-50", "mr=1~~", "mr=1 mr=2", "- mr=1", "mr=1,as=2"],
)
def test_a_cell_that_cannot_be_read_is_an_error(cell: str) -> None:
    with pytest.raises(LabelSyntaxError):
        parse_labels(cell)


def test_the_error_does_not_quote_the_cell() -> None:
    with pytest.raises(LabelSyntaxError) as caught:
        parse_labels("Seen by Doctor Okafor today")
    assert "Okafor" not in str(caught.value)


@given(st.lists(LABEL, unique_by=lambda label: label.abnormality))
def test_what_is_written_reads_back(labels: list[LexiconLabel]) -> None:
    assert parse_labels(format_labels(labels)) == sorted(labels, key=lambda x: x.abnormality)
