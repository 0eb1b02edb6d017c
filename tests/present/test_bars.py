"""Pictures and text of datasets of questions, and the funnel of pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.cli import main
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.shown import described
from clinqa.kinds.facets.describes import BarPicture, BarRow
from clinqa.kinds.multiple_choice.describes import specialty_picture, summarise_choices
from clinqa.kinds.true_false.describes import funnel_picture, summarise_pairs
from clinqa.present.plot import draw_bars
from clinqa.present.terminal import TextPage, rendered
from scoring.binary.made_statements import dataset as pairs
from scoring.choice.made_choices import dataset, row, rows
from sealing import edit_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fixed = row(900, ["x", "y", "Both A and B"], 2, needs_image=True, specialties=["a", "b"])
    return dataset(tmp_path / "data", test=[*rows(6), fixed]).folder


def test_questions_are_counted_by_split_specialty_letter_and_flag(folder: Path) -> None:
    summary = summarise_choices(open_dataset(folder))
    splits = summary["splits"]
    assert sum(one["items"] for one in splits.values()) == 27 and splits["test"]["items"] == 7
    assert summary["categories"]["Cardiology"] == {"train": 10, "validation": 0, "test": 4}
    assert sum(summary["gold"].values()) == 27 and summary["options"] == {"3": 1, "4": 26}
    assert summary["flags"] == {
        "options speak of others": 1, "needs an image": 1, "garbled": 0, "several specialties": 1,
    }  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_its_text_fits_and_holds_no_text_of_a_record(folder: Path, width: int) -> None:
    text = rendered(described(folder).pieces, TextPage(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert "thing" not in text and "Cardiology" in text and "Both A" not in text


def test_show_takes_questions_and_draws_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    picture = folder.parent / "bank.svg"
    assert main(["show", str(folder), "--plot", str(picture), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["options"] == {"3": 1, "4": 26} and picture.stat().st_size > 5000
    assert main(["show", str(folder)]) == 0
    assert "Items by specialty and split" in capsys.readouterr().out
    assert main(["show", str(folder), "--examples", "2"]) == 2
    assert main(["show", str(folder), "--examples", "2", "--json"]) == 2


def test_show_draws_the_funnel_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    folder = pairs(tmp_path / "pairs").folder
    edit_manifest(folder, lambda body: body.update(verb="build bank-tf"))
    for name in ("light.svg", "dark.png"):
        dark = ["--dark"] if name.startswith("dark") else []
        assert main(["show", str(folder), "--plot", str(tmp_path / name), *dark]) == 0
        assert (tmp_path / name).stat().st_size > 1000
    said = capsys.readouterr().out
    assert "Pairs by topic" in said and "Documents" not in said and "Funnel" not in said


def test_the_funnel_says_what_each_step_loses(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    summary = summarise_pairs(pairs(tmp_path / "pairs"))
    funnel = {"pages": 3, "drafts": 1200, "verified": 1200, "pairs": 90}
    draw_bars(funnel_picture({**summary, "funnel": funnel}), tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "From 3 pages to 90 pairs" in drawn and "−1,110" in drawn


def test_the_same_questions_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    summary = summarise_choices(open_dataset(folder))
    for name in ("a.svg", "b.svg"):
        draw_bars(specialty_picture(summary), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    draw_bars(BarPicture("nothing", []), tmp_path / "empty.pdf")
    none = BarPicture("none", [BarRow("x" * 90, (("", 0),))])
    draw_bars(none, tmp_path / "none.png", dark=True)
    with pytest.raises(ConfigError, match=r"\.svg, \.pdf or \.png"):
        draw_bars(BarPicture("nothing", []), tmp_path / "a.bmp")
