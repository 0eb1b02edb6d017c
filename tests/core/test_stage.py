"""The frame of every stage: what it leaves behind, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import CheckFailed, ConfigError, PrivacyError
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.outfolder import EGRESS, MANIFEST, PARTIAL
from clinqa.core.records import DataClass, strictest
from clinqa.core.stage import Known, Made, Stage, StageResult, Workplace, run_stage


@dataclass(frozen=True)
class Options:
    dry_run: bool = False
    fresh: bool = False


def make(place: Workplace) -> Made:
    place.write("tables/one.csv", "a,b\n")
    return Made(
        counts={"rows": StageCounts(read=3, kept=2, duplicates=1)},
        rows={"tables/one.csv": 1},
        warnings=["one row was there twice"],
        details={"tables": 1},
        lines=["2 rows"],
        configuration={"seen": 3},
    )


def stage(out: Path, work: Callable[[Workplace], Made] = make, **more: Any) -> Stage:
    given: dict[str, Any] = {
        "verb": "tell",
        "holds": "these tables",
        "options": Options(),
        "data_class": DataClass.PUBLIC,
        "known": lambda: Known({"seed": 0, "device": "cpu"}, aside=frozenset({"device"})),
        "told": lambda manifest: {"kept": manifest.counts["rows"].kept},
    }
    return Stage(out=out, work=work, **{**given, **more})


def test_a_stage_is_done_once_and_then_said_to_be_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run_stage(stage(out))
    again = run_stage(stage(out, work=never))
    assert (first.counts, first.lines, first.already_done) == ({"kept": 2}, ["2 rows"], False)
    assert again.already_done and again.counts == first.counts
    assert again.lines == [f"already done: {out} holds these tables"]
    assert again.warnings == first.warnings == ["one row was there twice"]


def test_the_manifest_tells_what_was_told_what_was_made_and_what_decides(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("x")
    inputs = [FileRecord.of(source)]
    known = Known({"seed": 0, "device": "cpu"}, inputs, {"pack": "p"}, frozenset({"device"}))
    done = run_stage(stage(tmp_path / "out", known=lambda: known, seeds={"seed": 0})).manifest
    assert done == Manifest.read(tmp_path / "out" / MANIFEST)
    assert done.configuration == {"seed": 0, "device": "cpu", "seen": 3}
    assert {"seed", "pack", "verb", "clinqa", "data_class"} == set(done.identity)
    assert [record.name for record in done.inputs] == ["source.txt"]
    assert known.hashes == [inputs[0].sha256]
    assert done.outputs[0].rows == 1


def test_a_card_is_written_from_the_manifest_as_it_will_be(tmp_path: Path) -> None:
    def work(place: Workplace) -> Made:
        def describe(manifest: Manifest) -> None:
            place.write("README.md", manifest.fingerprint)

        return Made(counts={"rows": StageCounts(read=0, kept=0)}, describe=describe)

    done = run_stage(stage(tmp_path / "out", work)).manifest
    assert done is not None
    assert (tmp_path / "out" / "README.md").read_text() == done.fingerprint


def test_a_dry_run_hashes_nothing_and_makes_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = run_stage(
        stage(
            out, never, options=Options(dry_run=True), known=never, foreseen=["few rows"],
            plan=lambda: ["would read 3 rows"],
        )
    )  # fmt: skip
    assert found == StageResult({}, ["few rows"], ["would read 3 rows"])
    assert not out.exists()


def test_a_folder_whose_files_are_gone_is_not_said_to_be_done(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_stage(stage(out))
    (out / "tables" / "one.csv").unlink()
    with pytest.raises(ConfigError, match=r"tables/one\.csv is gone from it.*--fresh"):
        run_stage(stage(out))
    assert not run_stage(stage(out, options=Options(fresh=True))).already_done


@pytest.mark.parametrize("error", [ConfigError("no"), KeyboardInterrupt(), ValueError("no")])
def test_what_is_refused_leaves_no_folder(tmp_path: Path, error: BaseException) -> None:
    def work(place: Workplace) -> Made:
        place.write("half.csv", "a")
        raise error

    with pytest.raises(type(error)):
        run_stage(stage(tmp_path / "runs" / "out", work, resume=True))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigError):
        run_stage(stage(tmp_path / "out", failing))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "resume", "stays"),
    [
        (EGRESS, True, True),
        (EGRESS, False, True),
        ("journal.jsonl", True, True),
        ("journal.jsonl", False, False),
        ("checkpoint-1", True, True),
        ("checkpoint-1", False, False),
        ("prompts.jsonl", True, False),
    ],
)
def test_what_was_sent_or_paid_for_stays(
    tmp_path: Path, name: str, resume: bool, stays: bool
) -> None:
    def work(place: Workplace) -> Made:
        (place.partial / name).write_text("x")
        raise ConfigError("no more")

    out = tmp_path / "out"
    with pytest.raises(ConfigError):
        run_stage(stage(out, work, resume=resume, keeps=["checkpoint-*"]))
    assert (out / PARTIAL / name).exists() == stays


def test_an_empty_journal_is_nothing_worth_keeping(tmp_path: Path) -> None:
    def work(place: Workplace) -> Made:
        place.journal.touch()
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        run_stage(stage(tmp_path / "out", work, resume=True))
    assert not (tmp_path / "out").exists()


def test_counts_that_do_not_reconcile_end_the_run(tmp_path: Path) -> None:
    def work(place: Workplace) -> Made:
        return Made(counts={"rows": StageCounts(read=2, kept=1)})

    with pytest.raises(CheckFailed, match="rows"):
        run_stage(stage(tmp_path / "out", work))
    assert not (tmp_path / "out").exists()


def test_a_stage_that_sends_has_a_log_even_if_it_sent_nothing(tmp_path: Path) -> None:
    run_stage(stage(tmp_path / "out", sends=True))
    assert (tmp_path / "out" / EGRESS).read_bytes() == b""


def test_other_options_are_another_run(tmp_path: Path) -> None:
    run_stage(stage(tmp_path / "out"))
    with pytest.raises(ConfigError, match=r"seed \(0 there, 1 now\)"):
        run_stage(stage(tmp_path / "out", known=lambda: Known({"seed": 1})))
    told = Known({"seed": 0, "device": "cuda"}, aside=frozenset({"device"}))
    assert run_stage(stage(tmp_path / "out", known=lambda: told)).already_done


def test_a_class_may_be_raised_and_never_lowered() -> None:
    assert strictest(["public", DataClass.LICENSED]) is DataClass.LICENSED
    assert strictest(["public"], DataClass.PHI) is DataClass.PHI
    with pytest.raises(PrivacyError, match="the runs are restricted"):
        strictest(["restricted"], DataClass.PUBLIC, read="the runs are")


def failing(place: Workplace) -> Made:
    raise ConfigError("no")


def never(*_: object) -> Any:
    raise AssertionError("not to be called")
