"""The output folder: started, resumed, already done, or refused; never anything in between.

    absent or empty                          → start
    ours, unfinished, same fingerprint       → start over inside it (deterministic stages), or go on
                                               from its journal (stages that cost money or time)
    ours, complete, same fingerprint         → done
    anything else                            → ConfigError naming the difference

While it is being made, everything lies in `OUT/.partial`, with `started.json` saying whose it is.
`commit` moves the files into place and writes `manifest.json` last. A kill at any write leaves
either a complete folder or one that the next run recognises as its own. What was read at the start
is named there too, so that a run that goes on says which file is another by now.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clinqa.core.closing import Closing
from clinqa.core.durable import (
    create_file,
    make_folder,
    move,
    plain_path,
    refuse_symlinks,
    settle,
    sync_folder,
    temporary_name,
    write_durably,
    writing,
)
from clinqa.core.errors import ConfigError
from clinqa.core.kept_logs import is_kept_log, set_aside
from clinqa.core.manifest import TOOL, FileRecord, Manifest, differences, fingerprint
from clinqa.core.pathnames import refuse_not_utf8
from clinqa.core.started import STARTED, Started, read_started

try:
    import fcntl
except ImportError:  # not on Windows; there two runs on one folder are not kept apart
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "EGRESS",
    "JOURNAL",
    "MANIFEST",
    "PARTIAL",
    "OutFolder",
    "create_file",
    "is_ours",
    "is_unfinished",
    "make_folder",
    "open_out",
    "write_durably",
    "writing",
]

MANIFEST = "manifest.json"
PARTIAL = ".partial"
JOURNAL = "journal.jsonl"
EGRESS = "egress.jsonl"
"""What was sent away, a line a request; it stays whatever becomes of the run."""
TOOL_MARK = f'"tool":"{TOOL}"'.encode()


@dataclass(frozen=True, slots=True)
class OutFolder(Closing):
    """A folder this run may write: `partial` is where; `done` holds the manifest if all is done."""

    path: Path
    identity: Mapping[str, Any]
    private: bool
    done: Manifest | None
    _lock: int
    _made: Sequence[Path] = field(default=())  # folders this run made, the innermost first
    inputs: Mapping[str, str] = field(default_factory=dict)  # hashes by name

    @property
    def partial(self) -> Path:
        """Where the run writes; nothing outside it changes before `commit`."""
        return self.path / PARTIAL

    def close(self) -> None:
        """Let go of the folder's lock; what was written stays for the next run to judge."""
        with suppress(OSError):
            os.close(self._lock)

    def abandon(self) -> None:
        """Take the partial folder away: nothing worth keeping was made, the next run may differ.

        Folders that this run itself made go too, as far as they are empty.
        """
        with writing(self.path):
            shutil.rmtree(self.partial)
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def write_anew(self, keep: frozenset[str] = frozenset()) -> None:
        """Take away the results that an ended run had begun to write, before they are written.

        Its journal stays, and what `keep` names.
        """
        with writing(self.path):
            for entry in os.scandir(self.partial):
                if entry.name in keep | {STARTED, JOURNAL}:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)

    def start(self, moved: Sequence[str]) -> None:
        """Say whose the folder is, and which of its files may lie in their places already."""
        Started(self.identity, moved, self.inputs).write(self.partial, private=self.private)

    def commit(
        self,
        manifest: Manifest,
        rows: Mapping[str, int] | None = None,
        passing: Sequence[str] = (),
    ) -> Manifest:
        """Hash everything in `partial`, move it into place, write the manifest, tidy up.

        `rows` gives the number of rows of a file by its name. Returns the manifest as written.
        A journal goes with the partial folder: what it held is in the results. So does what
        `passing` names (patterns of names): until the manifest stands, a killed run needs it.
        """
        rows = rows or {}
        with writing(self.path):
            left = {path for pattern in passing for path in self.partial.glob(pattern)}
            names = sorted(
                name
                for name in files_under(self.partial) - {STARTED, JOURNAL}
                if left.isdisjoint([self.partial / name, *(self.partial / name).parents])
            )
            records = []
            for name in names:
                settle(self.partial / name, self.private)
                records.append(FileRecord.of(self.partial / name, name, rows.get(name)))
            finished = replace(manifest, identity=self.identity, outputs=records)
            # Named before anything moves, so that a later run knows what it may take away.
            self.start(names)
            for name in names:
                move(self.partial / name, self.path, name, self.private)
            write_durably(
                self.path / MANIFEST,
                finished.to_json().encode("utf-8"),
                private=self.private,
                through=self.partial / MANIFEST,
            )
            shutil.rmtree(self.partial)
            sync_folder(self.path)
        return finished


