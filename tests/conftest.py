"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# a busy machine is no fault of the code: no test is judged by the clock
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
