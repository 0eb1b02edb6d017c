"""What holds for all tests."""

from __future__ import annotations

import gc
import signal

from hypothesis import HealthCheck, settings

# a busy machine is no fault of the code: no test is judged by the clock
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# a shell that runs the tests in the background lets them ignore Ctrl-C, which some of them send
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What thousands of collected tests are made of is not looked through by every collection of
    garbage afterwards."""
    gc.collect()
    gc.freeze()