def open_out(
    path: str | os.PathLike[str],
    identity: Mapping[str, Any],
    *,
    fresh: bool = False,
    private: bool = False,
    resume: bool = False,
    inputs: Sequence[FileRecord] = (),
) -> OutFolder:
    """Open the output folder of a run, or say why not.

    `identity` is what decides the rows (see `core.manifest.identity_of`); `fresh` deletes what an
    earlier clinqa run left there, but for logs of what left the machine; `private` makes folders
    0700 and files 0600. `resume` keeps what an unfinished run of the same identity left in
    `partial`, its journal above all. `inputs` are the files that are read.
    """
    out, read = plain_path(path), {record.name: record.sha256 for record in inputs}
    refuse_not_utf8(out)
    with writing(out):
        refuse_symlinks(out)
        _refuse_inside(out)
        if out.exists() and not out.is_dir():
            raise ConfigError(f"--out {out}: a file is in the way; name a folder")
        made = [one for one in (out, *out.parents) if not one.exists()]
        out.mkdir(parents=True, exist_ok=True)
        if made and private:
            out.chmod(0o700)
        lock = _lock(out)
        try:
            done = _judge(out, identity, read, fresh, resume)
            if done is None:
                if private:
                    with suppress(PermissionError):  # someone else's folder; files are 0600 anyway
                        out.chmod(0o700)
                partial = out / PARTIAL
                partial.mkdir(mode=0o700, exist_ok=resume)
                Started(identity, (), read).write(partial, private=private)
        except BaseException:
            os.close(lock)
            raise
    return OutFolder(out, identity, private, done, lock, made, read)


def _judge(
    out: Path, identity: Mapping[str, Any], read: Mapping[str, str], fresh: bool, resume: bool
) -> Manifest | None:
    """The manifest if all is done; None when `out` is clear to be written; else ConfigError."""
    names = {entry.name for entry in os.scandir(out) if not is_kept_log(entry.name)}
    if not names:
        return None
    _refuse_links_inside(out, names)
    if MANIFEST in names:
        manifest = Manifest.read(out / MANIFEST, edited=fresh)
        ours = [record.name for record in manifest.outputs]
        there: Mapping[str, Any] = manifest.identity
        was_read: Mapping[str, str] = {record.name: record.sha256 for record in manifest.inputs}
        finished: Manifest | None = manifest
    else:
        started = _started_in(out)
        if started is None:
            raise ConfigError(
                f"--out {out}: holds files that are not clinqa's ({_some(names)}); "
                "name an empty folder"
            )
        there, ours, was_read = started.identity, list(started.moved), started.inputs
        finished = None
    _refuse_other_verb(out, there, identity)
    if fresh:
        _delete_ours(out, ours)
        return None
    if there and fingerprint(there) != fingerprint(identity):
        state = "complete" if finished else "unfinished"
        raise ConfigError(
            f"--out {out}: a {state} folder of another run; different: "
            f"{'; '.join(_different(there, identity, was_read, read))}. Name another folder, or "
            "use --fresh"
        )
    if finished is None:
        if resume and there:
            _take_back(out, ours)
        else:
            _delete_ours(out, ours)
        return None
    if PARTIAL in names:  # killed between the manifest and the tidying
        shutil.rmtree(out / PARTIAL)
    return finished


def _different(
    there: Mapping[str, Any],
    now: Mapping[str, Any],
    was: Mapping[str, str],
    read: Mapping[str, str],
) -> list[str]:
    """In what two runs differ; inputs by their names, where they are known."""
    changed = sorted(name for name in was.keys() & read.keys() if was[name] != read[name])
    told = differences(there, now)
    if changed:
        told = [one for one in told if not one.startswith("inputs.")]
    return [*(f"{name} (changed since it was read)" for name in changed), *told]


def _started_in(out: Path) -> Started | None:
    """What an unfinished run says of itself; None if nothing says that it is ours."""
    partial = out / PARTIAL
    if not partial.is_dir():
        return None
    try:
        return read_started(partial)
    except FileNotFoundError:
        # Killed before the first write was renamed: nothing but our own empty folder.
        left = {entry.name for entry in os.scandir(partial)}
        nothing_else = {entry.name for entry in os.scandir(out)} == {PARTIAL}
        return Started() if nothing_else and left <= {temporary_name(STARTED)} else None


