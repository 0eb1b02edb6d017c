"""Which prompts are computed together, so that nothing they share is computed twice.

Every prompt of a draw begins with the same system line and shots; the items of one report go on
with the same report. So a plan has three levels:

    shared   tokens all prompts begin with                        computed once a run
    group    tokens the prompts of one report share after that    computed once a report
    row      what is the prompt's own, the question               computed row by row, batched

Pure functions over lists of tokens; the order of the input changes nothing but ties of equal rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Batch", "Group", "PromptRow", "common", "plan"]

_WORTH = 0.5  # rows form a group when they share at least this part of the shorter one
_ALONE = 6  # a group of this many rows is a batch of its own, its beginning shared by all


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One sequence: `index` is the caller's; the last `keep` tokens are never shared."""

    index: int
    tokens: Sequence[int]
    keep: int = 1


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that go on alike: `context` then each row's own tokens."""

    context: Sequence[int]
    rows: tuple[PromptRow, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What runs at once. All rows begin with `shared`; each group's rows share its context too."""

    shared: Sequence[int]
    groups: tuple[Group, ...]
    rows: tuple[PromptRow, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(row for group in self.groups for row in group.rows))


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens two sequences begin with in common.

    >>> common([1, 2, 3], [1, 2, 4, 5])
    2
    """
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # slices compare at C speed: halving beats a loop over tokens
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def plan(
    rows: Iterable[PromptRow], *, max_rows: int, max_slots: int, extra: int, share: bool = True
) -> list[Batch]:
    """The batches of one draw, shortest first.

    `max_slots` bounds the tokens a batch keeps keys and values for, padding and the `extra`
    tokens each row may grow by counted in; what is shared by the whole batch is not.

    >>> rows = [PromptRow(0, [1, 2, 7, 7, 8]), PromptRow(1, [1, 2, 7, 7, 9])]
    >>> rows.append(PromptRow(2, [1, 2, 5, 6]))
    >>> [batch] = plan(rows, max_rows=8, max_slots=100, extra=1)
    >>> list(batch.shared), [(list(g.context), len(g.rows)) for g in batch.groups]
    ([1, 2], [([5], 1), ([7, 7], 2)])
    """
    ordered = sorted(rows, key=lambda row: (list(row.tokens), row.keep))
    if not ordered:
        return []
    # Sorted, so what the first and the last share is shared by all between them.
    start = _shareable(ordered[0], ordered[-1]) if share else 0
    start = min([start, *(len(row.tokens) - row.keep for row in ordered)])
    shared = list(ordered[0].tokens[:start])
    rest = [PromptRow(row.index, row.tokens[start:], row.keep) for row in ordered]
    return _pack(shared, list(_groups(rest, share)), max_rows, max_slots, extra)


def _shareable(a: PromptRow, b: PromptRow) -> int:
    shared = common(a.tokens, b.tokens)
    return max(0, min(shared, len(a.tokens) - a.keep, len(b.tokens) - b.keep))


def _groups(rows: Sequence[PromptRow], share: bool) -> Iterable[Group]:
    """Neighbours in sorted order that share enough; a row alone keeps only its last tokens."""
    first = 0
    while first < len(rows):
        length, last = len(rows[first].tokens) - rows[first].keep, first + 1
        while share and last < len(rows):
            both = min(length, _shareable(rows[last - 1], rows[last]))
            if both < _WORTH * min(len(rows[last - 1].tokens), len(rows[last].tokens)):
                break
            length, last = both, last + 1
        yield Group(
            rows[first].tokens[:length],
            tuple(PromptRow(r.index, r.tokens[length:], r.keep) for r in rows[first:last]),
        )
        first = last


def _pack(
    shared: Sequence[int], groups: Sequence[Group], max_rows: int, max_slots: int, extra: int
) -> list[Batch]:
    """Large groups alone, their context joined to what is shared; small ones together by length."""
    alone: list[Batch] = []
    small: list[Group] = []
    for group in groups:
        if len(group.rows) < min(_ALONE, max_rows):
            small.append(group)
            continue
        beginning = [*shared, *group.context]
        width = max(len(row.tokens) for row in group.rows) + extra
        size = max(1, min(max_rows, max_slots // width))
        pieces = -(-len(group.rows) // size)
        for piece in range(pieces):  # pieces of equal size: 20 rows are 10 and 10, not 16 and 4
            part = group.rows[
                piece * len(group.rows) // pieces : (piece + 1) * len(group.rows) // pieces
            ]
            alone.append(Batch(beginning, (Group([], part),)))
    alone.sort(key=lambda batch: len(batch.shared))
    small.sort(key=_width)
    together: list[Batch] = []
    batch: list[Group] = []
    for group in small:
        count = sum(len(other.rows) for other in batch) + len(group.rows)
        # by length, so the newest is the widest
        if batch and (count > max_rows or count * (_width(group) + extra) > max_slots):
            together.append(Batch(shared, tuple(batch)))
            batch = []
        batch.append(group)
    if batch:
        together.append(Batch(shared, tuple(batch)))
    return together + alone


def _width(group: Group) -> int:
    return len(group.context) + max(len(row.tokens) for row in group.rows)
