"""Small folders of every stage, the command line that reads them, and what can befall a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import clinqa
from clinqa.cli import main
from clinqa.core.manifest import Manifest

__all__ = ["FAULTS", "Stage", "call", "files_read", "sibling_of"]

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
    """A command line (without --out) and the finished folders that it reads."""

    command: str
    reads: Sequence[str]

    def words(self, out: str) -> list[str]:
        """The whole command line."""
        return [*self.command.split(), *(["--out", out] if out else [])]


def call(words: Sequence[str]) -> tuple[int, str]:
    """Exit code and what was said on stderr."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        code = main(list(words))
    return code, err.getvalue()


def files_read(stage: Stage, folder: Path) -> set[str]:
    """Every file inside the stage's finished folders that a process opens in doing it, as an audit
    hook on `open` tells; but those of its own --out."""
    note = folder / "opened.json"
    words = stage.words("watched" if stage.reads else "")
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
