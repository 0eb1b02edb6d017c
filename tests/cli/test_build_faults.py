"""Faulty inputs and output folders: an error of one line, or a counted reject."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from clinqa.cli.command_line import run
from clinqa.packs.loader import pack_folder
from made_notes import Note, write_csv

GOOD: list[Note] = [
    (f"s{i}", f"p{i}", f"MITRAL VALVE: {how} MR. No MS.")
    for i, how in enumerate(["Mild", "Moderate", "Severe", "No"])
]


class Built:
    """A build through the command line, and what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> dict[str, Any]:
        exit_code = run(["build", "echo", *map(str, arguments), "--json", "--engine", "python"])
        captured = self._capsys.readouterr()
        said: dict[str, Any] = json.loads(captured.out.splitlines()[-1])
        assert said["exit"] == exit_code
        assert "Traceback" not in captured.err
        assert "unforeseen" not in captured.err
        for word in ("MR", "MITRAL"):  # never text of a report
            assert word not in captured.err and word not in captured.out
        return said


@pytest.fixture
def built(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Built:
    monkeypatch.setenv("CLINQA_DEBUG", "")
    return Built(capsys)


def rejects(out: Path) -> dict[str, int]:
    reasons = pq.read_table(out / "rejects.parquet")["reason"].to_pylist()
    return {reason: reasons.count(reason) for reason in sorted(set(reasons))}


def test_invalid_utf8_is_replaced_and_warned_of(tmp_path: Path, built: Built) -> None:
    path = write_csv(tmp_path / "r.csv", [*GOOD, ("bad", "p", "AORTIC VALVE: Mild AS, caf@.")])
    path.write_bytes(path.read_bytes().replace(b"@", b"\xe9"))
    said = built(path, "--out", tmp_path / "d")
    assert said["ok"] and said["counts"]["kept"] == 5
    assert any("UTF-8" in text for text in said["warnings"])
    assert run(["verify", str(tmp_path / "d"), "--source", str(path)]) == 0


def test_nul_characters_are_carried_along(tmp_path: Path, built: Built) -> None:
    path = write_csv(tmp_path / "r.csv", [*GOOD, ("nul", "p", "AORTIC VALVE: Mild\0 AS. No AR.\0")])
    assert built(path, "--out", tmp_path / "d")["counts"]["kept"] == 5
    assert run(["verify", str(tmp_path / "d"), "--source", str(path)]) == 0


def test_empty_notes_and_notes_without_findings_are_rejects(tmp_path: Path, built: Built) -> None:
    notes: list[Note] = [
        *GOOD,
        ("e", "p", ""),
        ("b", "p", " \n "),
        ("n", "p", "FINDINGS:\n"),
        ("i", "p", "INDICATION: Severe MR."),
    ]
    said = built(write_csv(tmp_path / "r.csv", notes), "--out", tmp_path / "d")
    assert said["counts"]["rejected"] == 4 and said["counts"]["kept"] == 4
    assert rejects(tmp_path / "d") == {"empty_text": 2, "no_findings": 2}


def test_a_note_of_5_mb_is_rejected_or_read_as_asked(tmp_path: Path, built: Built) -> None:
    long = "MITRAL VALVE: Mild MR. " + "The patient was in good spirits. " * 160_000
    path = write_csv(tmp_path / "r.csv", [*GOOD, ("long", "p", long)])
    said = built(path, "--out", tmp_path / "d")
    assert rejects(tmp_path / "d") == {"text_too_long": 1} and said["counts"]["kept"] == 4
    said = built(path, "--out", tmp_path / "e", "--max-chars", 9_000_000)
    assert said["counts"]["kept"] == 5


def test_conflicting_study_ids_are_all_rejected(tmp_path: Path, built: Built) -> None:
    notes: list[Note] = [*GOOD, ("s0", "p0", "MITRAL VALVE: Severe MR."), GOOD[1]]
    said = built(write_csv(tmp_path / "r.csv", notes), "--out", tmp_path / "d")
    counts = said["counts"]
    assert (counts["rejected"], counts["duplicates"], counts["kept"]) == (2, 1, 3)
    assert rejects(tmp_path / "d") == {"conflicting_study_id": 2}


def test_missing_columns_are_listed_with_the_flags(tmp_path: Path, built: Built) -> None:
    (tmp_path / "r.csv").write_text("alpha,beta\n1,Mild MR.\n", encoding="utf-8")
    said = built(tmp_path / "r.csv", "--out", tmp_path / "d")
    assert said["exit"] == 3
    for word in ("alpha", "beta", "--text-col"):
        assert word in said["error"]
    assert not (tmp_path / "d").exists()


def test_an_input_that_is_not_there_is_named(tmp_path: Path, built: Built) -> None:
    said = built(tmp_path / "none.csv", "--out", tmp_path / "d")
    assert said["exit"] == 3 and "none.csv" in said["error"]


def test_a_broken_file_in_a_folder_is_a_reject_and_named_in_warning_and_card(
    tmp_path: Path, built: Built
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "odd.csv").write_text("alpha,beta\n1,Mild MR.\n", encoding="utf-8")
    write_csv(tmp_path / "in" / "r.csv", GOOD)
    said = built(tmp_path / "in", "--out", tmp_path / "d")
    assert said["ok"] and rejects(tmp_path / "d") == {"broken_file": 1}
    assert any(
        "1 file could not be read" in text and "odd.csv" in text for text in said["warnings"]
    )
    assert "odd.csv" in (tmp_path / "d" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["typo.csv", "typo.txt", "empty.csv", "odd.csv"])
@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_a_named_input_that_cannot_be_read_stops_the_build_before_it_writes(
    tmp_path: Path, built: Built, name: str, flags: tuple[str, ...]
) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "odd.csv").write_text("alpha,beta\n1,Mild MR.\n", encoding="utf-8")
    good = write_csv(tmp_path / "r.csv", GOOD)
    said = built(good, tmp_path / name, "--out", tmp_path / "d", *flags)
    assert said["exit"] == 3 and name in said["error"]
    assert not (tmp_path / "d").exists()


