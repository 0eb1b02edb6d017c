from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.long_form.discord import (
    DiscordTable,
    agreeing_levels,
    discord_examples,
    find_discord,
    load_discord,
)
from made_folder import Label, write_folder

ECHO = Path(str(files("clinqa.packs"))) / "echo" / "discord.yaml"
TABLE = load_discord(ECHO)
EF = TABLE.measurements[0]
PASP = TABLE.measurements[1]


@pytest.mark.parametrize(
    ("statement", "agrees", "contradicts"),
    [
        ("Systolic function is mildly depressed (LVEF = 25 %).", 3, 1),
        ("Ejection fraction is visually estimated at 20% to\n25%.", 3, 0),
        ("EF 25 percent", 3, 0),
        ("LVEF>55%", 0, 3),
        ("EF <30%", 3, 0),
        ("The ejection fraction is 50-55%.", 1, 3),
        ("lvef 45.5%", 1, 3),
    ],
)
def test_a_number_agrees_with_some_levels(statement: str, agrees: int, contradicts: int) -> None:
    levels = agreeing_levels(EF, statement)
    assert levels is not None
    assert agrees in levels and contradicts not in levels


@pytest.mark.parametrize(
    "statement",
    [
        "Systolic function is mildly depressed.",
        "The ejection fraction is low. 25% of the images were poor.",
        "EF was 25% on the prior study.",
        "RVEF 30%",
        "DEF 25%",
        "EF 25 mmHg",
        "EF 250%",
        "LVEF 2%",
    ],
)
def test_what_states_no_measurement_is_not_judged(statement: str) -> None:
    assert agreeing_levels(EF, statement) is None


def test_a_range_agrees_with_every_level_it_touches() -> None:
    assert {0, 1} <= (agreeing_levels(EF, "EF 45-60%") or set())


def test_high_pressure_with_a_normal_word_is_discord() -> None:
    levels = agreeing_levels(PASP, "PA systolic pressure is estimated at 65 mm Hg")
    assert levels is not None and 0 not in levels and 3 in levels


def discordant(folder: Path) -> Dataset:
    text = "Function is mildly reduced, EF 25%."
    made = write_folder(
        folder,
        [
            Label("s1", "lv_systolic_function", 1, text),
            Label("s2", "lv_systolic_function", 3, text),
            Label("s3", "lv_systolic_function", 0, "Normal function."),
            Label("s3", "lv_cavity", 2, "Dilated, with an EF of 20 %."),
            Label("s4", "lv_systolic_function", -50, text),
            Label("s5", "lv_systolic_function", 1, text, phase="post"),
            Label("s6", "lv_systolic_function", 0, "Normal function."),
        ],
        data_class="restricted",
    )
    return open_dataset(made)


def test_studies_are_counted_also_where_the_number_stands_in_another_statement(
    tmp_path: Path,
) -> None:
    rows, cases = find_discord(discordant(tmp_path / "d"), TABLE)
    assert [(r["stated"], r["discord"], r["same_statement"]) for r in rows] == [(3, 2, 1)]
    assert [(c["study_id"], c["level"], c["same_statement"]) for c in cases] == [
        ("s1", 1, True),
        ("s3", 0, False),
    ]


def test_only_examples_hold_text(tmp_path: Path) -> None:
    folder = discordant(tmp_path / "d")
    assert "reduced" not in repr(find_discord(folder, TABLE))
    assert len(discord_examples(folder, TABLE, 1)) == 1
    assert "reduced" in discord_examples(folder, TABLE, 5)[0][3]


def test_the_engine_takes_any_measurement_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "discord.yaml"
    path.write_text(
        "measurements:\n"
        "  - name: nodule size\n"
        "    abnormality: thyroid_nodule\n"
        "    phrases: [nodule measures]\n"
        "    units: [mm]\n"
        "    plausible: [1, 100]\n"
        "    bands:\n"
        "      - {from: 1, levels: [1]}\n"
        "      - {from: 20, levels: [2, 3]}\n",
        encoding="utf-8",
    )
    folder = write_folder(
        tmp_path / "d", [Label("s1", "thyroid_nodule", 1, "The nodule measures 35 mm.")]
    )
    rows, _ = find_discord(open_dataset(folder), load_discord(path))
    assert [(row["measurement"], row["discord"]) for row in rows] == [("nodule size", 1)]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("levels: [1]", "levels: [9]", 8),
        ("from: 20", "from: 1", 2),
        ("units: [mm]", "unit: [mm]", 5),
        ("plausible: [1, 100]", "plausible: [", 7),
    ],
)
def test_a_mistake_in_a_table_is_an_error_with_its_line(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    good = (
        "measurements:\n"
        "  - name: nodule size\n"
        "    abnormality: thyroid_nodule\n"
        "    phrases: [nodule measures]\n"
        "    units: [mm]\n"
        "    plausible: [1, 100]\n"
        "    bands:\n"
        "      - {from: 1, levels: [1]}\n"
        "      - {from: 20, levels: [2, 3]}\n"
    )
    path = tmp_path / "discord.yaml"
    path.write_text(good.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_discord(path)
    said = int(str(caught.value).removeprefix(str(path)).split(":")[1])
    assert abs(said - line) <= 1


def test_an_empty_table_finds_nothing(tmp_path: Path) -> None:
    assert find_discord(discordant(tmp_path / "d"), DiscordTable(measurements=[])) == ([], [])
