"""Ctrl-C reaches the parent and none of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from clinqa.core.processes import children_ignore_interrupts

RUN = """
import sys, time
from multiprocessing import get_context
from clinqa.core.processes import children_ignore_interrupts
if __name__ == "__main__":
    with children_ignore_interrupts():
        pool = get_context("spawn").Pool(2)
    try:  # from the first moment that the test may interrupt
        with pool:
            print("ready", file=sys.stderr, flush=True)
            pool.map(time.sleep, [30, 30])
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
def test_workers_print_nothing_when_a_run_is_interrupted() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert rest == ""


def test_the_parent_listens_again_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with children_ignore_interrupts():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_nothing_changes() -> None:
    seen: list[object] = []

    def work() -> None:
        with children_ignore_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