def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path, built: Built) -> None:
    (tmp_path / "in").mkdir()
    write_csv(tmp_path / "in" / "r.csv", GOOD)
    os.mkfifo(tmp_path / "in" / "f.txt")
    said = built(tmp_path / "in", "--out", tmp_path / "d")
    assert said["ok"] and said["counts"]["read"] == 4
    assert any("no regular file" in text and "f.txt" in text for text in said["warnings"])


def test_an_output_folder_inside_the_input_folder_is_no_input(tmp_path: Path, built: Built) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_csv(folder / "r.csv", GOOD)
    first = built(folder, "--out", folder / "d")
    again = built(folder, "--out", folder / "d")
    assert first["ok"] and again["ok"] and again["counts"] == first["counts"]
    assert first["warnings"] == again["warnings"] == []
    said = built(folder, "--out", folder / "e", "--seed", 1)
    assert said["ok"] and said["counts"]["rejected"] == 0
    assert said["warnings"] == ["in: 1 not read (made by clinqa: no reports): d"]
    assert run(["verify", str(folder / "d"), "--source", str(folder)]) == 0
    assert built(folder / "d", "--out", tmp_path / "x")["exit"] == 3


def test_one_column_in_two_roles_is_a_usage_error(tmp_path: Path, built: Built) -> None:
    (tmp_path / "r.csv").write_text("text\nMITRAL VALVE: Mild MR.\n", encoding="utf-8")
    said = built(
        tmp_path / "r.csv", "--out", tmp_path / "d", "--text-col", "text", "--study-col", "text"
    )
    assert said["exit"] == 2 and "cannot be both" in said["error"]
    assert not (tmp_path / "d").exists()


def test_a_mistake_in_the_packs_measurements_is_told_by_the_build(
    tmp_path: Path, built: Built
) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    pack = Path(shutil.copytree(pack_folder("echo"), tmp_path / "pack"))
    table = (pack / "discord.yaml").read_text(encoding="utf-8")
    for wrong in ("[", table.replace("lv_systolic_function", "lv_systole")):
        (pack / "discord.yaml").write_text(wrong, encoding="utf-8")
        said = built(path, "--out", tmp_path / "d", "--pack-dir", pack)
        assert said["exit"] == 2 and "discord.yaml" in said["error"]
    assert not (tmp_path / "d").exists()
    (pack / "discord.yaml").unlink()
    (pack / "lexicon.tsv").unlink()
    said = built(path, "--out", tmp_path / "d", "--pack-dir", pack)
    assert said["ok"] and any("no lexicon" in text for text in said["warnings"])


