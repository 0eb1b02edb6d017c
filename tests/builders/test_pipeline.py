"""From files to a dataset folder: life cycle, options, what stands in manifest and card."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clinqa.builders.reports.pipeline import build_reports
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.records import DataClass
from clinqa.dataset.verify import verify
from clinqa.simulate.echo import simulate
from made_notes import THYROID, Note, rows_of, write_csv

NOTES: list[Note] = [
    (f"s{i}", f"p{i // 2}", f"MITRAL VALVE: {how} MR. No MS.\n\nAORTIC VALVE: {how} AS.")
    for i, how in enumerate(["Mild", "Moderate", "Severe", "No", "Trace", "Mild"] * 4)
]
PYTHON = BuildOptions(engine="python")


def options(**changes: Any) -> BuildOptions:
    return BuildOptions(**{"engine": "python", **changes})


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "reports.csv", NOTES)


def items_of(folder: Path) -> list[dict[str, Any]]:
    rows = rows_of(folder)
    return [row for split in ("train", "validation", "test") for row in rows[split]]


def test_a_build_checks_against_its_source_and_itself(reports: Path, tmp_path: Path) -> None:
    result = build_reports([reports], tmp_path / "d", PYTHON)
    assert verify(tmp_path / "d", [reports]) == []
    assert result.counts["read"] == result.counts["kept"] == len(NOTES)
    assert result.counts["items"] == len(items_of(tmp_path / "d")) > 0
    assert result.warnings == []


def test_restricted_files_are_for_their_owner_alone(reports: Path, tmp_path: Path) -> None:
    build_reports([reports], tmp_path / "r", PYTHON)
    build_reports([reports], tmp_path / "p", options(data_class=DataClass.PUBLIC))
    modes = {
        name: {
            stat.S_IMODE(path.stat().st_mode) & 0o077
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in "rp"
    }
    assert modes["r"] == {0}
    assert modes["p"] != {0}
    assert Manifest.read(tmp_path / "p" / "manifest.json").data_class == "public"
    assert "RESTRICTED" in (tmp_path / "r" / "README.md").read_text(encoding="utf-8")


def test_the_same_build_is_already_done_with_any_workers_and_engine(
    reports: Path, tmp_path: Path
) -> None:
    first = build_reports([reports], tmp_path / "d", PYTHON)
    written = (tmp_path / "d" / "manifest.json").read_bytes()
    again = build_reports([reports], tmp_path / "d", options(workers=2, engine="auto"))
    assert again.already_done and again.counts == first.counts
    assert (tmp_path / "d" / "manifest.json").read_bytes() == written


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"profile": "strict"}, "profile"),
        ({"questions": "full"}, "questions"),
        ({"context": "section"}, "context"),
        ({"seed": 1}, "seed"),
        ({"limit": 3}, "limit"),
        ({"sample_subjects": 3}, "sample_subjects"),
        ({"data_class": DataClass.PUBLIC}, "data_class"),
        ({"pack_dir": THYROID}, "pack_fingerprint"),
    ],
)
def test_another_build_is_refused_by_name_and_fresh_replaces_it(
    reports: Path, tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    build_reports([reports], tmp_path / "d", PYTHON)
    with pytest.raises(ConfigError, match=named):
        build_reports([reports], tmp_path / "d", options(**changes))
    assert verify(tmp_path / "d", [reports]) == []
    build_reports([reports], tmp_path / "d", options(**changes, fresh=True))
    assert verify(tmp_path / "d", [reports]) == []


def test_a_changed_input_is_another_build_and_a_moved_one_is_not(
    reports: Path, tmp_path: Path
) -> None:
    build_reports([reports], tmp_path / "d", PYTHON)
    moved = reports.rename(tmp_path / "moved.csv")
    assert build_reports([moved], tmp_path / "d", PYTHON).already_done
    write_csv(moved, NOTES[1:])
    with pytest.raises(ConfigError, match="inputs"):
        build_reports([moved], tmp_path / "d", PYTHON)


def test_a_dry_run_says_what_and_writes_nothing(reports: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    result = build_reports([reports], tmp_path / "d", options(dry_run=True))
    assert sorted(tmp_path.iterdir()) == before
    text = "\n".join(result.lines)
    for word in ("reports.csv", "subject_id", "restricted", "nothing anywhere"):
        assert word in text


def test_the_manifest_says_how_and_from_what(reports: Path, tmp_path: Path) -> None:
    build_reports([reports], tmp_path / "d", options(limit=10, questions="full", seed=4))
    said = json.loads((tmp_path / "d" / "manifest.json").read_text(encoding="utf-8"))
    assert said["configuration"] == {
        "pack": "echo",
        "profile": "default",
        "questions": "full",
        "context": "findings",
        "unmentioned_share": 0.1,
        "sample_subjects": None,
        "limit": 10,
        "max_chars": 2_000_000,
        "text_col": None,
        "subject_col": None,
        "study_col": None,
        "seed": 4,
    }
    assert said["inputs"][0]["name"] == "reports.csv"
    assert str(tmp_path) not in json.dumps(said["identity"])
    assert said["counts"]["studies"]["kept"] == 10
    assert set(said["details"]["identifier_screen"]) >= {"date", "name", "telephone"}


def test_the_card_and_errors_hold_no_text_of_a_report(reports: Path, tmp_path: Path) -> None:
    build_reports([reports], tmp_path / "d", PYTHON)
    for name in ("README.md", "croissant.json", "manifest.json"):
        text = (tmp_path / "d" / name).read_text(encoding="utf-8")
        assert "Moderate MR" not in text and "MITRAL VALVE" not in text


def test_a_sample_of_subjects_keeps_their_studies_whole(reports: Path, tmp_path: Path) -> None:
    result = build_reports([reports], tmp_path / "d", options(sample_subjects=5))
    assert result.counts["kept"] == 10 and result.counts["out_of_scope"] == 14
    assert len({row["group"] for row in items_of(tmp_path / "d")}) == 5


def test_splits_are_cut_at_seventy_and_eighty_percent_of_patients(
    reports: Path, tmp_path: Path
) -> None:
    build_reports([reports], tmp_path / "d", PYTHON)
    rows = rows_of(tmp_path / "d")
    groups = {s: {r["group"] for r in rows[s]} for s in ("train", "validation", "test")}
    assert [len(groups[split]) for split in groups] == [8, 1, 3]


def test_no_subject_column_is_a_warning_and_the_study_the_group(tmp_path: Path) -> None:
    reports = write_csv(tmp_path / "r.csv", NOTES, subjects=False)
    result = build_reports([reports], tmp_path / "d", PYTHON)
    assert any("no patient column" in text for text in result.warnings)
    assert {row["group"] == row["source_id"] for row in items_of(tmp_path / "d")} == {True}
    assert "names no patient" in (tmp_path / "d" / "README.md").read_text(encoding="utf-8")


def test_warnings_name_bad_bytes_identifiers_and_the_published_profile(tmp_path: Path) -> None:
    reports = write_csv(
        tmp_path / "r.csv", [("s", "p", "MITRAL VALVE: Mild MR, call 617-555-0100. caf@ bar.")]
    )
    reports.write_bytes(reports.read_bytes().replace(b"@", b"\xe9"))
    result = build_reports([reports], tmp_path / "d", options(profile="published"))
    said = "\n".join(result.warnings)
    for word in ("UTF-8", "telephone 1", "published"):
        assert word in said
    assert "617" not in said
    assert verify(tmp_path / "d", [reports]) == []


def test_statements_too_long_to_be_read_are_counted_whoever_reads_them(tmp_path: Path) -> None:
    endless = "MITRAL VALVE: Mild MR. No MS.\n\nAORTIC VALVE: " + "calcified, " * 400
    notes: list[Note] = [(f"l{i}", f"p{i}", endless) for i in range(6)]
    reports = write_csv(tmp_path / "r.csv", [*NOTES, *notes])
    for workers in (1, 2):
        out = tmp_path / f"d{workers}"
        result = build_reports([reports], out, options(workers=workers, batch_rows=10))
        (warning,) = [text for text in result.warnings if "4,000 characters" in text]
        assert warning.startswith("6 statements")
        manifest = Manifest.read(out / "manifest.json")
        assert manifest.details["statements_too_long"] == 6
        assert "4,000 characters" in (out / "README.md").read_text(encoding="utf-8")


def test_the_card_says_how_the_text_is_read(reports: Path, tmp_path: Path) -> None:
    build_reports([reports], tmp_path / "d", PYTHON)
    card = (tmp_path / "d" / "README.md").read_text(encoding="utf-8")
    for said in (
        "Trace, trivial, minimal and physiologic regurgitation count as none",
        "Numbers alone give no level",
        "| 1 | mild; present, where there are no degrees |",
        "never mild: `right_atrial_enlargement`, `rv_volume_overload`, `rv_pressure_overload`.",
        "70 / 10 / 20 % of the patients",
        "| `kind` |",
        "Always true within train",
    ):
        assert said in card
    details = Manifest.read(tmp_path / "d" / "manifest.json").details
    assert "right_atrial_enlargement" in details["two_valued"]
    build_reports([reports], tmp_path / "t", options(pack_dir=THYROID))
    assert "How the text is read" not in (tmp_path / "t" / "README.md").read_text("utf-8")


def test_a_report_that_is_only_normal_is_rejected_and_the_card_says_why(tmp_path: Path) -> None:
    reports = write_csv(tmp_path / "r.csv", [*NOTES, ("n", "q", "Normal study.")])
    build_reports([reports], tmp_path / "d", PYTHON)
    assert [row["reason"] for row in rows_of(tmp_path / "d")["rejects"]] == ["no_findings"]
    card = (tmp_path / "d" / "README.md").read_text(encoding="utf-8")
    assert "no statement names one of the abnormalities" in card


def test_the_share_of_unmentioned_questions_is_what_was_asked_for(tmp_path: Path) -> None:
    simulate(200, 3, tmp_path / "r.csv")
    for share in (0.04, 0.08):
        out = tmp_path / f"d{share}"
        result = build_reports(
            [tmp_path / "r.csv"], out, options(questions="full", unmentioned_share=share)
        )
        kinds = [row["question_type"] for row in items_of(out)]
        assert kinds.count("unmentioned") == pytest.approx(share * len(kinds), abs=1)
        assert verify(out, [tmp_path / "r.csv"]) == [] and result.warnings == []
    result = build_reports(
        [tmp_path / "r.csv"], tmp_path / "all", options(questions="full", unmentioned_share=0.9)
    )
    assert any("no more unsaid" in text for text in result.warnings)


def test_blocks_of_a_note_check_against_its_text(tmp_path: Path) -> None:
    note = (
        "Chief Complaint:\ncough\n\nPertinent Results:\nTTE ___:\nMITRAL VALVE: Mild MR.\n\n"
        "CXR: clear.\n\nTEE ___:\nMITRAL VALVE: Severe MR.\n\nBrief Hospital Course:\nfine\n"
    )
    reports = write_csv(tmp_path / "r.csv", [("n", "p", note), *NOTES])
    build_reports([reports], tmp_path / "d", PYTHON)
    assert {"n#1", "n#2"} <= {row["source_id"] for row in items_of(tmp_path / "d")}
    assert verify(tmp_path / "d", [reports]) == []


def test_tables_and_folders_of_text_are_read_together(tmp_path: Path) -> None:
    texts = tmp_path / "notes"
    (texts / "deep").mkdir(parents=True)
    (texts / "deep" / "a.txt").write_text("Mild MR.", encoding="utf-8")
    (texts / "b.txt").write_text("Severe AS.", encoding="utf-8")
    reports = write_csv(tmp_path / "r.csv", NOTES)
    build_reports([reports, texts], tmp_path / "d", PYTHON)
    assert {"deep/a", "b", "s0"} <= {row["source_id"] for row in items_of(tmp_path / "d")}
    assert build_reports([texts, reports], tmp_path / "d", PYTHON).already_done
    (texts / "b.txt").rename(texts / "c.txt")
    with pytest.raises(ConfigError, match=r"different: notes \(changed"):
        build_reports([texts, reports], tmp_path / "d", PYTHON)


CHILD = """
import os, signal, sys
from pathlib import Path
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.pipeline import build_reports

