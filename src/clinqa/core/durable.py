"""Files that are whole or not there: written beside, made durable, then renamed.

And what the operating system says of a folder that cannot be written, as an error that says what
to do.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clinqa.core.errors import ConfigError

__all__ = [
    "create_file",
    "make_folder",
    "move",
    "plain_path",
    "refuse_symlinks",
    "settle",
    "sync_folder",
    "temporary_name",
    "write_durably",
    "writing",
]


def temporary_name(name: str) -> str:
    """What a file is called until it is whole."""
    return f"{name}.tmp"


def create_file(path: Path, *, private: bool) -> int:
    """A descriptor of a new, empty file; an old one of that name goes, a symlink never opens."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o600 if private else 0o644)


def make_folder(path: Path, *, private: bool) -> None:
    """A new folder, for the owner alone if private."""
    path.mkdir(mode=0o700 if private else 0o777)


def write_durably(
    path: Path, content: bytes, *, private: bool, through: Path | None = None
) -> None:
    """Write a small file so that it is either all there or not at all.

    `through` is the temporary file, on the same file system; beside `path` unless given.
    """
    temporary = through or path.with_name(temporary_name(path.name))
    descriptor = create_file(temporary, private=private)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:  # a full disk: leave no half a file behind
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def settle(file: Path, private: bool) -> None:
    """Make a finished file's bytes durable and its mode right."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        if private:
            os.fchmod(descriptor, 0o600)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move(file: Path, out: Path, name: str, private: bool) -> None:
    """Rename a finished file to its place below `out`, with the folders it needs."""
    target = out / name
    for parent in reversed(target.relative_to(out).parents):
        folder = out / parent
        if not folder.exists():
            folder.mkdir(mode=0o700 if private else 0o777)
            sync_folder(folder.parent)
    os.replace(file, target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not every file system can
            raise
    finally:
        os.close(descriptor)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Turn what the operating system says into an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"--out {out}: {_advice(error)}") from error


def _advice(error: OSError) -> str:
    kind = error.strerror or type(error).__name__
    known = {
        errno.EACCES: "not writable; name a folder you may write",
        errno.EPERM: "not writable; name a folder you may write",
        errno.EROFS: "on a read-only disk; name another folder",
        errno.ENOSPC: "the disk is full; free some space and run again",
        errno.EDQUOT: "the disk quota is used up; free some space and run again",
        errno.ENOTDIR: "a file is in the way of the path",
        errno.ENAMETOOLONG: "the name is too long",
    }
    return known.get(error.errno or 0, f"cannot be written ({kind})")


def plain_path(path: str | os.PathLike[str]) -> Path:
    """The path of an output folder, from the root on; ConfigError for an empty name."""
    text = os.fspath(path)
    if not text:
        raise ConfigError("--out: an empty name")
    return Path(os.path.abspath(text))


def refuse_symlinks(out: Path) -> None:
    """Refuse `out` if it, or a folder above it, is a symlink.

    Links that stand directly under / are the system's own (/tmp and /var on macOS) and pass.
    """
    for part in [out, *out.parents]:
        if part.is_symlink() and len(part.parts) > 2:
            real = os.path.realpath(out)
            ends = not any(one.is_symlink() for one in [Path(real), *Path(real).parents])
            raise ConfigError(
                f"--out {out}: {part} is a symlink, and clinqa writes through none; "
                + (f"name the real folder ({real})" if ends else "it leads in a circle")
            )
