"""Pages made of folders, without writing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clinqa.kinds.facets.pages import Grid
from clinqa.present.html import html_of
from clinqa.present.report import made_page

__all__ = ["render", "tables_of"]


def render(*folders: Path, **asked: Any) -> str:
    """The page as a string of HTML."""
    page, evaluation = made_page(folders, **asked)
    return html_of(page, evaluation.data_class)


def tables_of(*folders: Path) -> dict[str, Grid]:
    """The tables of the page by their ids."""
    return made_page(folders)[0].tables()
