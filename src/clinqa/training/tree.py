"""Items of a batch laid out as trees: what their prompts share stands there once.

All items share the system line, and items of one report share the report: of fourteen questions
about one report nine tenths of the tokens are the same. A row holds a tree of segments; a token
sees the tokens before it in its own segment and in those above it, at the positions they would
have had alone. So each item gets exactly what it would get in a row of its own, with no padding
inside a row, and a step costs what its distinct tokens cost.

The last token of a prompt is never shared: the first token of the answer is learnt there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clinqa.models.local.plan import common

__all__ = ["Laid", "LearntToken", "TreeRow", "lay_out"]

_SHORT = 8  # a shared run below this is not worth a segment


@dataclass(frozen=True, slots=True)
class Laid:
    """One item to be laid out. `answer_from` is the index of the first learnt token."""

    number: int  # of the item within its batch
    tokens: Sequence[int]
    answer_from: int


@dataclass(frozen=True, slots=True)
class LearntToken:
    """What is learnt where: the token that follows the one in this column, and for which item."""

    column: int
    token: int
    number: int


@dataclass(slots=True)
class TreeRow:
    """One row of a batch: tokens with positions and segments; `parents` of each segment."""

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # -1: none
    targets: list[LearntToken] = field(default_factory=list)

    def above(self) -> list[list[int]]:
        """For each segment itself and all above it."""
        found: list[list[int]] = []
        for number, parent in enumerate(self.parents):
            found.append([number] if parent < 0 else [*found[parent], number])
        return found


@dataclass(slots=True)
class _Node:
    """A run of tokens, what branches off after it, and the items that end in it."""

    tokens: Sequence[int]
    start: int
    children: list[_Node] = field(default_factory=list)
    item: Laid | None = None

    def size(self) -> int:
        return len(self.tokens) + sum(child.size() for child in self.children)


def lay_out(items: Sequence[Laid], *, row_tokens: int, share: bool = True) -> list[TreeRow]:
    """The items in rows of about `row_tokens`, the longest row first.

    >>> rows = lay_out([Laid(0, [1, 2, 3, 4], 3)], row_tokens=100)
    >>> rows[0].targets
    [LearntToken(column=2, token=4, number=0)]
    """
    if not share:
        alone = [_Node(item.tokens, 0, item=item) for item in items]
        return [_row(None, [node]) for node in sorted(alone, key=_by_size)]
    root = _grow(list(items), 0)
    if root.item is not None:  # one item alone
        return [_row(None, [root])]
    trunk = root if root.tokens else None
    bins: list[tuple[int, list[_Node]]] = []
    room = max(row_tokens - len(root.tokens), 1)
    for child in sorted(root.children, key=_by_size):
        size = child.size()
        for place, (used, held) in enumerate(bins):
            if used + size <= room:
                bins[place] = (used + size, [*held, child])
                break
        else:
            bins.append((size, [child]))
    bins.sort(key=lambda one: -one[0])
    return [_row(trunk, held) for _, held in bins]


def _grow(items: list[Laid], start: int) -> _Node:
    """The tree of items that are the same before `start`."""
    if len(items) == 1:
        return _Node(items[0].tokens[start:], start, item=items[0])
    end = _common(items, start)
    node = _Node(items[0].tokens[start:end], start)
    branches: dict[int, list[Laid]] = {}
    for item in items:
        branches.setdefault(item.tokens[end], []).append(item)
    for members in branches.values():
        if len(members) > 1 and _common(members, end) - end >= _SHORT:
            node.children.append(_grow(members, end))
        else:
            node.children += [_Node(one.tokens[end:], end, item=one) for one in members]
    return node


def _common(items: Sequence[Laid], start: int) -> int:
    """How far all of them are the same, short of the last token of any prompt."""
    end = min(item.answer_from - 1 for item in items)
    first = items[0].tokens
    for item in items[1:]:
        end = min(end, common(item.tokens, first))
    return max(end, start)


def _row(trunk: _Node | None, nodes: Sequence[_Node]) -> TreeRow:
    row = TreeRow()
    top = -1 if trunk is None else _put(row, trunk, -1)
    waiting = [(node, top) for node in reversed(nodes)]
    while waiting:
        node, parent = waiting.pop()
        number = _put(row, node, parent)
        waiting += [(child, number) for child in reversed(node.children)]
    return row


def _put(row: TreeRow, node: _Node, parent: int) -> int:
    """The node's own tokens as a segment of the row; its children are put by who calls."""
    number, begin = len(row.parents), len(row.tokens)
    row.parents.append(parent)
    row.tokens += node.tokens
    row.positions += range(node.start, node.start + len(node.tokens))
    row.segments += [number] * len(node.tokens)
    if node.item is not None:
        item = node.item
        for place in range(item.answer_from, len(item.tokens)):
            column = begin + place - 1 - node.start
            row.targets.append(LearntToken(column, item.tokens[place], item.number))
    return number


def _by_size(node: _Node) -> tuple[int, int]:
    """Longest first; ties by the item's number, which follows the order of the step."""
    return (-node.size(), _first_number(node))


def _first_number(node: _Node) -> int:
    while node.item is None:
        node = node.children[0]
    return node.item.number
