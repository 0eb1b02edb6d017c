"""Control characters written out: the one way in which a stranger's text reaches a terminal."""

from __future__ import annotations

import re

__all__ = ["visible", "visible_lines"]

# colour and weight, nothing that moves the cursor; what our own tables are drawn with
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def visible(text: str) -> str:
    r"""The text with characters that do not print written out: no id, name or path moves the
    cursor, starts a line of its own or turns the direction of what follows.

    >>> visible("a\x1b[31mb\n\u202e")
    'a\\x1b[31mb\\n\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def visible_lines(text: str, *, coloured: bool = False) -> str:
    r"""The same for a text of several lines; colours stay where the text was drawn with them.

    >>> visible_lines("a\tb\n\x1b[1mc\x07")
    'a\tb\n\\x1b[1mc\\x07'
    >>> visible_lines("\x1b[1mc\x07\x1b[0m", coloured=True)
    '\x1b[1mc\\x07\x1b[0m'
    """
    if coloured:
        parts = _COLOUR.split(text)
        parts[::2] = [visible_lines(part) for part in parts[::2]]
        return "".join(parts)
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
