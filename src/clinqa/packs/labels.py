"""The label syntax of a lexicon: `mitral_regurgitation=1 rv_cavity=0~ la_cavity=2?`.

A label is `abnormality=level`. A `~` after it says that the label is inferred (the structure was
called normal, or not seen), a `?` that the statement hedges; both may stand, in either order.
`-` alone labels nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clinqa.core.errors import ConfigError
from clinqa.core.records import Level

__all__ = ["NOTHING", "LabelSyntaxError", "LexiconLabel", "format_labels", "parse_labels"]

NOTHING = "-"

_LABEL = re.compile(r"([a-z][a-z0-9_]*)=([+-]?[0-9]{1,3})([~?]{0,2})")
_LEVELS = frozenset(int(level) for level in Level if level is not Level.CONFLICT)


class LabelSyntaxError(ConfigError, ValueError):
    """A label cell that cannot be read. The message says which label, never what the cell holds.

    A cell may hold a sentence of a report by mistake (columns swapped), so it is not quoted.
    """


@dataclass(frozen=True, slots=True)
class LexiconLabel:
    """What a lexicon says of one abnormality in one statement."""

    abnormality: str
    level: int
    inferred: bool = False
    hedged: bool = False


def parse_labels(cell: str) -> list[LexiconLabel]:
    """Read a label cell; the order of the labels is kept.

    Raises LabelSyntaxError for an empty cell, a malformed label, a level that no statement can
    have (-50 is a study's, never a statement's) and an abnormality named twice.

    >>> parse_labels("mitral_regurgitation=1 la_cavity=2?")[1]
    LexiconLabel(abnormality='la_cavity', level=2, inferred=False, hedged=True)
    >>> parse_labels("-")
    []
    """
    tokens = cell.split()
    if not tokens:
        raise LabelSyntaxError(
            "the labels are empty: write '-' for a statement that labels nothing"
        )
    if tokens == [NOTHING]:
        return []
    labels: list[LexiconLabel] = []
    seen: set[str] = set()
    for number, token in enumerate(tokens, 1):
        found = _LABEL.fullmatch(token)
        if found is None or len(set(found[3])) != len(found[3]):
            raise LabelSyntaxError(
                f"label {number} of {len(tokens)} is malformed: write abnormality=level, "
                "then ~ if inferred and ? if hedged"
            )
        abnormality, level, marks = found[1], int(found[2]), found[3]
        if level not in _LEVELS:
            raise LabelSyntaxError(
                f"label {number} of {len(tokens)} has a level that no statement can have: "
                f"use one of {', '.join(map(str, sorted(_LEVELS)))}"
            )
        if abnormality in seen:
            raise LabelSyntaxError(f"label {number} of {len(tokens)} names its abnormality again")
        seen.add(abnormality)
        labels.append(LexiconLabel(abnormality, level, "~" in marks, "?" in marks))
    return labels


def format_labels(labels: Iterable[LexiconLabel]) -> str:
    """Write labels as a cell, by abnormality, so that equal labels give equal cells.

    >>> format_labels([LexiconLabel("rv_cavity", 0, inferred=True), LexiconLabel("la_cavity", -3)])
    'la_cavity=-3 rv_cavity=0~'
    """
    cells = [
        f"{label.abnormality}={int(label.level)}"
        f"{'~' if label.inferred else ''}{'?' if label.hedged else ''}"
        for label in sorted(labels, key=lambda label: label.abnormality)
    ]
    return " ".join(cells) or NOTHING
