"""Lines for people: one-line messages on stderr and a progress line with rate and time left."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TextIO

from clinqa.core.visible import visible

__all__ = ["ProgressLine", "duration", "one_line", "say"]


def one_line(text: str) -> str:
    r"""The text on one line, with control characters written out: no message moves the cursor.

    >>> one_line("a\n  b\x1b[31m")
    'a b\\x1b[31m'
    """
    return visible(" ".join(part.strip() for part in text.splitlines() if part.strip()))


def say(text: str, stream: TextIO | None = None) -> None:
    """Write one line to stderr; a reader that has gone away is no error."""
    stream = sys.stderr if stream is None else stream
    try:
        stream.write(one_line(text) + "\n")
        stream.flush()
    except (OSError, ValueError):
        return


def duration(seconds: float) -> str:
    """A time as a person says it.

    >>> duration(4.2), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class ProgressLine:
    """A line on stderr: how much is done, how fast, how long still. Silent off a terminal.

    A room calls `progress(stage, done, total)`, as often as it likes; where the total is not
    known beforehand (a stream), `fraction` says how far the input has been read.
    """

    def __init__(self, stream: TextIO | None = None, *, every: float = 0.1) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._every = every
        self._stage = ""
        self._started = (0.0, 0, 0.0)  # when this stage began; what was already done then
        self._last = 0.0

    def __call__(
        self,
        stage: str,
        done: int,
        total: int | None = None,
        *,
        fraction: float | None = None,
        note: str = "",
    ) -> None:
        """Tell that `done` of `total` is done in a stage; shown ten times a second at most."""
        if not self._shown:
            return
        now = time.monotonic()
        if fraction is None:
            fraction = done / total if total else 0.0
        if stage != self._stage:
            self._stage, self._started, self._last = stage, (now, done, fraction), 0.0
        if now - self._last >= self._every:
            self._last = now
            self._draw(stage, done, total, fraction, now, note)

    def close(self) -> None:
        """Wipe the line, so that what follows starts clean."""
        if self._shown and self._stage:
            self._write("\r\x1b[K")
            self._stage = ""

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _draw(
        self, stage: str, done: int, total: int | None, fraction: float, now: float, note: str
    ) -> None:
        began, done_before, fraction_before = self._started
        elapsed = now - began
        words = [f"{stage}: {done:,}" + (f" of {total:,}" if total else "")]
        if elapsed > 0.5 and done > done_before:
            words.append(f"{(done - done_before) / elapsed:,.0f}/s")
        if elapsed > 0.5 and fraction > fraction_before:
            left = elapsed * (1 - fraction) / (fraction - fraction_before)
            words.append(f"about {duration(max(left, 0))} left")
        if note:
            words.append(note)
        width = shutil.get_terminal_size().columns - 1
        self._write("\r" + one_line("  ".join(words))[:width] + "\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._shown = False