left = int(sys.argv[3])

def progress(stage, done, total=None, *, fraction=None):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

options = BuildOptions(engine="python", batch_rows=20)
build_reports([Path(sys.argv[1])], Path(sys.argv[2]), options, progress)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("undisturbed")
    simulate(160, 8, folder / "r.csv")
    build_reports([folder / "r.csv"], folder / "d", PYTHON)
    return folder / "r.csv", folder / "d"


def start(reports: Path, out: Path, calls: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(reports), str(out), str(calls)])


@pytest.mark.parametrize("calls", [1, 2, 6, 10, 11])
def test_a_kill_at_any_stage_and_a_second_run_give_the_same_rows(
    undisturbed: tuple[Path, Path], tmp_path: Path, calls: int
) -> None:
    reports, expected = undisturbed
    assert start(reports, tmp_path / "d", calls).wait() == -signal.SIGKILL
    assert not (tmp_path / "d" / "manifest.json").exists()
    build_reports([reports], tmp_path / "d", PYTHON)
    assert rows_of(tmp_path / "d") == rows_of(expected)
    assert verify(tmp_path / "d", [reports]) == []


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.4 + 0.1 * n for n in range(20)])
def test_a_kill_at_any_moment_and_a_second_run_give_the_same_rows(
    undisturbed: tuple[Path, Path], tmp_path: Path, delay: float
) -> None:
    reports, expected = undisturbed
    child = start(reports, tmp_path / "d", 0)
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    build_reports([reports], tmp_path / "d", PYTHON)
    assert rows_of(tmp_path / "d") == rows_of(expected)
    assert verify(tmp_path / "d", [reports]) == []
