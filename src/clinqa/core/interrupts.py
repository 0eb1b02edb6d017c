"""Ctrl-C with several processes: the parent alone decides how a run ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["children_ignore_interrupts"]


@contextmanager
def children_ignore_interrupts() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C, from their first instruction on.

    A terminal sends Ctrl-C to every process of a run, and each worker would print a traceback
    with its local work in it. An initialiser of the pool comes too late for a worker that is
    still importing; an ignored signal is inherited.

        with children_ignore_interrupts():
            pool = get_context("spawn").Pool(workers)
        with pool:  # leaving it ends the workers
            ...
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
