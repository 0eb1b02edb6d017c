"""Names of files: on disk any bytes, in everything that is written of them UTF-8.

A path that people name must be UTF-8: manifests, tables and the libraries that open files hold
nothing else. What is found inside a folder is read all the same where that goes, and its name told
with U+FFFD for what is none.
"""

from __future__ import annotations

import os
from pathlib import Path

from clinqa.core.errors import ConfigError

__all__ = ["refuse_not_utf8", "refuse_two_meanings", "told_name"]


def told_name(path: Path | str) -> str:
    r"""A path as it can be written down.

    >>> told_name("a/b\udce9.txt") == "a/b\ufffd.txt"
    True
    """
    return os.fsencode(path).decode("utf-8", "replace")


def refuse_two_meanings(word: Path | str, built_in: str) -> None:
    """Raise ConfigError where a word is the name of something built in and of a path here, too.

    Whichever were taken, somebody would have meant the other; a path can be written otherwise.
    """
    if os.path.lexists(word):
        raise ConfigError(
            f"{word}: means {built_in}, and there is a file or folder of that name here, too: "
            f"write ./{word} for that one; for ours run the command in another folder"
        )


def refuse_not_utf8(*paths: Path | str) -> None:
    """Raise ConfigError that names the first path, or word of a command, that is not UTF-8."""
    for path in paths:
        text = os.fspath(path)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            shown = os.fsencode(text).decode("utf-8", "backslashreplace")
            raise ConfigError(
                f"{shown}: the name is not UTF-8, so no manifest or table can hold it; rename the "
                "file or folder, or name it through a folder whose path is UTF-8"
            ) from None
