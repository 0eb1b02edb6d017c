"""A build of references that was ended goes on and gives the same rows; another one is another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clinqa.builders.references import pipeline
from clinqa.builders.references.pipeline import build_references
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.core import outfolder, stage
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from made_pages import made_pdf

ENCRYPTED = (
    Path(__file__).parents[4] / "shared/data/ecg/pdf_damaged" / "encrypted_user_password.pdf"
)
TEXT = (
    "The P wave represents depolarization of the atria. The normal PR interval is 120 to 200 ms. "
    "The sinus node lies in the right atrium. The T wave is upright in lead II. Hypercalcemia "
    "shortens the QT interval. The U wave follows the T wave. The PR interval lengthens with age."
)


class Killed(BaseException):
    """As if the process had been ended there: nothing catches it and nothing tidies up."""


def rows(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }


def test_a_build_that_ended_at_any_write_goes_on_and_gives_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = made_pdf(tmp_path / "a.pdf", [TEXT, "The QRS complex is wide."])
    build_references([pdf], tmp_path / "whole")
    whole = rows(tmp_path / "whole")
    replace, fsync = os.replace, os.fsync
    left = 0

    def counted(act: Callable[..., None]) -> Callable[..., None]:
        def acting(*arguments: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            act(*arguments)

        return acting

    killed_at = 0
    for most in range(1, 400, 13):
        out = tmp_path / f"out{most}"
        left = most
        monkeypatch.setattr(os, "replace", counted(replace))
        monkeypatch.setattr(os, "fsync", counted(fsync))
        try:
            build_references([pdf], out)
        except Killed:
            killed_at += 1
        else:
            break
        finally:
            monkeypatch.setattr(os, "replace", replace)
            monkeypatch.setattr(os, "fsync", fsync)
        build_references([pdf], out)
        assert rows(out) == whole, most
        assert not (out / ".partial").exists()
    assert killed_at >= 4


def test_what_a_killed_run_left_half_written_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf, out = made_pdf(tmp_path / "a.pdf", [TEXT]), tmp_path / "out"

    def killed(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(pipeline, "write_pages", killed)
    with pytest.raises(Killed):
        build_references([pdf], out)
    monkeypatch.undo()
    partial = out / outfolder.PARTIAL
    (partial / "pages.parquet.tmp").write_bytes(b"half")
    (partial / "xml").mkdir()
    (partial / "xml" / "of-another-day.xml").write_bytes(b"<page/>")
    build_references([pdf], out)
    names = {record.name for record in Manifest.read(out / "manifest.json").outputs}
    assert not {"pages.parquet.tmp", "xml/of-another-day.xml"} & names


def test_a_file_that_changed_after_it_was_named_is_told_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf, out = made_pdf(tmp_path / "a.pdf", [TEXT]), tmp_path / "out"
    opened = stage.open_out

    def changing(*arguments: object, **options: object) -> object:
        made_pdf(pdf, ["Something else stands here now."])
        return opened(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(stage, "open_out", changing)
    build_references([pdf], out)
    counts = Manifest.read(out / "manifest.json").counts
    assert counts["documents"].rejected_by_reason == {"unreadable_file": 1}
    assert counts["pages"].read == 0


@pytest.mark.skipif(not ENCRYPTED.exists(), reason="the encrypted paper is not beside the project")
def test_the_right_password_after_a_wrong_one_is_another_build(tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "words"
    file.write_text("wrong\n")
    build_references([ENCRYPTED], out)
    wrong = build_references([ENCRYPTED], out, ReferenceOptions(password_file=file))
    assert wrong.already_done  # it opens nothing: the same documents are read
    file.write_text("wrong\necg\n")
    with pytest.raises(ConfigError, match="unlocked"):
        build_references([ENCRYPTED], out, ReferenceOptions(password_file=file))
    build_references([ENCRYPTED], out, ReferenceOptions(password_file=file, fresh=True))
    manifest = Manifest.read(out / "manifest.json")
    assert manifest.counts["pages"].kept == 4
    file.write_text("ecg\n")
    again = build_references([ENCRYPTED], out, ReferenceOptions(password_file=file))
    assert again.already_done


def test_what_folders_hold_and_is_passed_over_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    made_pdf(folder / "a.pdf", [TEXT])
    made_pdf(tmp_path / "elsewhere.pdf", [TEXT, TEXT])
    (folder / "link.pdf").symlink_to(tmp_path / "elsewhere.pdf")
    (folder / "folder.pdf").mkdir()
    os.mkfifo(folder / "pipe.pdf")
    warnings = build_references([folder], tmp_path / "out").warnings
    told = next(line for line in warnings if "passed over" in line)
    assert "no regular file 1" in told
    assert "a link that leads out of the folder 1" in told
