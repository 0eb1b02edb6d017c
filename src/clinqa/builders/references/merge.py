"""Drafts of one page, from its text and from its transcript, without doubles.

Two drafts are doubles if they say the same words, or if they are made of the same piece of the
page. The one from the page's own text stays, then the one that stands first.
"""

from __future__ import annotations

from collections.abc import Sequence

from clinqa.builders.references.drafts import Draft, PagePart
from clinqa.builders.references.folded import tokens_of

__all__ = ["merged"]

_SHARED = 0.5


def merged(drafts: Sequence[Draft]) -> tuple[list[Draft], list[Draft]]:
    """The drafts of one page that stay, and the doubles."""
    kept: list[Draft] = []
    doubles: list[Draft] = []
    said: set[tuple[str, ...]] = set()
    heard: set[tuple[str, ...]] = set()
    for draft in sorted(drafts, key=_order):
        words = tuple(t.text for t in tokens_of(draft.statement))
        source = tuple(t.text for t in tokens_of(draft.source_text))
        double = words in said or source in heard or any(_overlap(draft, one) for one in kept)
        (doubles if double else kept).append(draft)
        said.add(words)
        heard.add(source)
    return kept, doubles


def _order(draft: Draft) -> tuple[bool, int, int, str]:
    return draft.part is not PagePart.PAGE, draft.start, -draft.end, draft.statement


def _overlap(one: Draft, other: Draft) -> bool:
    if one.part is not other.part:
        return False
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > _SHARED * min(one.end - one.start, other.end - other.start)
