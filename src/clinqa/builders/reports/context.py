"""The part of a report that goes with a question.

`findings`: the study's text without its ignored sections, and without what was found after an
intervention: levels are those of the baseline, and no question says which half it means. Sections
that follow each other are one slice of the original; where one that is left out lies between, or a
heading with nothing under it, a blank line joins the slices. `section`: of these the sections of
the abnormality's structure, and those in which a deciding statement stands; where the report has
none, all of `findings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Int32s
from clinqa.core.records import Phase
from clinqa.reading.pieces import Pieces
from clinqa.reading.scan_tables import PHASES

__all__ = ["Sections", "findings_context", "section_contexts", "sections_of"]

_GAP = "\n\n"
_POST = PHASES.index(Phase.POST)
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections that are not left out; those of study i are `first[i]` to `first[i + 1]`.

    `rows` are number in the report, where the heading begins, where the last statement ends;
    `statement` is each one's first, which tells its structure; `of_piece` is a piece's section, -1
    where it is left out.
    """

    first: list[int]
    rows: list[tuple[int, int, int]]
    statement: Int32s
    of_piece: list[int]


def sections_of(pieces: Pieces, studies: int, *, post: bool = False) -> Sections:
    """The sections in which a batch's statements stand; with `post`, all phases'."""
    kept = np.arange(len(pieces)) if post else np.flatnonzero(pieces.phase != _POST)
    study, section = pieces.study[kept], pieces.section[kept]
    starts = np.ones(len(kept), bool)
    starts[1:] = (study[1:] != study[:-1]) | (section[1:] != section[:-1])
    places = np.flatnonzero(starts)
    begins = kept[places]
    ends = kept[np.append(places[1:], len(kept))[: len(places)] - 1]
    columns = (pieces.section[begins], pieces.head[begins], pieces.end[ends])
    of_piece = np.full(len(pieces), -1)
    of_piece[kept] = np.cumsum(starts) - 1
    return Sections(
        first=np.searchsorted(pieces.study[begins], np.arange(studies + 1)).tolist(),
        rows=list(zip(*(column.tolist() for column in columns), strict=True)),
        statement=pieces.statement[begins],
        of_piece=of_piece.tolist(),
    )


def joined(text: str, chosen: Iterable[tuple[int, int, int]]) -> str:
    """The chosen sections (number, head, end) of a text, in order, as one context."""
    parts: list[str] = []
    start = end = last = -1
    for number, head, stop in chosen:
        if end >= 0 and (number == last + 1 or not _WORD.search(text, end, head)):
            end = stop
        else:
            if end >= 0:
                parts.append(text[start:end])
            start, end = head, stop
        last = number
    if end >= 0:
        parts.append(text[start:end])
    return _GAP.join(parts)


def findings_context(text: str, sections: Sections, study: int) -> str:
    """The findings of one study."""
    return joined(text, sections.rows[sections.first[study] : sections.first[study + 1]])


def section_contexts(
    texts: Sequence[str],
    contexts: Sequence[str],
    sections: Sections,
    structures: Sequence[str],
    asked: Iterable[tuple[int, str, tuple[int, ...]]],
) -> tuple[list[int], list[str]]:
    """For each item its context's number, and the distinct contexts.

    `asked` holds study, structure and the pieces that decided. `structures` are those of the
    sections.
    """
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    made: list[str] = []
    codes: list[int] = []
    for study, structure, pieces in asked:
        places = range(int(sections.first[study]), int(sections.first[study + 1]))
        deciding = {sections.of_piece[piece] for piece in pieces}
        chosen = tuple(p for p in places if structures[p] == structure or p in deciding)
        key = (study, chosen)
        code = numbers.get(key)
        if code is None:
            code = numbers[key] = len(made)
            rows = sections.rows
            made.append(joined(texts[study], [rows[p] for p in chosen]) or contexts[study])
        codes.append(code)
    return codes, made
