"""Which PDFs are meant: files, folders, and patterns that the shell did not resolve."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import SourceError
from clinqa.core.outfolder import is_ours
from clinqa.core.pathnames import told_name

__all__ = ["FoundPdfs", "Identity", "find_pdfs", "identify"]

_CHUNK = 1 << 20
_PATTERN = "*?["
ENCRYPTED = b"/Encrypt"


@dataclass(slots=True)
class FoundPdfs:
    """The files, and what of the inputs is not read, by the reason."""

    files: list[Path] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, why: str) -> None:
        """Count one thing that is left out."""
        self.skipped[why] = self.skipped.get(why, 0) + 1


@dataclass(frozen=True, slots=True)
class Identity:
    """One document: the same bytes, under whatever names."""

    md5: str
    names: tuple[str, ...]
    path: Path
    bytes: int
    problem: str = ""
    encrypted: bool = False
    """Its bytes say so; it may open without a password all the same."""


def find_pdfs(inputs: Sequence[Path], out: Path | None = None) -> FoundPdfs:
    """The files of all inputs, each once.

    A file that is named is taken whatever its suffix; of a folder the files that end in .pdf, in
    any case, at any depth, links out of it and clinqa's own folders aside.
    """
    found = FoundPdfs()
    seen: set[str] = set()

    def take(path: Path) -> None:
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            found.files.append(path)

    for path in inputs:
        for each in _resolved(path):
            if each.is_dir():
                for inner in _in_folder(each, out, found):
                    take(inner)
            else:
                take(each)
    if not found.files:
        raise SourceError(f"no PDF in {', '.join(map(str, inputs)) or 'no input'}; name .pdf files")
    return found


def _resolved(path: Path) -> list[Path]:
    """A file or folder by itself; what a pattern stands for, sorted."""
    if path.exists():
        return [path]
    text = str(path)
    if any(sign in text for sign in _PATTERN):
        matches = sorted(glob.glob(os.path.expanduser(text), recursive=True))
        if matches:
            return [Path(match) for match in matches]
        raise SourceError(f"{path}: nothing matches this pattern")
    raise SourceError(f"{path}: there is no such file or folder")


def _in_folder(root: Path, out: Path | None, found: FoundPdfs) -> Iterator[Path]:
    top = os.path.realpath(root)
    for folder, inner, names in os.walk(root):
        inner.sort()
        for name in list(inner):
            whole = Path(folder, name)
            if out is not None and whole.resolve() == out:
                inner.remove(name)
            elif is_ours(whole):
                inner.remove(name)
                found.skip("a folder made by clinqa")
            elif name.startswith("."):
                inner.remove(name)
        for name in sorted(names):
            path = Path(folder, name)
            if not name.casefold().endswith(".pdf") or name.startswith("."):
                continue
            if not path.is_file():
                found.skip("no regular file")
            elif path.is_symlink() and not os.path.realpath(path).startswith(top + os.sep):
                found.skip("a link that leads out of the folder")
            else:
                yield path


def identify(files: Sequence[Path]) -> list[Identity]:
    """The documents among the files, in the order of their MD5: the same for any order of input.

    What cannot be read has no MD5 and comes last, by name.
    """
    same: dict[str, list[Path]] = {}
    found: dict[str, tuple[int, bool]] = {}
    unreadable: list[Identity] = []
    for file in files:
        try:
            md5, size, encrypted = _hashed(file)
        except OSError as error:
            said = (os.strerror(error.errno) if error.errno else "it cannot be read").lower()
            unreadable.append(Identity("", (told_name(file.name),), file, 0, said))
            continue
        same.setdefault(md5, []).append(file)
        found[md5] = (size, encrypted)
    documents = [
        Identity(
            md5,
            tuple(sorted(told_name(each.name) for each in same[md5])),
            min(same[md5]),
            found[md5][0],
            encrypted=found[md5][1],
        )
        for md5 in sorted(same)
    ]
    return documents + sorted(unreadable, key=lambda each: each.names)


def _hashed(path: Path) -> tuple[str, int, bool]:
    """The MD5 of a file, its size, and whether it says that it is encrypted."""
    if not path.is_file():
        raise OSError(None, "no regular file")  # a pipe or a device may never end
    whole = hashlib.md5(usedforsecurity=False)
    size, encrypted, end = 0, False, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            whole.update(chunk)
            size += len(chunk)
            encrypted = encrypted or ENCRYPTED in end + chunk
            end = chunk[-len(ENCRYPTED) :]
    return whole.hexdigest(), size, encrypted
