"""The pictures of terms: drawn in both themes, the same bytes each time, gaps where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.present.pictures import plot_logprobs, plot_overlap


def _cell(train: str, test: str, value: float | None) -> Figure:
    subset = {"train": train, "test": test, "shared": "1"}
    return Figure("r", "", 0, "term_overlap", value, None, None, 4, 2, "s", subset)


@pytest.mark.parametrize("dark", [False, True])
def test_an_overlap_matrix_with_an_empty_cell(tmp_path: Path, dark: bool) -> None:
    cells = [
        _cell("A", "A", 0.9),
        _cell("B", "A", 0.1),
        _cell("A", "B", None),
        _cell("B", "B", 0.5),
    ]
    for name in ("one.svg", "two.svg"):
        plot_overlap(cells, tmp_path / name, dark=dark)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    plot_overlap(cells, tmp_path / "one.pdf", dark=dark)
    with pytest.raises(ConfigError, match=r"\.svg"):
        plot_overlap(cells, tmp_path / "one.gif")


@pytest.mark.parametrize("adapters", [1, 3])
def test_log_probabilities_of_one_or_more_adapters(tmp_path: Path, adapters: int) -> None:
    names = [f"a{n}" for n in range(adapters)]
    nan = float("nan")
    figures = [
        Figure(run, "m", 0, "term_logprob", -5.0, nan, nan, 9, 3, "s", {"specialty": specialty})
        for run in ("base", *names)
        for specialty in ("Cardiology", "Urology", "all")
    ]
    tests = [
        (specialty, PairedTest(name, "base", "term_logprob", 0.4, low, high, 0.1, None, 9, n))
        for name in names
        for specialty, low, high, n in (("Cardiology", 0.1, 0.7, 30), ("Urology", nan, nan, 1),
                                        ("all", 0.2, 0.6, 31))
    ]  # fmt: skip
    plot_logprobs(figures, tests, tmp_path / "p.svg", private=True)
    text = (tmp_path / "p.svg").read_text()
    assert "nan" not in text.casefold().replace("finance", "")
    assert (tmp_path / "p.svg").stat().st_mode & 0o077 == 0
