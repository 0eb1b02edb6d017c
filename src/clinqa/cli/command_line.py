"""Run a verb and print its end: the only place that writes results, errors and exit codes.

From an exception to an exit code and one line that shows no text of a record.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType

import clinqa
from clinqa.cli.app import invoke, verb_named_by
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import one_line, say
from clinqa.core.errors import ClinqaError, ConfigError
from clinqa.core.pathnames import refuse_not_utf8
from clinqa.core.visible import visible_lines

__all__ = ["INTERRUPTED", "Failure", "describe", "run", "show_traceback"]

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


def run(argv: Sequence[str] | None = None) -> int:
    """The exit code of a command line; prints what there is to print."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    # wherever it stands, `clinqa --json verify DIR` too; that verbs list it is for their help
    as_json = "--json" in arguments
    arguments = [argument for argument in arguments if argument != "--json"]
    _calm()
    try:
        _check_words(arguments)
    except ConfigError as error:
        outcome = _failed(verb_named_by(arguments), arguments, error)
    else:
        outcome = _outcome(arguments, as_json)
    for warning in outcome.warnings:
        say(f"warning: {warning}")
    if outcome.error is not None:
        say(f"error: {outcome.error}")
    text = outcome.text and outcome.text.rstrip("\n") + "\n"
    text = visible_lines(text, coloured=outcome.coloured)
    if as_json:
        # ASCII: the object stays valid on a terminal of any encoding
        text = json.dumps(outcome.record(), allow_nan=False) + "\n"
    return outcome.exit if _print(text) else outcome.exit or 1


def _check_words(arguments: list[str]) -> None:
    """Raise ConfigError for words that no verb can use.

    An empty one would mean, as a path, the folder one stands in; a title may be empty. One that is
    not UTF-8 would be found out where a manifest is written: after all has been paid for.
    """
    named = [word for before, word in pairwise(["", *arguments]) if before != "--title"]
    if any(not word or re.fullmatch(r"--?[a-z-]+=", word) for word in named):
        raise ConfigError("an empty argument; is a variable of the shell not set?")
    refuse_not_utf8(*arguments)


def _outcome(arguments: list[str], as_json: bool) -> Outcome:
    verb = verb_named_by(arguments)
    try:
        with _stdout_for_people(as_json):
            result = invoke(arguments)
    except BrokenPipeError as exc:
        if not _reader_is_gone():  # a pipe of somebody else's
            return _failed(verb, arguments, exc)
        return Outcome(verb)
    except (Exception, KeyboardInterrupt, SystemExit) as exc:  # noqa: BLE001 (the one place where all end)
        return _failed(verb, arguments, exc)
    if isinstance(result, Outcome):
        return result
    if result == INTERRUPTED:
        return _failed(verb, arguments, KeyboardInterrupt())
    return Outcome(verb, exit=result if isinstance(result, int) else 0)


def _failed(verb: str, arguments: list[str], exc: BaseException) -> Outcome:
    failure = describe(exc)
    hint = f" (see {f'clinqa {verb}'.strip()} --help)" if failure.usage else ""
    if not failure.usage and not isinstance(exc, KeyboardInterrupt):
        show_traceback(exc)
    return Outcome(
        verb,
        out=_value_of("--out", arguments),
        exit=failure.exit,
        error=one_line(failure.message) + hint,
    )


def _value_of(option: str, arguments: list[str]) -> str | None:
    for name, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if name == option and value:
            return value
        if name.startswith(f"{option}="):
            return name.removeprefix(f"{option}=")
    return None


@contextlib.contextmanager
def _stdout_for_people(as_json: bool) -> Iterator[None]:
    """With --json, whatever a verb or a library prints goes to stderr: stdout holds one object."""
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        yield


def _print(text: str) -> bool:
    """Write to stdout, to the last byte. False where it could not be: a full disk, say."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        _drop_stdout()
    except OSError as exc:
        _drop_stdout()
        say(f"error: the result could not be written to stdout: {describe(exc).message}")
        return False
    return True


def _reader_is_gone() -> bool:
    """Is it our stdout that nobody reads? Asked of the system: a second flush is silent."""
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), select.POLLOUT)
    except (OSError, ValueError):
        return False
    gone = any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    if gone:
        _drop_stdout()
    return gone


def _drop_stdout() -> None:
    """Send what is still buffered to nowhere, or the interpreter complains at its end."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _calm() -> None:
    """No library warnings, no tracebacks of threads, no failure over a character."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    threading.excepthook = _thread_failed
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _as_interrupt)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (lives as long as we do)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """A polite end asked for by the system is one by Ctrl-C: work is kept and said to be."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    else:
        signal.raise_signal(signal.SIGINT)


def _thread_failed(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        say(f"error: in a thread: {describe(args.exc_value).message}")
