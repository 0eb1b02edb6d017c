"""The command line as a person calls it, and what it gave, step by step.

Nothing but `clinqa.cli` is imported here: rooms and modules may move, and this still runs.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import clinqa.cli
from golden.folders import kept_file, kept_folder
from golden.plain import Plain, canonical
from golden.tables import rows_of

__all__ = ["Stage", "Work", "kept_of", "read_kept", "write_kept"]

_FOREIGN = ("CLINQA_", "OPENAI_", "ANTHROPIC_", "AZURE_", "AWS_", "NLTK_", "HF_", "NO_COLOR")
_HEADER = "  1 This software is made up.\n  2 WordNet 9.1 Copyright nobody.\n"


class Work:
    """A folder in which verbs are called. `kept` holds what each step gave, by its name."""

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        self.folder = folder
        self.kept: dict[str, Any] = {}
        self._plain = Plain(folder)
        self._whole = whole
        self.seconds: dict[str, float] = {}
        self._needs: tuple[str, ...] = ()
        self._learnt: set[tuple[str, int]] = set()

    def run(self, name: str, command: str, *folders: str, files: Sequence[str] = ()) -> int:
        """Call a verb; keep its end, its lines, and what is in the folders and files named."""
        if name in self.kept:
            raise ValueError(f"two steps are called {name}")
        started = time.monotonic()
        code, out, err = call(shlex.split(command))
        self._learn()
        step: dict[str, Any] = {"exit": code, "stderr": self._plain.lines(err)}
        if "--json" in command.split():
            step["json"] = self._plain.value(json.loads(out))
        else:
            step["stdout"] = self._plain.lines(out)
        for folder in folders:
            found = kept_folder(self.folder / folder, self._plain, whole=self._whole)
            step[f"folder {folder}"] = found
        for file in files:
            path = self.folder / file
            step[f"file {file}"] = (
                kept_file(path, self._plain, whole=self._whole) if path.is_file() else "no file"
            )
        self.kept[name] = step | ({"needs": list(self._needs)} if self._needs else {})
        self.seconds[name] = time.monotonic() - started
        return code

    def _learn(self) -> None:
        for manifest in sorted(self.folder.rglob("manifest.json")):
            mark = (str(manifest), manifest.stat().st_mtime_ns)
            if mark not in self._learnt:
                self._learnt.add(mark)
                self._plain.learn(manifest)

    @contextlib.contextmanager
    def needing(self, *kinds: str) -> Iterator[None]:
        """Calls whose words or options are another kind's: see checked.WITHOUT."""
        self._needs = kinds
        try:
            yield
        finally:
            self._needs = ()

    def both(self, name: str, command: str, *folders: str) -> None:
        """Call a verb as a person and as a program; the second time it is done already."""
        self.run(name, command, *folders)
        self.run(f"{name} as json", f"{command} --json")

    def wrong(self, name: str, command: str) -> None:
        """Call a verb that is refused, with an --out of its own; what it left is kept too."""
        out = f"refused/{len(self.kept)}"
        self.run(f"wrong: {name}", f"{command} --out {out}")
        step = self.kept[f"wrong: {name}"]
        step["stderr"] = [line.replace(out, "refused/N") for line in step["stderr"]]
        step["left a folder"] = (self.folder / out).exists()

    def write(self, name: str, text: str) -> str:
        """A file of text; its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    def write_lines(self, name: str, rows: Sequence[Any]) -> str:
        """A file of JSON lines; its name."""
        lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows]
        return self.write(name, "".join(f"{line}\n" for line in lines))

    def items(self, dataset: str, split: str) -> list[dict[str, Any]]:
        """The items of a split, by id."""
        paths = sorted((self.folder / dataset / "data").glob(f"{split}-*.parquet"))
        return sorted((row for path in paths for row in rows_of(path)), key=lambda row: row["id"])

    def copy(self, of: str, to: str) -> Path:
        """A copy of a folder."""
        shutil.copytree(self.folder / of, self.folder / to)
        return self.folder / to


def call(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command line."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["clinqa", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = clinqa.cli.main(list(arguments))
    return code, out.getvalue(), err.getvalue()


Stage = Callable[[Work], None]


def kept_of(stages: Sequence[Stage], folder: Path, *, whole: bool = False) -> dict[str, Any]:
    """What all stages keep. One that breaks is kept as such, and the next is done."""
    folder.mkdir(parents=True, exist_ok=True)
    work = Work(folder, whole=whole)
    with _alone(folder):
        for stage in stages:
            try:
                stage(work)
            except Exception:  # noqa: BLE001 (the steps of a broken stage are missing, and told)
                work.kept[f"stage {stage.__name__}"] = {"broke": traceback.format_exc()}
    if "GOLDEN_TIMES" in os.environ:
        for name, took in sorted(work.seconds.items(), key=lambda pair: -pair[1])[:15]:
            sys.stderr.write(f"{took:6.2f} s  {name}\n")
    return work.kept


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """In the folder, without keys and settings of whoever runs this, with a small WordNet."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    own |= {"COLUMNS": "100", "LINES": "40", "TERM": "dumb", "HOME": str(folder / "home")}
    own |= {"CLINQA_WORDNET": str(_wordnet(folder / "wordnet")), "MPLBACKEND": "agg"}
    before = os.umask(0o022)
    try:
        with mock.patch.dict(os.environ, own, clear=True), contextlib.chdir(folder):
            yield
    finally:
        os.umask(before)


def _wordnet(place: Path) -> Path:
    """A WordNet of one synonym set, so that METEOR is the same wherever this runs."""
    place.mkdir(parents=True, exist_ok=True)
    offset = f"{len(_HEADER):08d}"
    words = ("mild", "slight", "trivial")
    line = f"{offset} 08 n 03 {' '.join(f'{word} 0' for word in words)} 000 | little\n"
    for part in ("noun", "verb", "adj", "adv"):
        is_noun = part == "noun"
        entries = "".join(f"{word} n 1 0 1 0 {offset}  \n" for word in words) if is_noun else ""
        (place / f"index.{part}").write_text(_HEADER + entries)
        (place / f"data.{part}").write_text(_HEADER + (line if is_noun else ""))
        (place / f"{part}.exc").write_text("")
    return place


def write_kept(path: Path, kept: Mapping[str, Any]) -> None:
    """Write a golden file: the same bytes for the same content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = canonical(kept).encode("utf-8", "surrogatepass")
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(raw)


def read_kept(path: Path) -> dict[str, Any]:
    """A golden file."""
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()).decode("utf-8"))
    return found
