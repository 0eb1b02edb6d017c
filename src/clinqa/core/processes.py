"""Several processes: workers end with the run that started them, and Ctrl-C is the parent's."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, parent_process

__all__ = ["children_ignore_interrupts", "end_with_parent"]


def end_with_parent() -> None:
    """To be called in a worker process at its start: when its parent is gone, it goes too.

    A parent that is killed (`kill -9`, no memory left) tells nobody, and its workers would wait
    for work for ever. They hold one end of a pipe whose other end the parent alone holds: it is
    ready as soon as the parent is gone, on every system and with no polling.
    """
    parent = parent_process()
    if parent is None:
        return  # no worker

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)  # from a thread: nothing is left to tidy up that the system would not

    threading.Thread(target=watch, name="clinqa-parent", daemon=True).start()


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
