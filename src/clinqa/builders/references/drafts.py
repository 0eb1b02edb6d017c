"""What passes between the stages of a build of references."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clinqa.core.records import Reason

__all__ = ["Draft", "LostDraft", "Page", "PagePart"]


class PagePart(StrEnum):
    """Which text of a page a span is of."""

    PAGE = "page"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class Page:
    """One page as drafts are made from it: its document by MD5 alone, never by name or title."""

    md5: str
    page: int
    text: str
    mode: str
    part: PagePart = PagePart.PAGE
    next_text: str | None = None
    before_text: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement with its label and the source text that decides it.

    `start` and `end` are code points of the page's (or transcript's) text.
    """

    md5: str
    page: int
    part: PagePart
    mode: str
    start: int
    end: int
    source_text: str
    statement: str
    label: bool
    topic: str
    method: str


@dataclass(frozen=True, slots=True)
class LostDraft:
    """Something that did not become a draft or a pair, and why."""

    reason: Reason
    md5: str
    page: int
    part: PagePart
    detail: str = ""
