"""What a folder holds: tables, and .txt files of one study each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from clinqa.core.outfolder import is_ours
from clinqa.core.pathnames import told_name
from clinqa.core.records import Reason, Reject
from clinqa.sources.reports.records import BrokenFile, RawRows, reject
from clinqa.sources.reports.streams import CHUNK, MAX_RECORD_BYTES, ByteStream

__all__ = ["FOLDER_PART", "Contents", "format_of", "list_folder", "read_texts", "text_id"]

FOLDER_PART = "txt"

OURS = "made by clinqa: no reports"
LINKED_OUT = "a link that leads out of the folder"
LINKED_FOLDER = "a link to a folder"
NO_FILE = "no regular file"

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
}
# files that come with a collection and are no reports
_NOT_REPORTS = {"license", "licence", "readme", "changelog", "changes", "sha256sums", "md5sums"}
_PIECE_FILES = 4096
_PIECE_BYTES = 16 << 20


def format_of(path: Path) -> str | None:
    """The format a file's name stands for, `.gz` taken off; None for any other."""
    name = path.name.casefold()
    kind = _SUFFIXES.get(os.path.splitext(name.removesuffix(".gz"))[1])
    return None if kind == "parquet" and name.endswith(".gz") else kind


def text_id(path: Path, root: Path) -> str:
    """The study id of a .txt file: its path below the folder given, without the suffix."""
    name = path.relative_to(root).as_posix()
    name = name[:-3] if name.casefold().endswith(".gz") else name
    # a file name need not be valid UTF-8; an id must be
    return told_name(os.path.splitext(name)[0])


@dataclass(slots=True)
class Contents:
    """The files of a folder, sorted, by what they are; `skipped` is what could be reports and is
    not read, by the reason."""

    tables: list[Path] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    ignored: int = 0
    skipped: dict[str, list[str]] = field(default_factory=dict)

    def skip(self, why: str, path: Path, root: Path) -> None:
        """Leave `path` out, and say so."""
        name = told_name(path.relative_to(root).as_posix())
        self.skipped.setdefault(why, []).append(name)


def list_folder(root: Path, out: Path | None = None) -> Contents:
    """Everything under `root` that may be reports.

    Only regular files are read, since a pipe or a device may never end; a link is followed if it
    leads to a file under `root`. Folders that clinqa made hold no reports: they are left out, the
    output folder `out` (its real path) without a word.
    """
    found = Contents()
    real = os.path.realpath(root)

    def unlisted(error: OSError) -> None:
        found.skip(f"cannot be listed ({error.strerror})", Path(error.filename), root)

    for place, folders, names in os.walk(root, onerror=unlisted):
        kept = []
        for name in sorted(folders):
            path = Path(place, name)
            if name.startswith(".") or (out is not None and os.path.realpath(path) == str(out)):
                continue
            if path.is_symlink():
                found.skip(LINKED_FOLDER, path, root)
            elif is_ours(path):
                found.skip(OURS, path, root)
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            path = Path(place, name)
            kind = format_of(path)
            stem = name.partition(".")[0].casefold()
            if kind is None or name.startswith(".") or stem in _NOT_REPORTS:
                found.ignored += 1
            elif why := _not_read(path, real):
                found.skip(why, path, root)
            elif kind == "txt":
                found.texts.append(path)
            else:
                found.tables.append(path)
    return found


def _not_read(path: Path, root: str) -> str:
    """Why a file in a folder is not read at all; a damaged or missing one is read, and rejected."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            if not Path(os.path.realpath(path)).is_relative_to(root):
                return LINKED_OUT
            mode = path.stat().st_mode
    except OSError:
        return ""
    return "" if stat.S_ISREG(mode) else NO_FILE


def read_texts(paths: Sequence[Path], root: Path) -> Iterator[RawRows]:
    """The .txt files of a folder, one study each; one that cannot be read is a reject."""
    texts: list[bytes] = []
    ids: list[str] = []
    rejects: list[Reject] = []
    size = 0
    for number, path in enumerate(paths, start=1):
        study = text_id(path, root)
        try:
            text = _read_whole(path)
        except BrokenFile as broken:
            why = str(broken)
            rejects.append(reject(Reason.BROKEN_FILE, path, None, study, part=FOLDER_PART, why=why))
        else:
            texts.append(text)
            ids.append(study)
            size += len(text)
        if len(ids) + len(rejects) >= _PIECE_FILES or size >= _PIECE_BYTES:
            raw = _raw(texts, ids, rejects)
            raw.share = number / len(paths)
            yield raw
            texts, ids, rejects, size = [], [], [], 0
    yield _raw(texts, ids, rejects)


def _read_whole(path: Path) -> bytes:
    with ByteStream(path) as stream:
        parts: list[bytes] = []
        size = 0
        while piece := stream.read(CHUNK):
            parts.append(piece)
            size += len(piece)
            if size > MAX_RECORD_BYTES:
                raise BrokenFile("is too large for one report")
        if stream.broken:
            raise BrokenFile(stream.broken)
        return b"".join(parts)


def _raw(texts: list[bytes], ids: list[str], rejects: list[Reject]) -> RawRows:
    columns = {"text": pa.array(texts, pa.large_binary()), "study": pa.array(ids, pa.string())}
    return RawRows(columns, pa.array([1] * len(ids), pa.int64()), rejects)
