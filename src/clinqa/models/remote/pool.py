"""Many prompts at once over one session: bounded, retried, each answered or recorded once.

Workers draw prompts from one iterator, so memory holds what is in flight and no more. A failure
that makes all others pointless stops the drawing; what is in flight by then is waited for, since it
may be paid for, and handed over before the error is raised.
"""

from __future__ import annotations

import asyncio
import json
import math
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import FrameType

from clinqa.core.errors import ClinqaError, ModelError
from clinqa.models.cache import ResponseCache
from clinqa.models.protocol import Output, Prompt, Sampling
from clinqa.models.remote.faults import Fault, RetryPolicy, judge
from clinqa.models.remote.wire import BadReply, Reply, ServerFault, Wire
from clinqa.privacy.egress import Answer, Lost, Session

__all__ = ["Clock", "Interrupts", "Pool", "Setting"]

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


LONG_WAIT = 4.0  # seconds after which a person wonders
CONNECTIONS = 4
"""Tries to connect, a prompt, without one success after which nobody is taken to be there."""
QUIET = 60.0  # seconds between two lines on waiting
SUSPICIONS = 8
"""Refusals without one success after which the request itself is taken to be wrong."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, so that tests need none."""

    now: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    date: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(slots=True)
class Setting:
    """What stays the same from one pool to the next, and what a model has learnt so far."""

    wire: Wire
    where: str  # the endpoint, for messages
    parallel: int
    timeout: float
    policy: RetryPolicy
    clock: Clock
    cache: ResponseCache | None
    notice: Callable[[str], None] | None = None
    worked: bool = False
    quiet_until: float = -math.inf
    suspicions: int = 0


