from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clinqa.dataset.reader import open_dataset
from clinqa.kinds.facets.describes import percent
from clinqa.kinds.long_form import moves
from clinqa.kinds.long_form import summary as described
from clinqa.kinds.long_form.describes import moved_pieces, summary_pieces
from clinqa.kinds.long_form.levels import LEVEL_STYLES, LEVELS
from clinqa.present.terminal import TextPage, rendered, short_count
from made_folder import Label, Statement, write_folder

NAMES = ("right_atrial_enlargement", "mitral_regurgitation", "la_cavity")


def summarise(folder: Path) -> dict[str, Any]:
    return described.summarise(open_dataset(folder))


def case(study: str) -> dict[str, Any]:
    told = {"study_id": study, "measurement": "size", "abnormality": "la_cavity", "level": 0}
    return {**told, "same_statement": True}


def stated(times: int, discord: int) -> dict[str, Any]:
    told = {"measurement": "size", "abnormality": "la_cavity", "stated": times}
    return {**told, "discord": discord, "same_statement": discord}


def compare(a: Path, b: Path) -> dict[str, Any]:
    return moves.compare(open_dataset(a), open_dataset(b))[0]


def render_summary(summary: dict[str, Any], page: TextPage, cases: int = 10) -> str:
    return rendered(summary_pieces(summary, cases), page)


def render_comparison(found: dict[str, Any], page: TextPage) -> str:
    return rendered(moved_pieces(found), page)


@pytest.fixture
def summary(tmp_path: Path) -> dict[str, Any]:
    labels = [
        Label(f"s{n}", name, level)
        for n, level in enumerate(LEVELS)
        for name in NAMES[: n % 3 + 1]
    ]  # fmt: skip
    folder = write_folder(tmp_path / "d", labels, statements=[Statement("A.", (), 3, "none")])
    return summarise(folder)


def grown(summary: dict[str, Any], times: int) -> dict[str, Any]:
    rows = [
        {**row, "levels": {key: n * times for key, n in row["levels"].items()}}
        for row in summary["abnormalities"]
    ]
    return {**summary, "abnormalities": rows}


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("times", [1, 12_345, 1_234_567])
def test_no_line_is_wider_than_the_terminal_and_no_name_is_broken(
    summary: dict[str, Any], width: int, times: int
) -> None:
    text = render_summary(grown(summary, times), TextPage(width))
    assert max(map(len, text.splitlines())) <= width
    if width >= 80:
        assert text.count("right_atrial_enlargement") == 3


def test_a_pipe_gets_no_escape_codes_and_a_terminal_does(summary: dict[str, Any]) -> None:
    assert "\x1b" not in render_summary(summary, TextPage())
    assert "\x1b" in render_summary(summary, TextPage(colour=True))


def test_a_terminal_without_unicode_gets_ascii(summary: dict[str, Any]) -> None:
    assert render_summary(summary, TextPage(unicode=False)).isascii()


def test_the_same_summary_gives_the_same_text(summary: dict[str, Any]) -> None:
    assert render_summary(summary, TextPage()) == render_summary(summary, TextPage())


def test_a_sum_that_does_not_hold_is_cried_out(summary: dict[str, Any]) -> None:
    flow = {**summary["flow"], "read": 999}
    text = render_summary({**summary, "flow": flow}, TextPage())
    assert "DO NOT ADD UP" in text


def test_discord_is_listed_by_study_and_cut_after_some(summary: dict[str, Any]) -> None:
    cases = [case(f"study{n}") for n in range(15)]
    with_discord = {**summary, "discord": [stated(20, 15)], "discord_cases": cases}
    text = render_summary(with_discord, TextPage(), cases=10)
    assert "study9 (0)" in text and "study10" not in text and "5 more" in text


def test_no_study_id_moves_the_cursor(summary: dict[str, Any]) -> None:
    cases = [case("s\x1b[2J")]
    with_discord = {**summary, "discord": [stated(1, 1)], "discord_cases": cases}
    assert "\x1b" not in render_summary(with_discord, TextPage())


@pytest.mark.parametrize("width", [80, 100])
def test_what_has_no_degrees_is_marked(summary: dict[str, Any], width: int) -> None:
    two_valued = ("right_atrial_enlargement",)
    text = render_summary({**summary, "two_valued": two_valued}, TextPage(width))
    assert "right_atrial_enlargement*" in text
    assert "* has no degrees: 1 means present" in text
    assert max(map(len, text.splitlines())) <= width
    assert "*" not in render_summary(summary, TextPage(width))


def test_labels_and_rejects_are_explained_where_they_differ_from_the_builds(
    summary: dict[str, Any],
) -> None:
    other = {
        **summary,
        "phases": {"baseline": summary["flow"]["labels"], "post": 7},
        "rejects": {"read: no_findings": 2, "label: conflicting_levels": 3},
        "flow": {**summary["flow"], "rejected": 2},
    }
    text = render_summary(other, TextPage(120))
    assert "beside them post 7 in labels.parquet" in text
    assert "2 rejected records, 3 single labels of kept studies" in text
    assert "beside them" not in render_summary(summary, TextPage(120))


def test_an_empty_dataset_is_shown(tmp_path: Path) -> None:
    assert "studies kept" in render_summary(summarise(write_folder(tmp_path / "e", [])), TextPage())


def test_markup_in_a_name_is_text(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "[red]d[/red]", [])
    assert "[red]" in render_summary(summarise(folder), TextPage(120))


@pytest.mark.parametrize("width", [80, 120])
def test_a_comparison_fits_the_terminal(tmp_path: Path, width: int) -> None:
    before = [Label(f"s{n}", "mitral_regurgitation", level) for n, level in enumerate(LEVELS)]
    after = [Label(f"s{n}", "mitral_regurgitation", 0) for n in range(1, len(LEVELS))]
    a, b = write_folder(tmp_path / "a", before), write_folder(tmp_path / "b", after)
    text = render_comparison(compare(a, b), TextPage(width))
    assert max(len(line) for line in text.splitlines()[3:]) <= width
    assert "A down, B across" in text


def test_equal_builds_say_so(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a", [Label("s", "mitral_regurgitation", 1)])
    assert "no label differs" in render_comparison(compare(folder, folder), TextPage())


def test_every_level_has_a_look_of_its_own() -> None:
    assert {style.level for style in LEVEL_STYLES} == set(LEVELS)
    assert len({style.colour for style in LEVEL_STYLES}) == len(LEVELS)
    assert len({style.dark_colour for style in LEVEL_STYLES}) == len(LEVELS)


@pytest.mark.parametrize("n", [0, 9, 9_999, 10_000, 999_499, 999_500, 12_345_678, 987_654_321])
def test_a_short_count_takes_five_characters_at_most(n: int) -> None:
    assert len(short_count(n)) <= 5


def test_a_rare_thing_is_not_none_and_a_common_one_not_all() -> None:
    assert (percent(1, 10**6), percent(10**6 - 1, 10**6)) == ("<0.1%", ">99.9%")
