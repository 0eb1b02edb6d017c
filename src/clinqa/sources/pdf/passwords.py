"""Passwords of PDFs: from the environment or a file, never from a command line.

A command line is seen by everybody on the machine and kept in the shell's history.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from clinqa.core.errors import ConfigError

__all__ = ["VARIABLE", "passwords"]

VARIABLE = "CLINQA_PDF_PASSWORD"
_MOST = 100
_LARGEST = 64 << 10


def passwords(file: Path | None, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Those to be tried, in order: the environment's, then the file's, one a line.

    A line is a password to its last character but the line's end; empty lines are none.

    >>> passwords(None, {"CLINQA_PDF_PASSWORD": "ecg"})
    ('ecg',)
    """
    known = os.environ if environment is None else environment
    found = [known[VARIABLE]] if known.get(VARIABLE) else []
    if file is not None:
        found += _in_file(file)
    return tuple(dict.fromkeys(found))


def _in_file(file: Path) -> list[str]:
    try:
        if not file.is_file():
            raise ConfigError(f"{file}: no such file of passwords; give one password a line")
        if file.stat().st_size > _LARGEST:
            raise ConfigError(f"{file}: too large for a file of passwords")
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read; check who may read it") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8; save it as UTF-8") from error
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    if not lines:
        raise ConfigError(f"{file}: holds no password; give one a line")
    if len(lines) > _MOST:
        raise ConfigError(f"{file}: {len(lines)} passwords; at most {_MOST} are tried")
    return lines
