"""Pieces of lines in the order in which a person reads them, as lines in blocks.

Most PDFs draw their text in reading order, column after column, and that order is kept: no rule
of geometry beats it. Two faults are told from it by measure. Drawn row by row across two columns
of prose (long pieces side by side, again and again), or drawn up and down the page, the order is
made anew from the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from clinqa.sources.pdf.words import Piece

__all__ = ["Line", "flows", "lines_of"]

_PROSE = 25  # characters: a shorter piece beside another is a cell of a table
_MAX_DEPTH = 3  # columns within columns


@dataclass(slots=True)
class Line:
    """One line of the page; `begins` says that a block begins with it."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    begins: bool = False


def lines_of(found: Sequence[Piece], width: float) -> list[Line]:
    """The lines of a page in reading order."""
    ordered = list(found) if flows(found) else by_columns(found, width)
    lines: list[Line] = []
    for piece in ordered:
        if lines and _continues(lines[-1], piece):
            _join(lines[-1], piece)
        else:
            lines.append(Line(piece.text, piece.x0, piece.top, piece.x1, piece.bottom, piece.size))
    _mark_blocks(lines)
    return lines


def flows(found: Sequence[Piece]) -> bool:
    """Is the order in which the page draws its text one in which it can be read?

    Judged by its prose where there is some: the labels of a figure are drawn in any order.
    """
    prose = [piece for piece in found if len(piece.text) >= _PROSE]
    if len(prose) < 6:
        return _climbs(found) <= 0.2 * len(found)
    across = 0
    for left, right in pairwise(prose):
        apart = min(left.x1, right.x1) <= max(left.x0, right.x0)
        across += apart and abs(left.top - right.top) < 2.5 * max(left.size, right.size)
    return not (across >= 3 and across >= 0.15 * len(prose)) and (
        _climbs(prose) <= 1 + 0.1 * len(prose)
    )


def _climbs(found: Sequence[Piece]) -> int:
    """How often the order goes up within the width of one column."""
    count = 0
    for before, after in pairwise(found):
        shared = min(before.x1, after.x1) - max(before.x0, after.x0)
        narrow = min(before.x1 - before.x0, after.x1 - after.x0)
        count += after.bottom < before.top and shared > 0.5 * narrow > 0
    return count


def _beside(left: Piece | Line, right: Piece) -> bool:
    shared = min(left.bottom, right.bottom) - max(left.top, right.top)
    return right.x0 >= left.x1 - 1 and shared > 0.5 * min(
        left.bottom - left.top, right.bottom - right.top
    )


def _continues(line: Line, piece: Piece) -> bool:
    """Cells of one row, or a superscript beside its word; not the next column's line."""
    if not _beside(line, piece):
        return False
    gap = piece.x0 - line.x1
    long = len(line.text) >= _PROSE and len(piece.text) >= _PROSE
    return gap <= 1.2 * max(line.size, piece.size) or not long


def _join(line: Line, piece: Piece) -> None:
    line.text = f"{line.text} {piece.text}"
    line.x1 = max(line.x1, piece.x1)
    line.top, line.bottom = min(line.top, piece.top), max(line.bottom, piece.bottom)
    line.size = max(line.size, piece.size)


def _mark_blocks(lines: list[Line]) -> None:
    """A block begins after a gap, in a new column, or where the type's size changes."""
    for before, line in pairwise(lines):
        em = max(before.size, line.size, 1.0)
        step = line.top - before.bottom
        down = -0.6 * em <= step <= 0.75 * em
        shared = min(before.x1, line.x1) - max(before.x0, line.x0)
        sizes = max(before.size, line.size) <= 1.25 * max(min(before.size, line.size), 0.1)
        line.begins = not (down and shared > 0 and sizes)
    if lines:
        lines[0].begins = True


def by_columns(found: Sequence[Piece], width: float, depth: int = 0) -> list[Piece]:
    """Top to bottom between the lines that span the columns; within, column by column."""
    by_row = sorted(found, key=lambda piece: (round(piece.top, 1), piece.x0))
    gutter = _gutter(by_row) if depth < _MAX_DEPTH else None
    if gutter is None:
        return _rows(by_row)
    out: list[Piece] = []
    left: list[Piece] = []
    right: list[Piece] = []

    def empty() -> None:
        for side in (left, right):
            out.extend(by_columns(side, width, depth + 1))
            side.clear()

    for piece in by_row:
        if piece.x1 <= gutter + 1:
            left.append(piece)
        elif piece.x0 >= gutter - 1:
            right.append(piece)
        else:
            empty()
            out.append(piece)
    empty()
    return out


def _rows(by_row: list[Piece]) -> list[Piece]:
    """Pieces of one line by their place in it, though one stands a hair higher."""
    rows: list[list[Piece]] = []
    for piece in by_row:
        row = rows[-1] if rows else None
        if row and piece.top < row[0].top + 0.5 * row[0].height:
            row.append(piece)
        else:
            rows.append([piece])
    return [piece for row in rows for piece in sorted(row, key=lambda each: each.x0)]


def _gutter(found: Sequence[Piece]) -> float | None:
    """Where a white strip runs down between columns of prose that few lines cross; or None."""
    if len(found) < 6:
        return None
    low, high = min(piece.x0 for piece in found), max(piece.x1 for piece in found)
    em = sorted(piece.size for piece in found)[len(found) // 2]
    best: tuple[int, float, float] | None = None
    ends = sorted({round(piece.x1, 1) for piece in found})
    starts = sorted({round(piece.x0, 1) for piece in found})
    for start in starts:
        if not low + 0.15 * (high - low) <= start <= high - 0.15 * (high - low):
            continue
        before = [end for end in ends if end <= start]
        if not before:
            continue
        at = start - 0.1
        crossed = sum(piece.x0 < at < piece.x1 for piece in found)
        left = [piece for piece in found if piece.x1 <= at]
        right = [piece for piece in found if piece.x0 >= at]
        sides = [sum(len(p.text) >= _PROSE // 2 for p in side) for side in (left, right)]
        if min(sides) < 3 or crossed > 0.25 * len(found):
            continue
        tall = min(_reach(left), _reach(right))
        gap = start - max(piece.x1 for piece in left)
        if gap < 0.5 * em or tall < 3 * em:
            continue
        key = (crossed, -gap, start)
        if best is None or key < best:
            best = key
    return None if best is None else best[2] - 0.1


def _reach(found: Sequence[Piece]) -> float:
    return max(piece.bottom for piece in found) - min(piece.top for piece in found)
