"""Prompts, options and a clock that needs no time, for tests of remote models."""

from __future__ import annotations

import asyncio
import random
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from clinqa.core.records import DataClass
from clinqa.models.protocol import Message, ModelOptions, Output, Prompt, Sampling
from clinqa.models.remote.faults import RetryPolicy
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.pool import Clock
from clinqa.models.remote.wire import Wire

SECRET_TEXT = "Severe mitral regurgitation of patient Quimby."


def prompt(n: int = 0, *, text: str = SECRET_TEXT, repeat: int = 0) -> Prompt:
    messages = (
        Message("system", "Answer from the report."),
        Message("user", "Q1"),
        Message("assistant", "A1"),
        Message("user", f"{text} {n}"),
    )
    return Prompt(f"item{n}", messages, "Q", text, "mitral", "finding", 7, repeat)


def prompts(count: int) -> list[Prompt]:
    return [prompt(n) for n in range(count)]


def options(**given: Any) -> ModelOptions:
    return ModelOptions(**{"data_class": DataClass.RESTRICTED, "max_parallel": 4, **given})


class Instant:
    """A clock whose sleeps are instant and move it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        start = datetime(2026, 1, 1, tzinfo=UTC)
        return Clock(lambda: self.time, self.sleep, lambda: start + timedelta(seconds=self.time))


def remote(wire: Wire, instant: Instant | None = None, **given: Any) -> RemoteModel:
    instant = instant or Instant()
    policy = RetryPolicy(draw=random.Random(0))
    return RemoteModel(wire, options(**given), clock=instant.clock, policy=policy)


def answers(model: RemoteModel, asked: list[Prompt], **sampling: Any) -> list[Output]:
    """All outputs in the order of the prompts; each exactly once."""
    with closing(model):
        found = list(model.generate(asked, Sampling(**sampling)))
    assert sorted(index for index, _ in found) == list(range(len(asked)))
    return [output for _, output in sorted(found, key=lambda pair: pair[0])]


def one(model: RemoteModel, **sampling: Any) -> Output:
    return answers(model, [prompt()], **sampling)[0]
