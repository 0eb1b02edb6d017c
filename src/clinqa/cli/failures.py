"""From an exception to an exit code and one line that shows no text of a record."""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import clinqa
from clinqa.cli.terminal import say
from clinqa.core.errors import ClinqaError

__all__ = ["INTERRUPTED", "Failure", "describe", "show_traceback"]

INTERRUPTED = 130

# the extra that brings a package, where a room did not say so itself
EXTRAS = {
    "datasets": "interop",
    "matplotlib": "plots",
    "mlcroissant": "interop",
    "numba": "fast",
}

_PACKAGE = Path(clinqa.__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Failure:
    """An exit code and the line that says why; `usage` where the command itself was wrong."""

    exit: int
    message: str
    usage: bool = False


def describe(exc: BaseException) -> Failure:
    """What to tell of an exception.

    Only our own errors and those of the command line are quoted: they are written to hold no
    record text. Of any other only the class and the place in our code are told, because a
    library's message often repeats the value it choked on.
    """
    if isinstance(exc, KeyboardInterrupt):
        return Failure(INTERRUPTED, "interrupted; run the same command again")
    if isinstance(exc, ClinqaError):
        return Failure(exc.exit_code, str(exc) or type(exc).__name__)
    # typer's usage errors have no public base class that all versions share
    format_message = getattr(exc, "format_message", None)
    if callable(format_message):
        message = str(format_message()).rstrip(".").replace("Value error, ", "")
        return Failure(2, message, usage=True)
    if type(exc).__name__ == "Abort":
        return Failure(INTERRUPTED, "interrupted; run the same command again")
    if isinstance(exc, ModuleNotFoundError) and exc.name and not exc.name.startswith("clinqa"):
        package = exc.name.partition(".")[0]
        wanted = f"clinqa[{EXTRAS[package]}]" if package in EXTRAS else "clinqa"
        return Failure(2, f"the Python package {package} is missing: pip install '{wanted}'")
    where = _place(exc)
    if isinstance(exc, MemoryError):
        return Failure(1, f"out of memory at {where}; try fewer --workers or a smaller input")
    if isinstance(exc, OSError) and exc.errno is not None:
        # the system's own words for the number; the exception's text may hold more
        return Failure(1, f"{os.strerror(exc.errno)} ({type(exc).__name__} at {where})")
    return Failure(
        1,
        f"unforeseen {type(exc).__name__} at {where}; this is a fault in clinqa"
        " (CLINQA_DEBUG=1 shows the traceback, which may hold record text)",
    )


def show_traceback(exc: BaseException) -> None:
    """With CLINQA_DEBUG=1, the whole traceback on stderr, after a warning."""
    if os.environ.get("CLINQA_DEBUG", "") not in {"", "0"}:
        say("warning: CLINQA_DEBUG is set; the traceback below may show text of records")
        traceback.print_exception(exc, file=sys.stderr)


def _place(exc: BaseException) -> str:
    """The innermost line of our own code the exception passed, as `clinqa/room/file.py:12`."""
    place = "an unknown place"
    for frame, line in traceback.walk_tb(exc.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            place = f"{path.relative_to(_PACKAGE.parent).as_posix()}:{line}"
    return place
