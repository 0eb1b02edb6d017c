from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.visible import visible, visible_lines


@given(st.text())
def test_what_is_shown_prints(text: str) -> None:
    assert visible(text).isprintable()
    assert all(part.isprintable() for part in visible_lines(text).replace("\t", "\n").split("\n"))


def test_colours_stay_only_where_they_were_drawn_and_the_cursor_never_moves() -> None:
    text = "\x1b[1;31mred\x1b[0m\x1b[2J\x1b]0;title\x07\r\n"
    assert visible_lines(text, coloured=True) == (
        "\x1b[1;31mred\x1b[0m\\x1b[2J\\x1b]0;title\\x07\\r\n"
    )
    assert "\x1b" not in visible_lines(text)
