"""The page of multiple-choice scores into its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clinqa.core.cells import write_file
from clinqa.core.data_class import is_private
from clinqa.core.errors import ConfigError
from clinqa.present.choice.page import render_choices
from clinqa.present.choice.read import read_choices
from clinqa.present.report.write import Written

__all__ = ["write_choices"]


def write_choices(
    scores: Sequence[Path], page: Path, *, title: str, figures: Path | None
) -> Written:
    """The page of one SCORES folder. Its charts stand in the page, its tables in the scores."""
    if len(scores) > 1:
        raise ConfigError(
            "a page holds one folder of multiple_choice scores; score all runs together"
        )
    if figures is not None:
        raise ConfigError(
            f"--figures: of multiple_choice scores the tables are in {scores[0] / 'tables'} and "
            "the charts in the page"
        )
    choices = read_choices(scores[0])
    private = is_private(choices.data_class)
    html = render_choices(choices, title=title, page=page.name)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html, private=private)
    return Written(
        page=page,
        runs=len(choices.runs),
        models=len({run.about["model"] for run in choices.runs}),
        figures=sum(len(found) for found in choices.figures.values()),
        tests=len(choices.tests),
        private=private,
        warnings=tuple(choices.meta.get("warnings") or ()),
    )