def test_a_share_of_questions_that_are_not_asked_is_a_usage_error(
    tmp_path: Path, built: Built
) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    said = built(path, "--out", tmp_path / "d", "--unmentioned-share", "0.2")
    assert said["exit"] == 2 and "--questions full" in said["error"]


def test_a_truncated_gzip_gives_what_can_be_read(tmp_path: Path, built: Built) -> None:
    notes: list[Note] = [
        (f"s{i}", f"p{i}", f"MITRAL VALVE: Mild MR. {os.urandom(30).hex()}") for i in range(200)
    ]
    body = gzip.compress(write_csv(tmp_path / "r.csv", notes).read_bytes())
    (tmp_path / "r.csv.gz").write_bytes(body[: len(body) // 2])
    said = built(tmp_path / "r.csv.gz", "--out", tmp_path / "d")
    assert said["ok"] and 0 < said["counts"]["kept"] < 200
    assert any("r.csv.gz: gzip file ends early" in text for text in said["warnings"])
    assert rejects(tmp_path / "d") == {"broken_file": 1}
    (tmp_path / "short.csv.gz").write_bytes(body[:12])
    said = built(tmp_path / "short.csv.gz", "--out", tmp_path / "e")
    assert said["exit"] == 3 and not (tmp_path / "e").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, built: Built) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    said = built(write_csv(tmp_path / "r.csv", GOOD), "--out", locked / "d")
    assert said["exit"] == 2 and "not writable" in said["error"]


def test_an_out_that_cannot_be_made_is_named(tmp_path: Path, built: Built) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file" / "d"):
        said = built(path, "--out", out)
        assert said["exit"] == 2 and str(out) in said["error"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"


def test_a_foreign_folder_is_left_alone(tmp_path: Path, built: Built) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("x", encoding="utf-8")
    for flags in ((), ("--fresh",)):
        said = built(path, "--out", tmp_path / "theirs", *flags)
        assert said["exit"] == 2 and "thesis.txt" in said["error"]
    assert [p.name for p in (tmp_path / "theirs").iterdir()] == ["thesis.txt"]


def test_a_symlink_in_the_way_is_refused(tmp_path: Path, built: Built) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for out in (tmp_path / "link", tmp_path / "link" / "d"):
        said = built(path, "--out", out)
        assert said["exit"] == 2 and "symlink" in said["error"]
    assert list((tmp_path / "real").iterdir()) == []


def test_nothing_that_labels_gives_an_empty_dataset_that_checks_and_ends_with_3(
    tmp_path: Path, built: Built
) -> None:
    path = write_csv(tmp_path / "r.csv", [("s", "p", "Nothing to see.")])
    said = built(path, "--out", tmp_path / "d")
    assert said["exit"] == 3 and said["counts"]["items"] == 0
    assert "a dataset without an item" in said["error"]
    assert any("is empty; rejects.parquet" in text for text in said["warnings"])
    (tmp_path / "h.csv").write_text("id,text\n", encoding="utf-8")
    said = built(tmp_path / "h.csv", "--out", tmp_path / "h")
    assert any("the input holds no report" in text for text in said["warnings"])
    assert said["exit"] == 3
    assert (
        built(tmp_path / "h.csv", "--out", tmp_path / "h")["exit"] == 3
    )  # already done, and as empty
    assert run(["verify", str(tmp_path / "d"), "--source", str(path)]) == 0


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--pack-dir", "nowhere"), ("--unmentioned-share", "1"), ("--workers", "0")],
)
def test_a_wrong_option_is_a_usage_error(
    tmp_path: Path, built: Built, flag: str, value: str
) -> None:
    path = write_csv(tmp_path / "r.csv", GOOD)
    said = built(path, "--out", tmp_path / "d", "--questions", "full", flag, value)
    assert said["exit"] == 2
    assert not (tmp_path / "d").exists()


def test_an_interrupted_build_ends_with_130_and_can_be_run_again(tmp_path: Path) -> None:
    code = """
import signal, os, sys
from clinqa.cli.command_line import run
from clinqa.builders.reports import batches
real = batches.BatchBuilder.finish
def interrupted(self, batch):
    os.kill(os.getpid(), signal.SIGINT)
    return real(self, batch)
batches.BatchBuilder.finish = interrupted
sys.exit(run(sys.argv[1:]))
"""
    path = write_csv(tmp_path / "r.csv", GOOD)
    arguments = ["build", "echo", str(path), "--out", str(tmp_path / "d"), "--engine", "python"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert run(arguments) == 0
