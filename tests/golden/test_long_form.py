"""Reports, long-form questions, their runs, scores, audits and pages are what they were."""

from __future__ import annotations

from typing import Any

import pytest

from golden.checked import before, check, made_now

KIND = "long_form"
KEPT = before(KIND)


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return made_now(KIND, tmp_path_factory.mktemp(KIND))


@pytest.mark.parametrize("step", KEPT)
def test_the_step_gives_what_it_gave(step: str, now: dict[str, Any]) -> None:
    check(KIND, step, KEPT, now)


def test_no_step_was_added_without_being_kept(now: dict[str, Any]) -> None:
    assert sorted(now) == sorted(KEPT)
