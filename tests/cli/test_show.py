from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from clinqa.cli import main
from made_folder import Label, Statement, write_folder

TEXT = "Function is mildly reduced, EF 20%."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(
        tmp_path / "d",
        [Label("s1", "lv_systolic_function", 1, TEXT), Label("=s2", "la_cavity", 1)],
        statements=[Statement(TEXT, (("lv_systolic_function", 1),), 4)],
        data_class="restricted",
    )


def test_show_says_what_a_dataset_holds_and_no_text_of_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "studies kept" in text and "ejection fraction / lv_systolic_function" in text
    assert "mildly reduced" not in text


def test_show_json_is_one_object(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(folder), "--json", "--examples", "3"]) == 0
    text = capsys.readouterr().out
    value = json.loads(text)
    assert value["ok"] and value["counts"]["flow"]["items"] == 2
    assert value["counts"]["discord_cases"][0]["study_id"] == "s1"
    assert "mildly reduced" not in text


def test_examples_of_private_reports_come_after_a_banner(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(folder), "--examples", "1"]) == 0
    text = capsys.readouterr().out
    assert 0 < text.index("text of restricted reports") < text.index("mildly reduced")


def test_compare_writes_every_change_to_a_private_csv(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_folder(
        tmp_path / "e",
        [Label("s1", "lv_systolic_function", 3), Label("=s2", "la_cavity", 1),
         Label("=s2", "lv_cavity", 0)],
    )  # fmt: skip
    out = tmp_path / "moves.csv"
    assert main(["show", str(folder), "--compare", str(other), "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == (
        "study_id,abnormality,before,after\n"
        "'=s2,lv_cavity,,0\n"
        "s1,lv_systolic_function,1,3\n"
    )  # fmt: skip
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "2 changes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [["--out", "x.csv"], ["--compare", "d", "--plot", "x.svg"], ["--plot", "x.gif"]],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    folder: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(["show", "d", *options]) == 2


def test_a_folder_that_is_no_dataset_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_pack_name_in_the_manifest_chooses_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(
        tmp_path / "d", [Label("s1", "lv_systolic_function", 1, TEXT)], pack="../../etc"
    )
    assert main(["show", str(folder)]) == 0
    assert "no number of a known measurement" in capsys.readouterr().out


def test_propose_and_accept_from_the_command_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, pack = tmp_path / "t.tsv", tmp_path / "pack"
    assert main(["lexicon", "propose", str(folder), "--out", str(table)]) == 0
    assert "now" in capsys.readouterr().out
    table.write_text(
        table.read_text(encoding="utf-8").replace("\t1.000000\t\t", "\t1.000000\tyes\t"),
        encoding="utf-8",
    )
    assert main(["lexicon", "accept", str(table), "--pack-dir", str(pack), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["added"] == 1
    table.write_text("structure\tstatement\tlabels\nXX\tSeen by Okafor\t-\n", encoding="utf-8")
    assert main(["lexicon", "accept", str(table), "--pack-dir", str(tmp_path / "p2")]) == 2
    error = capsys.readouterr().err
    assert "t.tsv:2:" in error and "Okafor" not in error


def test_nothing_that_is_there_is_written_over(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tmp_path / "reports.csv"
    reports.write_text("id,text\n1,a\n", encoding="utf-8")
    picture = tmp_path / "mine.svg"
    picture.write_text("theirs", encoding="utf-8")
    manifest = (folder / "manifest.json").read_bytes()
    compare = ["show", str(folder), "--compare", str(folder), "--out"]
    for out in (reports, tmp_path / "moves.txt", folder / "manifest.json", folder / "x.csv"):
        assert main([*compare, str(out)]) == 2
    for out in (picture, folder / "README.svg"):
        assert main(["show", str(folder), "--plot", str(out)]) == 2
    assert reports.read_text(encoding="utf-8") == "id,text\n1,a\n"
    assert picture.read_text(encoding="utf-8") == "theirs"
    assert (folder / "manifest.json").read_bytes() == manifest
    assert main([*compare, str(tmp_path / "moves.csv")]) == 0


def test_ids_with_terminal_codes_are_written_out_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = "\x1b[31mred\x1b[0m"
    folder = write_folder(
        tmp_path / "d",
        [Label(study, "lv_systolic_function", 1, TEXT)],
        statements=[Statement(TEXT, (("lv_systolic_function", 1),), 4)],
    )
    assert main(["show", str(folder), "--examples", "3"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and said.count("\\x1b[31mred") == 2


def test_accept_says_what_nobody_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.tsv"
    row = "MV\tThe zebra leaks.\t-"
    for number, (text, said) in enumerate(
        [
            (f"structure\tstatement\tlabels\n{row}\n", "no column accept"),
            (f"structure\tstatement\tlabels\taccept\n{row}\t\n", "no row is accepted"),
        ]
    ):
        table.write_text(text, encoding="utf-8")
        pack = str(tmp_path / f"pack{number}")
        assert main(["lexicon", "accept", str(table), "--pack-dir", pack]) == 0
        assert said in capsys.readouterr().err