def _refuse_other_verb(out: Path, there: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    """--fresh is for doing a thing again: results of another verb may be what this one reads, and
    that they differ in every key helps nobody."""
    made = there.get("verb", identity.get("verb"))
    if made != identity.get("verb", made):
        raise ConfigError(f"--out {out}: `clinqa {made}` made this, so name another folder")


def _delete_ours(out: Path, names: list[str]) -> None:
    """Take away what a clinqa run wrote, and refuse if something else lies beside it.

    The logs of what left the machine are moved aside, each under the time of its last line.
    """
    ours = {name for name in names if _is_inside(name)} | {MANIFEST}
    _refuse_others(out, ours)
    set_aside(out, (out / EGRESS, out / PARTIAL / EGRESS))
    ours.discard(EGRESS)
    # The manifest first: without it the folder is unfinished, and the partial says whose it is.
    if (out / MANIFEST).exists() and not (out / PARTIAL / STARTED).exists():
        (out / PARTIAL).mkdir(mode=0o700, exist_ok=True)
        Started({}, sorted(ours - {MANIFEST})).write(out / PARTIAL, private=True)
    for name in [MANIFEST, *sorted(ours - {MANIFEST})]:
        (out / name).unlink(missing_ok=True)
    for folder, _, _ in os.walk(out, topdown=False):
        below = Path(folder).relative_to(out)
        if below.parts and below.parts[0] != PARTIAL:
            Path(folder).rmdir()
    shutil.rmtree(out / PARTIAL, ignore_errors=False)


def _refuse_others(out: Path, ours: set[str]) -> None:
    others = {
        name
        for name in files_under(out)
        if name not in ours and not name.startswith(f"{PARTIAL}/") and not is_kept_log(name)
    }
    if others:
        raise ConfigError(
            f"--out {out}: also holds files clinqa did not write ({_some(others)}); move them first"
        )


def _take_back(out: Path, names: list[str]) -> None:
    """Move what a killed `commit` had already put into place back into the partial folder."""
    ours = {name for name in names if _is_inside(name)}
    _refuse_others(out, ours)
    for name in sorted(ours):
        if (out / name).exists():
            (out / PARTIAL / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.replace(out / name, out / PARTIAL / name)


def is_ours(folder: Path) -> bool:
    """Was this folder made by clinqa, finished or not? Reads the first line or two at most."""
    if (folder / PARTIAL / STARTED).is_file():
        return True
    try:
        with (folder / MANIFEST).open("rb") as file:
            return TOOL_MARK in b"".join(file.read(400).split())
    except OSError:
        return False


def is_unfinished(folder: Path) -> bool:
    """Was this folder begun by clinqa and not finished? An empty one is: the first thing that a
    run makes, and all there is of one that was killed right then."""
    if not folder.is_dir() or (folder / MANIFEST).exists():
        return False
    return not any(os.scandir(folder)) or _started_in(folder) is not None


def _is_inside(name: str) -> bool:
    parts = Path(name).parts
    return bool(parts) and not Path(name).is_absolute() and ".." not in parts


def _some(names: set[str]) -> str:
    shown = ", ".join(sorted(names)[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _refuse_inside(out: Path) -> None:
    """Refuse a folder inside one that is complete: its manifest would not list it, and whoever
    made that one anew would be refused for its sake."""
    for folder in out.parents:
        if (folder / MANIFEST).exists() and is_ours(folder):
            raise ConfigError(
                f"--out {out}: lies inside {folder}, a finished folder; name one elsewhere"
            )


def _refuse_links_inside(out: Path, names: set[str]) -> None:
    for name in sorted(
        {*names, f"{PARTIAL}/{STARTED}", f"{PARTIAL}/{JOURNAL}", f"{PARTIAL}/{EGRESS}", "data"}
    ):
        if (out / name).is_symlink():
            raise ConfigError(f"--out {out}: {name} in it is a symlink; take it away")


def files_under(root: Path) -> set[str]:
    """Every file (and symlink) below `root`, as relative names with forward slashes."""
    found = set()
    for folder, subfolders, files in os.walk(root):
        for name in (*files, *[name for name in subfolders if Path(folder, name).is_symlink()]):
            found.add(Path(folder, name).relative_to(root).as_posix())
    return found


def _lock(out: Path) -> int:
    """Hold the folder against a second run; the kernel lets go when the process dies."""
    descriptor = os.open(out, os.O_RDONLY)
    if fcntl is None:
        return descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            os.close(descriptor)
            raise ConfigError(f"--out {out}: another clinqa run is writing here") from error
        # Some network file systems know no locks; going on is better than refusing.
    return descriptor
