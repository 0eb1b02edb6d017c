"""Small folders of every stage, the command line that reads them, and what can befall a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import clinqa
from clinqa.cli import main
from clinqa.core.manifest import Manifest

__all__ = ["Stage", "call", "harmed", "names"]

_WATCH = """
import json, os, sys
opened = set()
def told(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)):
        opened.add(os.path.realpath(os.fsdecode(given[0])))
sys.addaudithook(told)
from clinqa.cli import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump({"code": code, "opened": sorted(opened)}, file)
"""


@dataclass(frozen=True)
class Stage:
    """A command line (without --out, if it `writes`) and the finished folders that it reads."""

    command: str
    reads: Sequence[str]
    writes: bool = True

    def words(self, out: str) -> list[str]:
        """The whole command line."""
        return [*self.command.split(), *(["--out", out] if self.writes else [])]


def call(words: Sequence[str]) -> tuple[int, str]:
    """Exit code and what was said."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main(list(words))
    return code, said.getvalue()


def files_read(stage: Stage, folder: Path) -> set[str]:
    """Every file inside the stage's finished folders that a process opens in doing it, as an audit
    hook on `open` tells; but those of its own --out."""
    note = folder / "opened.json"
    words = stage.words("watched")
    subprocess.run(
        [sys.executable, "-c", _WATCH, str(note), *words],
        cwd=folder, check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(clinqa.__file__).parents[1])},
    )  # fmt: skip
    told = json.loads(note.read_text())
    assert told["code"] == 0
    inside = [(folder / name).resolve() for name in stage.reads]
    return {
        path.relative_to(folder.resolve()).as_posix()
        for path in map(Path, told["opened"])
        if path.is_file() and any(path.is_relative_to(one) for one in inside)
    }


def harmed(stage: Stage, folder: Path) -> Iterator[tuple[str, str, int, str]]:
    """Each file that the stage reads (its card left out: what that says can only make the data
    class stricter), with each fault, the exit code and what was said; in `folder` one stands."""
    read = files_read(stage, folder)
    _away(folder / "watched")
    assert {f"{name}/manifest.json" for name in stage.reads} <= read
    for file in sorted(one for one in read if not one.endswith("/README.md")):
        path = folder / file
        body, sibling = path.read_bytes(), sibling_of(path, folder / file.split("/")[0])
        for fault, harm in FAULTS.items():
            harm(path, sibling)
            code, said = call(stage.words("harmed"))
            path.write_bytes(body)
            yield file, fault, code, said
            assert not (folder / "harmed").exists(), (file, fault)


def names(file: str, said: str) -> bool:
    """Is the file named, by its path or by its folder and its name there?"""
    folder, _, name = file.partition("/")
    return file in said or (folder in said and name in said)


def _away(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _flip(path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path: Path, _: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def _swap(path: Path, sibling: Path) -> None:
    path.write_bytes(sibling.read_bytes())


FAULTS: Mapping[str, Callable[[Path, Path], None]] = {
    "one byte flipped": _flip,
    "replaced by a sibling": _swap,
    "truncated": _cut,
}


def sibling_of(path: Path, folder: Path) -> Path:
    """Another file of the folder, of the same kind if there is one: its hash is valid too."""
    names = [record.name for record in Manifest.read(folder / "manifest.json").outputs]
    others = [folder / name for name in names if folder / name != path]
    others = [one for one in others if one.read_bytes() != path.read_bytes()]
    alike = [one for one in others if one.suffix == path.suffix]
    return (alike or others or [folder / "manifest.json"])[0]
