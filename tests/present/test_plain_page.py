"""The page of a kind without the facet `shows`: its figures and tests, from the common records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds import registry
from clinqa.kinds.registry import ItemKind
from present.made_scores import RUNS, write_scores
from present.pages import render, tables_of


def toy(data: dict[str, Any]) -> None:
    data["meta"]["kind"] = "toy"


def test_a_kind_that_shows_nothing_has_its_figures_and_tests_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = ItemKind("toy", "toy", "nowhere", frozenset({"columns"}))
    monkeypatch.setitem(registry._MORE, "toy", kind)
    folder = write_scores(tmp_path / "s", RUNS[:3], change=toy)
    tables = tables_of(folder)
    assert {"runs", "results", "tests", "costs"} == set(tables)
    titles = [column.title for column in tables["results"].columns]
    assert "token f1" in titles and "status answered" in titles
    html = render(folder)
    assert "Highest token f1: " in html and 'id="chart-token-f1-title"' in html
    assert "by the declared tests" in html and "clinqa report" in html


def test_scores_of_a_kind_nobody_knows_are_refused(tmp_path: Path) -> None:
    folder = write_scores(tmp_path / "s", RUNS[:2], change=toy)
    with pytest.raises(ConfigError, match="no items of kind 'toy'"):
        render(folder)
