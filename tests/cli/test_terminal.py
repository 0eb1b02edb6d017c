"""The progress line: only on a terminal, with rate and time left."""

from __future__ import annotations

import io
import time

import pytest

from clinqa.cli.terminal import ProgressLine, duration, say


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_progress_tells_rate_and_time_left_on_a_terminal(clock: list[float]) -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress("reports", 0, 4000)
        clock[0] += 10
        progress("reports", 1000, 4000)
    text = stream.getvalue()
    assert "reports: 1,000 of 4,000  100/s  about 30 s left" in text
    assert text.endswith("\r\x1b[K")


def test_progress_of_a_stream_takes_time_left_from_the_fraction_read(clock: list[float]) -> None:
    stream = Terminal()
    progress = ProgressLine(stream)
    progress("reports", 0, fraction=0.0)
    clock[0] += 10
    progress("reports", 500, fraction=0.25)
    assert "reports: 500  50/s  about 30 s left" in stream.getvalue()


def test_a_resumed_stage_counts_only_its_own_work(clock: list[float]) -> None:
    stream = Terminal()
    progress = ProgressLine(stream)
    progress("reports", 900, 1000)
    clock[0] += 10
    progress("reports", 950, 1000)
    assert "5/s  about 10 s left" in stream.getvalue()


def test_progress_is_silent_off_a_terminal(clock: list[float]) -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress("reports", 1, 2)
    assert stream.getvalue() == ""


def test_progress_is_silent_on_a_dumb_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress("reports", 1, 2)
    assert stream.getvalue() == ""


def test_progress_is_drawn_ten_times_a_second_at_most(clock: list[float]) -> None:
    stream = Terminal()
    progress = ProgressLine(stream)
    for done in range(1000):
        progress("reports", done, 1000)
        clock[0] += 0.001
    assert stream.getvalue().count("\r") <= 11


def test_a_terminal_that_has_gone_ends_the_progress_quietly(clock: list[float]) -> None:
    with ProgressLine(Gone()) as progress:
        progress("reports", 1, 2)
    say("error: nobody hears", Gone())


def test_durations_are_rounded_before_they_are_split() -> None:
    assert duration(59.6) == "1 min 0 s"
    assert duration(0) == "0 s"
