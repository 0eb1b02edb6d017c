"""Ctrl-C while an event loop runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupts"]

PATIENCE = 3


class Interrupts:
    """Ctrl-C while an event loop runs: noted, and raised where nothing is half done.

    Raised inside the loop, a KeyboardInterrupt lands in whatever callback happens to run, and
    answers that have come in, and are paid for, are lost with it. `noted` says whether there was
    one.
    """

    _count = 0

    @property
    def noted(self) -> bool:
        """Was there an interrupt that nobody has raised yet?"""
        return self._count > 0

    @contextmanager
    def held(self, wake: Callable[[], object]) -> Iterator[None]:
        """Inside, an interrupt is noted and `wake` called; the third one is raised at once."""
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield  # signals are somebody else's
            return

        def note(number: int, frame: FrameType | None) -> None:
            self._count += 1
            if self._count >= PATIENCE:
                raise KeyboardInterrupt
            wake()

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
