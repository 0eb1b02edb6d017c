"""Which errors are dangers: the table of the pack, cell by cell, and the names people know."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout
from clinqa.kinds.long_form.answer_words import words_fingerprint
from clinqa.kinds.long_form.clinical import ClinicalScorer
from clinqa.kinds.long_form.consequences import DANGERS, OTHER, Consequences, consequences_of
from clinqa.kinds.long_form.metric_names import DANGER_KINDS
from clinqa.packs.loader import Pack, builtin_pack, load_pack

LEVELS: tuple[int | None, ...] = (-3, 0, -2, 1, 2, 3, -1, None)
BINARY = ("right_atrial_enlargement", "rv_volume_overload", "rv_pressure_overload")


def table() -> Consequences:
    return consequences_of(builtin_pack("echo"))


def wanted(level: int | None, said: int | None) -> bool:
    """The dangers as they were asked for, in words of their own."""
    if level in (2, 3, -2) and said in (0, -3, None):
        return True
    if level == 3 and said in (2, 1, 0):
        return True
    if level == 0 and said in (2, 3, -2):
        return True
    if (level, said) == (1, 3):
        return True
    if (level == -1 and said in (2, 3)) or (said == -1 and level in (2, 3)):
        return True
    if level == -3 and said not in (-3, None):
        return True
    return level is None and said in (-2, -1, 1, 2, 3)


@pytest.mark.parametrize(("level", "said"), list(product(LEVELS, LEVELS)))
def test_every_cell_of_the_table_is_as_it_was_decided(level: int | None, said: int | None) -> None:
    danger = table().danger("mitral_regurgitation", level, said)
    assert danger == wanted(level, said)
    named = table().dangers("mitral_regurgitation", level, [said])
    assert bool(named) == danger and OTHER not in named


@pytest.mark.parametrize("name", BINARY)
def test_what_is_only_present_or_not_has_cells_of_its_own(name: str) -> None:
    for said in (0, -3, None):
        assert table().danger(name, 1, said) and not table().danger("lv_wall", 1, said)
    assert table().danger(name, 0, 1) and not table().danger("lv_wall", 0, 1)
    assert set(BINARY) == {n for n, a in builtin_pack("echo").abnormalities.items() if a.binary}


def test_an_answer_that_leaves_levels_open_is_a_danger_where_all_of_them_are() -> None:
    assert table().dangers("mitral_stenosis", 3, [0, 1, 2]) == ("severe_as_moderate",)
    assert table().dangers("mitral_stenosis", 2, [0, 1]) == ()
    assert table().dangers("mitral_stenosis", 0, [2, 3]) == ("swapped", "normal_as_abnormal")
    assert table().dangers("mitral_stenosis", 3, []) == ()


def test_every_danger_has_words_and_the_words_have_a_danger() -> None:
    told = {one.key.removeprefix("error_dangerous_") for one in DANGER_KINDS}
    assert told == set(DANGERS) - {"swapped"}


def test_an_item_can_run_into_what_a_wrong_answer_to_its_question_could_be() -> None:
    scorer = ClinicalScorer(AnswerReader(builtin_pack("echo")))
    mr = AskedAbout("mitral_regurgitation", "MV", "finding")
    lv = AskedAbout("lv_systolic_function", "LV", "finding")
    assert "low_swapped" in scorer.at_risk(lv, 2) and "low_swapped" not in scorer.at_risk(mr, 2)
    assert scorer.at_risk(mr, 1) == ("mild_as_severe",)
    presence = AskedAbout("mitral_regurgitation", "MV", "presence")
    assert scorer.at_risk(presence, 1) == ()
    assert "severe_as_moderate" not in scorer.at_risk(presence, 3)
    adequacy = AskedAbout("mitral_regurgitation", "MV", "adequacy")
    assert scorer.at_risk(adequacy, 3) == ("severe_unseen",)
    assert scorer.at_risk(adequacy, -3) == ("inadequate_as_seen",)
    assert scorer.at_risk(adequacy, 0) == ()


def changed(tmp_path: Path, old: str, new: str) -> Pack:
    """The pack with other words in its table."""
    folder = tmp_path / "pack"
    shutil.copytree(builtin_pack("echo").folder, folder)
    path = folder / "consequences.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return load_pack(folder)


def test_another_table_judges_otherwise_and_says_so_in_signatures(tmp_path: Path) -> None:
    own = builtin_pack("echo")
    pack = changed(
        tmp_path,
        "1:    [error, error, error, right, error",
        "1:    [error, danger, error, right, danger",
    )
    scorer = ClinicalScorer(AnswerReader(pack))
    mr = AskedAbout("mitral_regurgitation", "MV", "finding")
    # a cell that nobody named is a danger all the same
    assert scorer.judge(mr, 1, "Mild MR.", "No MR.").dangers[:1] == ("swapped",)
    assert scorer.judge(mr, 1, "Mild MR.", "Moderate MR.").dangers == (OTHER,)
    assert words_fingerprint(pack) != words_fingerprint(own)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-3:   [right, danger", "-3:   [danger, right", "own level"),
        ("danger, danger, right, error]", "danger, danger, right]", "a cell for each"),
        ("1: {-3: danger", "1: {-3: harmful", "consequences.yaml"),
        ("rv_volume_overload, ", "rv_volume, ", "unknown abnormality 'rv_volume'"),
        ("columns: [-3, 0,", "columns: [0, 0,", "once"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        consequences_of(changed(tmp_path, old, new))


def test_a_pack_without_a_table_is_refused_since_nothing_would_be_a_danger(tmp_path: Path) -> None:
    pack = changed(tmp_path, "columns", "columns")
    (pack.folder / "consequences.yaml").unlink()
    with pytest.raises(ConfigError, match=r"consequences\.yaml: no such file"):
        consequences_of(pack)
