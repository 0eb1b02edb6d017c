from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form import summary as described
from clinqa.kinds.long_form.describes import summary_picture
from clinqa.present.plot import plot_dataset
from made_folder import Label, write_folder


def summarise(folder: Path) -> dict[str, Any]:
    return described.summarise(open_dataset(folder))


def plot_summary(
    summary: dict[str, Any], path: Path, *, dark: bool = False, names: dict[str, str] | None = None
) -> None:
    plot_dataset(summary_picture(summary, names or {}), path, dark=dark)


@pytest.fixture
def summary(tmp_path: Path) -> dict[str, Any]:
    labels = [Label(f"s{n}", "la_cavity", level) for n, level in enumerate((-50, -3, 0, 1, 3))]
    return summarise(write_folder(tmp_path / "d", labels))


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_summary_gives_the_same_bytes(
    tmp_path: Path, summary: dict[str, Any], kind: str
) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    plot_summary(summary, first)
    plot_summary(summary, second)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 5_000


def test_a_picture_tells_no_time_and_no_path(tmp_path: Path, summary: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    path = tmp_path / "a.svg"
    plot_summary(summary, path)
    text = path.read_text(encoding="utf-8")
    assert "<dc:date>" not in text and str(tmp_path) not in text
    assert not re.search(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", text)


def test_dark_and_light_differ(tmp_path: Path, summary: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    plot_summary(summary, tmp_path / "a.svg")
    plot_summary(summary, tmp_path / "b.svg", dark=True)
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()


def test_an_empty_dataset_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    plot_summary(summarise(write_folder(tmp_path / "e", [])), tmp_path / "a.png")
    assert (tmp_path / "a.png").is_file()


def test_another_format_is_refused_by_name(tmp_path: Path, summary: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"\.svg"):
        plot_summary(summary, tmp_path / "a.gif")


def test_without_matplotlib_the_pip_line_is_named(
    tmp_path: Path, summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'clinqa\[plots\]'"):
        plot_summary(summary, tmp_path / "a.png")


def test_a_picture_is_not_written_through_a_link(tmp_path: Path, summary: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    target = tmp_path / "target.png"
    target.write_bytes(b"mine")
    (tmp_path / "a.png").symlink_to(target)
    with pytest.raises(ConfigError, match="link"):
        plot_summary(summary, tmp_path / "a.png")
    assert target.read_bytes() == b"mine"


def test_what_has_no_degrees_is_marked(tmp_path: Path, summary: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    path = tmp_path / "a.svg"
    plot_summary({**summary, "two_valued": ("la_cavity",)}, path)
    text = path.read_text(encoding="utf-8")
    assert "la cavity*" in text and "mild (1), * present" in text
