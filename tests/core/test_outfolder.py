"""The output folder: start, resume, done, or a refusal that says why."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from clinqa.core import outfolder
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import MANIFEST, OutFolder, is_ours, open_out

IDENTITY = {"seed": 1, "pack": "echo", "inputs": [{"sha256": "ab"}]}


def manifest() -> Manifest:
    return Manifest(verb="build", data_class="public", identity={}, clinqa="0")


def fill(out: OutFolder) -> Manifest:
    (out.partial / "data").mkdir()
    (out.partial / "data/one.txt").write_text("1")
    (out.partial / "two.txt").write_text("2")
    return out.commit(manifest(), {"two.txt": 2})


def finish(path: Path, **options: bool) -> None:
    with open_out(path, IDENTITY, **options) as out:
        assert out.done is None
        fill(out)


@pytest.mark.parametrize("start", ["absent", "empty", "deep"])
def test_an_absent_or_empty_folder_is_started_and_completed(tmp_path: Path, start: str) -> None:
    out = tmp_path / ("a/b/out" if start == "deep" else "out")
    if start == "empty":
        out.mkdir()
    finish(out)
    assert sorted(p.name for p in out.iterdir()) == ["data", MANIFEST, "two.txt"]
    read = Manifest.read(out / MANIFEST)
    assert [(f.name, f.bytes, f.rows) for f in read.outputs] == [
        ("data/one.txt", 1, None),
        ("two.txt", 1, 2),
    ]
    assert read.identity == IDENTITY


def test_a_complete_folder_of_the_same_run_is_done(tmp_path: Path) -> None:
    finish(tmp_path / "out")
    before = (tmp_path / "out" / MANIFEST).read_bytes()
    with open_out(tmp_path / "out", dict(reversed(IDENTITY.items()))) as out:
        assert out.done is not None and out.done.verb == "build"
    assert (tmp_path / "out" / MANIFEST).read_bytes() == before


@pytest.mark.parametrize("complete", [True, False])
def test_another_fingerprint_is_refused_and_the_keys_are_named(
    tmp_path: Path, complete: bool
) -> None:
    out = tmp_path / "out"
    if complete:
        finish(out)
    else:
        open_out(out, IDENTITY).close()
    other = {"seed": 2, "pack": "echo", "inputs": [{"sha256": "cd"}], "questions": "full"}
    with pytest.raises(ConfigError) as caught:
        open_out(out, other)
    said = str(caught.value)
    assert "seed (1 there, 2 now)" in said
    assert 'inputs.0.sha256 ("ab" there, "cd" now)' in said
    assert 'questions (absent there, "full" now)' in said
    assert "pack" not in said and "--fresh" in said
    assert caught.value.exit_code == 2


def test_an_unfinished_folder_of_the_same_run_is_begun_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = open_out(out, IDENTITY)
    (first.partial / "half.txt").write_text("half")
    first.close()
    finish(out)
    assert not (out / ".partial").exists()


def test_a_foreign_folder_is_refused_even_with_fresh(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    for fresh in (False, True):
        with pytest.raises(ConfigError, match=r"not clinqa's \(thesis.doc\)"):
            open_out(tmp_path, IDENTITY, fresh=fresh)
    assert (tmp_path / "thesis.doc").read_text() == "mine"


def test_a_manifest_of_another_tool_is_refused_even_with_fresh(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"name": "web app"}')
    for fresh in (False, True):
        with pytest.raises(ConfigError, match="not a manifest of clinqa"):
            open_out(tmp_path, IDENTITY, fresh=fresh)
    assert (tmp_path / MANIFEST).exists()


def test_a_foreign_partial_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".partial").mkdir()
    (tmp_path / ".partial/download.bin").write_text("of another program")
    for fresh in (False, True):
        with pytest.raises(ConfigError, match="not clinqa's"):
            open_out(tmp_path, IDENTITY, fresh=fresh)
    assert (tmp_path / ".partial/download.bin").exists()


@pytest.mark.parametrize("complete", [True, False])
def test_fresh_takes_away_what_is_ours_and_starts(tmp_path: Path, complete: bool) -> None:
    out = tmp_path / "out"
    if complete:
        finish(out)
    else:
        open_out(out, IDENTITY).close()
    with open_out(out, {"seed": 9}, fresh=True) as again:
        assert again.done is None
        assert sorted(p.name for p in out.iterdir()) == [".partial"]


def test_fresh_deletes_no_results_of_another_verb(tmp_path: Path) -> None:
    out = tmp_path / "dataset"
    with open_out(out, {"verb": "build echo"}) as folder:
        (folder.partial / "a.txt").write_text("a", encoding="utf-8")
        folder.commit(manifest())
    with pytest.raises(ConfigError, match="`clinqa build echo` made this, so name another"):
        open_out(out, {"verb": "train"}, fresh=True)
    with pytest.raises(ConfigError, match="name another folder") as caught:
        open_out(out, {"verb": "train"})
    assert "--fresh" not in str(caught.value)  # which would not help
    assert (out / "a.txt").is_file()
    assert (out / "manifest.json").is_file()
    open_out(out, {"verb": "build echo"}, fresh=True).close()


def test_fresh_leaves_a_folder_that_also_holds_something_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    finish(out)
    (out / "data/notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"did not write \(data/notes.txt\)"):
        open_out(out, IDENTITY, fresh=True)
    assert (out / MANIFEST).exists() and (out / "data/notes.txt").exists()


def test_fresh_deletes_no_file_outside_whatever_a_manifest_says(tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "precious.txt"
    other.write_text("mine")
    finish(out)
    text = (out / MANIFEST).read_text().replace('"two.txt"', '"../precious.txt"')
    (out / MANIFEST).write_text(text)
    (out / "two.txt").unlink()
    with pytest.raises(ConfigError, match="garbles"):
        open_out(out, IDENTITY, fresh=True)
    assert other.read_text() == "mine"


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(ConfigError, match="a file is in the way"):
        open_out(tmp_path / "out", IDENTITY)
    with pytest.raises(ConfigError, match="a file is in the way"):
        open_out(tmp_path / "out/below", IDENTITY)


def test_a_symlink_is_never_written_through(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for out in ("link", "link/out", "link/a/b", "dangling", "real/../link/out"):
        with pytest.raises(ConfigError, match="is a symlink"):
            open_out(tmp_path / out, IDENTITY)
    assert not list(real.iterdir()) and not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", [".partial", MANIFEST, "data"])
def test_a_symlink_inside_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("mine")
    out.mkdir()
    (out / name).symlink_to(elsewhere)
    for fresh in (False, True):
        with pytest.raises(ConfigError, match="symlink"):
            open_out(out, IDENTITY, fresh=fresh)
    assert (elsewhere / "kept.txt").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigError, match="not writable"):
        open_out(tmp_path / "out", IDENTITY)
    tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("number", "words"), [("EACCES", "not writable"), ("EROFS", "read-only"), ("ENOSPC", "full")]
)
def test_what_the_system_refuses_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str, words: str
) -> None:
    import errno

    def refuse(*_: object, **__: object) -> None:
        raise OSError(getattr(errno, number), "no")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(ConfigError, match=words):
        open_out(tmp_path / "out", IDENTITY)


def test_a_second_run_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with open_out(tmp_path / "out", IDENTITY):
        for fresh in (False, True):
            with pytest.raises(ConfigError, match="another clinqa run is writing"):
                open_out(tmp_path / "out", IDENTITY, fresh=fresh)
    finish(tmp_path / "out")


def test_private_folders_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        finish(tmp_path / "shut", private=True)
        finish(tmp_path / "open")
    finally:
        os.umask(old)
    for path in [tmp_path / "shut", *(tmp_path / "shut").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "open/two.txt").stat().st_mode) == 0o644


def test_a_damaged_manifest_is_an_error_and_not_a_start(tmp_path: Path) -> None:
    finish(tmp_path / "out")
    text = (tmp_path / "out" / MANIFEST).read_text()
    (tmp_path / "out" / MANIFEST).write_text(text[: len(text) // 2])
    with pytest.raises(ConfigError, match="damaged"):
        open_out(tmp_path / "out", IDENTITY)


def test_a_link_to_itself_is_refused_without_a_useless_hint(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ConfigError, match="leads in a circle"):
        open_out(tmp_path / "loop", {"seed": 1})


def test_a_folder_is_ours_finished_or_not(tmp_path: Path) -> None:
    assert not is_ours(tmp_path)
    with open_out(tmp_path / "d", {"seed": 1}) as out:
        assert is_ours(out.path)
        out.commit(Manifest(verb="v", data_class="public", identity={}, clinqa="0"))
        assert is_ours(out.path)


def test_what_an_unfinished_run_needs_stays_until_the_manifest_stands(tmp_path: Path) -> None:
    with open_out(tmp_path / "out", IDENTITY, resume=True) as folder:
        (folder.partial / "checkpoint-1").mkdir()
        (folder.partial / "checkpoint-1" / "weights").write_text("w")
        (folder.partial / "result").write_text("r")
        needed: list[bool] = []

        def move(file: Path, *_: object) -> None:
            needed.append((folder.partial / "checkpoint-1" / "weights").is_file())
            os.replace(file, folder.path / file.name)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(outfolder, "move", move)
            done = folder.commit(manifest(), passing=["checkpoint-*"])
    assert needed == [True]
    assert [record.name for record in done.outputs] == ["result"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"manifest.json", "result"}
