from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError
from clinqa.packs.loader import builtin_pack
from clinqa.simulate.abnormalities import IDS
from clinqa.simulate.echo import gold_path, simulate

LEVELS = {name: one.levels for name, one in builtin_pack("echo").abnormalities.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, str]], list[Any]]:
    out = tmp_path_factory.mktemp("made") / "echo.csv"
    simulate(5_000, 7, out)
    with out.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    gold = [json.loads(line) for line in gold_path(out).open(encoding="utf-8")]
    return rows, gold


def echo_rows(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if row["CATEGORY"] == "Echo" and not row["ISERROR"]]


def test_the_file_has_the_columns_and_quotes_of_mimic_iii(tmp_path: Path) -> None:
    simulate(3, 1, tmp_path / "echo.csv")
    lines = (tmp_path / "echo.csv").read_text(encoding="utf-8").split("\n")
    assert lines[0] == (
        '"ROW_ID","SUBJECT_ID","HADM_ID","CHARTDATE","CHARTTIME","STORETIME","CATEGORY",'
        '"DESCRIPTION","CGID","ISERROR","TEXT"'
    )
    assert re.match(r'60000,\d+,\d*,"\d{4}-\d\d-\d\d",,,"Echo","Report",,,"PATIENT/TEST', lines[1])


def test_every_study_has_one_row_and_one_line_of_gold(made: Any) -> None:
    rows, gold = made
    assert len({row["ROW_ID"] for row in rows}) == len(rows)
    assert [row["ROW_ID"] for row in echo_rows(rows)] == [line["study_id"] for line in gold]
    assert [row["SUBJECT_ID"] for row in echo_rows(rows)] == [line["subject_id"] for line in gold]


def test_gold_names_only_the_abnormalities_and_levels_there_are(made: Any) -> None:
    _, gold = made
    for line in gold:
        for labels in (line["labels"], line["post"]):
            for abnormality, level in labels.items():
                assert level in (*LEVELS[abnormality], -50)


def test_every_abnormality_occurs_at_each_of_its_levels(made: Any) -> None:
    _, gold = made
    seen = Counter(item for line in gold for item in line["labels"].items())
    missing = [
        (abnormality, level)
        for abnormality in IDS
        for level in LEVELS[abnormality]
        if not seen[abnormality, level]
    ]
    assert missing == []
    assert sum(count for (_, level), count in seen.items() if level == -50) >= 20


def test_subjects_have_about_sixteen_studies_for_ten(made: Any) -> None:
    _, gold = made
    studies = Counter(line["subject_id"] for line in gold)
    assert 1.4 < len(gold) / len(studies) < 1.8
    assert max(studies.values()) >= 3


def test_about_one_report_in_thirty_has_no_findings_and_no_labels(made: Any) -> None:
    rows, gold = made
    empty = [
        line["labels"]
        for row, line in zip(echo_rows(rows), gold, strict=True)
        if re.search(r"Findings:\s*\Z", row["TEXT"], re.IGNORECASE)
    ]
    assert 0.02 < len(empty) / len(gold) < 0.045
    assert not any(empty)


def test_lines_are_wrapped_and_no_placeholder_is_broken(made: Any) -> None:
    rows, _ = made
    for row in echo_rows(rows):
        text = row["TEXT"]
        assert max(map(len, text.split("\n"))) <= 90
        for inside in re.findall(r"\[\*\*(.*?)\*\*\]", text, re.DOTALL):
            assert "\n" not in inside
        assert "{" not in text and "\x00" not in text


def test_withdrawn_reports_and_other_notes_are_there_and_have_no_gold(made: Any) -> None:
    rows, gold = made
    others = [row for row in rows if row["CATEGORY"] != "Echo" or row["ISERROR"]]
    assert {row["ISERROR"] for row in others} == {"", "1"}
    assert not {row["ROW_ID"] for row in others} & {line["study_id"] for line in gold}


def test_statements_are_many(made: Any) -> None:
    rows, _ = made
    sentences = Counter(
        sentence
        for row in echo_rows(rows)
        for sentence in re.split(r"(?<=\.)\s+", " ".join(row["TEXT"].split()))
    )
    assert len(sentences) > 5_000


def test_the_same_seed_gives_the_same_bytes_for_any_workers_and_hash_seed(tmp_path: Path) -> None:
    simulate(1_300, 5, tmp_path / "one.csv")
    simulate(1_300, 5, tmp_path / "two.csv", workers=2)
    code = (
        "import sys; from pathlib import Path; from clinqa.simulate.echo import simulate;"
        "simulate(1300, 5, Path(sys.argv[1]))"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "three.csv")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "77"},
    )
    first = (tmp_path / "one.csv").read_bytes()
    truth = gold_path(tmp_path / "one.csv").read_bytes()
    for name in ("two.csv", "three.csv"):
        assert (tmp_path / name).read_bytes() == first
        assert gold_path(tmp_path / name).read_bytes() == truth
    simulate(1_300, 6, tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_bytes() != first


def test_fewer_studies_are_the_first_of_more(tmp_path: Path) -> None:
    simulate(100, 5, tmp_path / "few.csv")
    simulate(700, 5, tmp_path / "more.csv")
    few = (tmp_path / "few.csv").read_text(encoding="utf-8")
    assert (tmp_path / "more.csv").read_text(encoding="utf-8").startswith(few)


def test_an_existing_file_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    out = tmp_path / "echo.csv"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists already"):
        simulate(2, 1, out)
    assert out.read_text(encoding="utf-8") == "mine"
    simulate(2, 1, out, overwrite=True)
    assert out.read_text(encoding="utf-8") != "mine"


def test_an_existing_gold_file_is_not_overwritten_either(tmp_path: Path) -> None:
    gold_path(tmp_path / "echo.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists already"):
        simulate(2, 1, tmp_path / "echo.csv")


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "echo.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(ConfigError, match="link"):
        simulate(2, 1, tmp_path / "echo.csv", overwrite=True)


@pytest.mark.parametrize("studies", [0, -1])
def test_no_studies_is_a_wrong_use(tmp_path: Path, studies: int) -> None:
    with pytest.raises(ConfigError, match="studies"):
        simulate(studies, 1, tmp_path / "echo.csv")


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written"):
        simulate(2, 1, tmp_path / "file" / "echo.csv")


def test_nothing_is_left_behind_and_only_the_owner_reads(tmp_path: Path) -> None:
    simulate(2, 1, tmp_path / "echo.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "echo.csv", "echo.gold.jsonl", "echo.simulated.json",
    ]  # fmt: skip
    assert (tmp_path / "echo.csv").stat().st_mode & 0o077 == 0