@dataclass(slots=True)
class Pool:
    """One call of `generate`."""

    setting: Setting
    session: Session
    prompts: Sequence[Prompt]
    sampling: Sampling
    interrupts: Interrupts
    failed: BaseException | None = None
    _done: deque[tuple[int, Output]] = field(default_factory=deque)
    _workers: set[asyncio.Task[None]] = field(default_factory=set)
    _resting: set[asyncio.Task[None]] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _resume_at: float = 0.0

    async def start(self) -> None:
        """Set the workers going."""
        indices = iter(range(len(self.prompts)))
        for _ in range(min(self.setting.parallel, len(self.prompts))):
            worker = asyncio.ensure_future(self._work(indices))
            self._workers.add(worker)
            worker.add_done_callback(self._ended)

    async def next(self) -> list[tuple[int, Output]]:
        """Whatever has finished since the last call; nothing once all is done, or on Ctrl-C."""
        while not self._done and self._workers and not self.interrupts.noted:
            self._wake.clear()
            await self._wake.wait()
        batch = list(self._done)
        self._done.clear()
        return batch

    def wake(self) -> None:
        """Let `next` look again."""
        self._wake.set()

    async def stop(self) -> None:
        """End at once: requests in flight are broken off."""
        workers = list(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    def _ended(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        self._wake.set()
        if not worker.cancelled() and (error := worker.exception()) is not None:
            self._fail(error)  # not one of ours: a fault of this client, to be seen as it is

    async def _work(self, indices: Iterable[int]) -> None:
        for index in indices:
            if self.failed is not None:
                return
            try:
                output = await self._output(self.prompts[index])
            except ClinqaError as error:
                self._fail(error)
                return
            self._done.append((index, output))
            self._wake.set()

    def _fail(self, error: BaseException) -> None:
        self.failed = self.failed or error
        for worker in self._resting:  # nobody rests for a try that will not be made
            worker.cancel()

    async def _output(self, prompt: Prompt) -> Output:
        cache = self.setting.cache
        if cache is None:
            return await self._ask(prompt)
        key = cache.key(prompt, self.sampling)
        if (known := cache.get(key)) is not None:
            await asyncio.sleep(0)
            return known
        output = await self._ask(prompt)
        cache.put(key, output)
        return output

    async def _ask(self, prompt: Prompt) -> Output:
        setting, clock = self.setting, self.setting.clock
        had: Counter[str] = Counter()
        begun = clock.now()
        while True:
            while (pause := self._resume_at - clock.now()) > 0:
                await self._rest(pause)
            body = setting.wire.body(prompt, self.sampling)
            asked = clock.now()
            said = await self._try(prompt, body)
            if isinstance(said, Reply):
                setting.worked = True
                return Output(
                    said.text,
                    said.finish_reason,
                    said.input_tokens,
                    said.output_tokens,
                    clock.now() - asked,
                )
            if said is None:  # the same once more, in another spelling
                continue
            if said.kind == "content_filter":
                setting.worked = True
                return Output("", "content_filter", None, None, clock.now() - asked)
            self._weigh(said)
            had[said.kind] += 1
            if not setting.policy.again(said, had):
                return Output("", "error", None, None, clock.now() - begun, said.kind)
            wait = setting.policy.wait(said, had.total())
            if said.wait is not None:  # the server asked everyone, not this request alone
                self._resume_at = max(self._resume_at, clock.now() + said.wait)
            self._tell(said, wait)
            await self._rest(wait)

    async def _try(self, prompt: Prompt, body: bytes) -> Reply | Fault | None:
        wire = self.setting.wire
        try:
            answer = await self.session.post(
                wire.url,
                body,
                wire.headers(body),
                model=wire.name,
                items=(prompt.item_id,),
                timeout=self.setting.timeout,
            )
        except Lost as lost:
            suspect = "" if lost.reached else "no connection (refused, or nobody there)"
            return Fault(lost.kind, retry=True, suspect=suspect)
        if answer.status == 200:
            try:
                return wire.read(_json(answer), prompt)
            except BadReply:
                return Fault("bad_output", retry=True)
        said = ServerFault()
        with suppress(BadReply):  # an error page of something in between: its status says enough
            said = wire.said(_json(answer), answer.headers)
        if answer.status in (400, 422) and wire.adapt(said, body):
            return None
        return judge(answer.status, said, answer.headers, self.setting.clock.date())

    def _weigh(self, fault: Fault) -> None:
        """Raise where the run should end."""
        setting = self.setting
        if fault.ends:
            raise ModelError(f"{setting.where}: {fault.ends}{self._about_key(fault)}")
        longest = setting.policy.longest_asked
        if fault.wait is not None and fault.wait > longest:
            raise ModelError(
                f"{setting.where}: asks to wait {fault.wait:,.0f} s ({fault.kind}), longer than "
                f"the {longest:.0f} s that a run waits; what was answered is kept: run the same "
                "command again then"
            )
        if fault.suspect and not setting.worked:
            setting.suspicions += 1
            enough = min(SUSPICIONS, len(self.prompts))
            if fault.kind == "network":  # it may be starting: each prompt tries a few times
                enough *= CONNECTIONS
            if fault.kind == "server" or setting.suspicions >= enough:
                raise ModelError(f"{setting.where}: {fault.suspect}, and nothing has worked yet")

    def _about_key(self, fault: Fault) -> str:
        if fault.kind != "auth":
            return ""
        wire = self.setting.wire
        if not wire.key:
            return "; it asks for a key: name the variable that holds it with --api-key-env"
        return f"; is the environment variable {wire.key} right?"

    def _tell(self, fault: Fault, wait: float) -> None:
        """Say why nothing moves, at most once a minute."""
        setting, now = self.setting, self.setting.clock.now()
        if setting.notice is None or wait < LONG_WAIT or now < setting.quiet_until:
            return
        setting.quiet_until = now + QUIET
        asked = ", as it asks" if fault.wait is not None else ""
        setting.notice(f"{setting.where}: {fault.kind}; waiting {wait:.0f} s{asked}")

    async def _rest(self, seconds: float) -> None:
        task = asyncio.current_task()
        if self.failed is not None or task is None:
            raise asyncio.CancelledError
        self._resting.add(task)
        try:
            await self.setting.clock.sleep(seconds)
        finally:
            self._resting.discard(task)


def _json(answer: Answer) -> dict[str, object]:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise BadReply from None
    if not isinstance(value, dict):
        raise BadReply
    return value
