"""How near the canaries of an adapter must come back, by number format."""

from __future__ import annotations

from typing import Any

import pytest

from clinqa.core.errors import ModelError
from clinqa.models.local import canary
from clinqa.models.local.canary import Canary, check_canaries, saved_canaries
from clinqa.models.protocol import Message

ONE = Canary((Message("user", "ping"),), "pong")


def off(monkeypatch: pytest.MonkeyPatch, now: float, dtype: str, learnt: float = 0.07) -> float:
    saved = saved_canaries(
        [ONE], [[-5.0]], [[-5.0 + learnt]], {"dtype": "bfloat16", "device": "cpu"}
    )
    monkeypatch.setattr(canary, "canary_scores", lambda *_: [[now]])
    unused: Any = None
    return check_canaries("a", unused, unused, saved, {"dtype": dtype, "device": "cpu"})


def test_rounding_of_another_format_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(monkeypatch, -4.7, "float32") == pytest.approx(0.23)


def test_the_same_format_allows_less(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match=r"off by 0\.23 on average"):
        off(monkeypatch, -4.7, "bfloat16")


def test_more_than_rounding_is_a_fault_in_any_format(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="does not answer as it did"):
        off(monkeypatch, -4.6, "float32")


def test_where_much_was_learnt_half_the_way_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(monkeypatch, -3.9, "float32", learnt=2.0) == pytest.approx(0.9)
    with pytest.raises(ModelError, match=r"off by 1\.1 on average"):
        off(monkeypatch, -4.1, "float32", learnt=2.0)
