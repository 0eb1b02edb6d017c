"""Workers end with the run that started them, however it ends."""

from __future__ import annotations

import os
import threading
from multiprocessing import connection, parent_process

__all__ = ["end_with_parent"]


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
