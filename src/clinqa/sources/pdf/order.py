"""Pieces of lines in the order in which a person reads them, as lines in blocks.

Most PDFs draw their text in reading order, column after column, and that order is kept: no rule
of geometry beats it. Two faults are told from it by measure. Drawn row by row across two columns
of prose (long pieces side by side, again and again), or drawn up and down the page, the order is
made anew from the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from clinqa.sources.pdf.line_pieces import LinePiece

__all__ = ["PageLine", "flows", "lines_of"]

_PROSE = 25  # characters: a shorter piece beside another is a cell of a table
_MAX_DEPTH = 3  # columns within columns
_WIDEST = 20_000  # points: no page of a book


@dataclass(slots=True)
class PageLine:
    """One line of the page; `begins` says that a block begins with it."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    begins: bool = False


def lines_of(found: Sequence[LinePiece], width: float) -> list[PageLine]:
    """The lines of a page in reading order."""
    ordered = list(found) if flows(found) else by_columns(found, width)
    lines: list[PageLine] = []
    for piece in ordered:
        if lines and _continues(lines[-1], piece):
            _join(lines[-1], piece)
        else:
            lines.append(
                PageLine(piece.text, piece.x0, piece.top, piece.x1, piece.bottom, piece.size)
            )
    _mark_blocks(lines)
    return lines


def flows(found: Sequence[LinePiece]) -> bool:
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


def _climbs(found: Sequence[LinePiece]) -> int:
    """How often the order goes up within the width of one column."""
    count = 0
    for before, after in pairwise(found):
        shared = min(before.x1, after.x1) - max(before.x0, after.x0)
        narrow = min(before.x1 - before.x0, after.x1 - after.x0)
        count += after.bottom < before.top and shared > 0.5 * narrow > 0
    return count


def _beside(left: LinePiece | PageLine, right: LinePiece) -> bool:
    shared = min(left.bottom, right.bottom) - max(left.top, right.top)
    return right.x0 >= left.x1 - 1 and shared > 0.5 * min(
        left.bottom - left.top, right.bottom - right.top
    )


def _continues(line: PageLine, piece: LinePiece) -> bool:
    """Cells of one row, or a superscript beside its word; not the next column's line."""
    if not _beside(line, piece):
        return False
    gap = piece.x0 - line.x1
    long = len(line.text) >= _PROSE and len(piece.text) >= _PROSE
    return gap <= 1.2 * max(line.size, piece.size) or not long


def _join(line: PageLine, piece: LinePiece) -> None:
    line.text = f"{line.text} {piece.text}"
    line.x1 = max(line.x1, piece.x1)
    line.top, line.bottom = min(line.top, piece.top), max(line.bottom, piece.bottom)
    line.size = max(line.size, piece.size)


def _mark_blocks(lines: list[PageLine]) -> None:
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


def by_columns(found: Sequence[LinePiece], width: float, depth: int = 0) -> list[LinePiece]:
    """Top to bottom between the lines that span the columns; within, column by column."""
    by_row = sorted(found, key=lambda piece: (round(piece.top, 1), piece.x0))
    gutter = _gutter(by_row) if depth < _MAX_DEPTH else None
    if gutter is None:
        return _rows(by_row)
    out: list[LinePiece] = []
    left: list[LinePiece] = []
    right: list[LinePiece] = []

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


def _rows(by_row: list[LinePiece]) -> list[LinePiece]:
    """Pieces of one line by their place in it, though one stands a hair higher."""
    rows: list[list[LinePiece]] = []
    for piece in by_row:
        row = rows[-1] if rows else None
        if row and piece.top < row[0].top + 0.5 * row[0].height:
            row.append(piece)
        else:
            rows.append([piece])
    return [piece for row in rows for piece in sorted(row, key=lambda each: each.x0)]


def _gutter(found: Sequence[LinePiece]) -> float | None:
    """Where a white strip runs down between columns of prose that few lines cross; or None.

    The labels of a figure stand anywhere, so that the pieces that may be prose are asked alone.
    """
    prose = [piece for piece in found if len(piece.text) >= _PROSE // 2]
    if len(prose) < 6:
        return None
    low, high = min(piece.x0 for piece in prose), max(piece.x1 for piece in prose)
    if not 0 < high - low < _WIDEST:
        return None
    crossing = _crossing(prose, low, high)
    edge = round(0.15 * len(crossing))
    inner = range(edge, len(crossing) - edge)
    fewest = min((crossing[x] for x in inner), default=len(prose))
    if fewest > 0.25 * len(prose):
        return None
    best = max(_strips([x for x in inner if crossing[x] <= fewest + 0.02 * len(prose)]), key=len)
    at = low + (best[0] + best[-1]) / 2
    em = sorted(piece.size for piece in prose)[len(prose) // 2]
    left = [piece for piece in prose if piece.x1 <= at]
    right = [piece for piece in prose if piece.x0 >= at]
    if len(best) < 0.5 * em or min(len(left), len(right)) < 3:
        return None
    return at if min(_reach(left), _reach(right)) >= 3 * em else None


def _crossing(found: Sequence[LinePiece], low: float, high: float) -> list[int]:
    """For each point across, how many pieces stand over it."""
    steps = [0] * (int(high - low) + 2)
    for piece in found:
        steps[int(piece.x0 - low)] += 1
        steps[int(piece.x1 - low) + 1] -= 1
    return list(accumulate(steps))


def _strips(points: Sequence[int]) -> Iterator[list[int]]:
    """Runs of points that follow each other."""
    for _, run in groupby(enumerate(points), key=lambda pair: pair[1] - pair[0]):
        yield [point for _, point in run]


def _reach(found: Sequence[LinePiece]) -> float:
    return max(piece.bottom for piece in found) - min(piece.top for piece in found)
