"""Many prompts at once over one session: bounded, retried, each answered or recorded once.

Workers draw prompts from one iterator, so memory holds what is in flight and no more. A failure
that makes all others pointless stops the drawing; what is in flight by then is waited for, since it
may be paid for, and handed over before the error is raised.

The first request goes alone, for a few seconds at most: what is wrong with all of them (a key, an
address, a quota, a field that the model refuses) is found with one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from clinqa.core.errors import ClinqaError, ModelError
from clinqa.models.cache import ResponseCache
from clinqa.models.protocol import Output, Prompt, Sampling, messages_sha256
from clinqa.models.remote.faults import Fault, RetryPolicy, judge
from clinqa.models.remote.finishes import kind_of_fault
from clinqa.models.remote.interrupts import Interrupts
from clinqa.models.remote.notes import ServiceNotes, Unanswered, is_cut, same_model
from clinqa.models.remote.reasons import safe_name, safe_reason, without_keys
from clinqa.models.remote.reply import BadReply, Finish, Reply, object_of
from clinqa.models.remote.said import ServerFault, error_in, said_of
from clinqa.models.remote.wire import Wire
from clinqa.privacy.egress import Answer, Lost, Session

__all__ = ["Clock", "Pool", "Setting"]

LONG_WAIT = 4.0  # seconds after which a person wonders
CONNECTIONS = 4
"""Tries to connect, a prompt, without one success after which nobody is taken to be there."""
QUIET = 60.0  # seconds between two lines on waiting
ALONE = 5.0  # seconds that the others wait for what comes of the first request
SUSPICIONS = 8
"""Refusals without one success after which the request itself is taken to be wrong."""


#: No running text is cut into tokens of fewer characters on average.
FEWEST_CHARACTERS = 2


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
    notes: ServiceNotes
    notice: Callable[[str], None] | None = None
    worked: bool = False
    met: bool = False  # has anything come of a request yet?
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
    _first: asyncio.Task[Any] | None = None  # whose request is the first of all
    _met: asyncio.Event = field(default_factory=asyncio.Event)  # something has come of it
    _asked: dict[int, Prompt] = field(default_factory=dict)  # in flight
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
            prompt = self._asked[index] = self.prompts[index]
            try:
                output = await self._output(prompt)
            except ClinqaError as error:
                self._fail(error)
                return
            finally:
                self._asked.pop(index, None)
            self._done.append((index, output))
            self._wake.set()

    def _fail(self, error: BaseException) -> None:
        self.failed = self.failed or error
        for worker in self._resting:  # nobody rests for a try that will not be made
            worker.cancel()

    async def _output(self, prompt: Prompt) -> Output:
        cache, wire = self.setting.cache, self.setting.wire
        if cache is None:
            return await self._ask(prompt)
        known = cache.get(cache.key(prompt, self.sampling, tuple(wire.left_out)))
        if known is not None:
            await asyncio.sleep(0)
            return known
        output = await self._ask(prompt)
        cache.put(cache.key(prompt, self.sampling, tuple(wire.left_out)), output)
        return output

    async def _ask(self, prompt: Prompt) -> Output:
        setting, clock = self.setting, self.setting.clock
        had: Counter[str] = Counter()
        failures = setting.notes.failures
        before = failures.get(_key(prompt)) if failures else None
        earlier = before.requests if before else 0
        begun = clock.now()
        while True:
            await self._turn()
            while (pause := self._resume_at - clock.now()) > 0:
                await self._rest(pause)
            body = setting.wire.body(prompt, self.sampling)
            asked = clock.now()
            said = await self._try(prompt, body)
            if said is None:  # the same once more, in another spelling
                continue
            if isinstance(said, Fault) and said.kind != "content_filter":
                self._weigh(said, prompt)
                self._all_go()
                had[said.kind] += 1
                if not setting.policy.again(said, had, earlier):
                    reason, requests = self._reason(said, prompt), earlier + had.total()
                    failures[_key(prompt)] = Unanswered(requests, said.kind, reason, said.own)
                    return Output("", "error", None, None, clock.now() - begun, said.kind)
                wait = setting.policy.wait(said, had.total())
                if said.wait is not None:  # the server asked everyone, not this request alone
                    self._resume_at = max(self._resume_at, clock.now() + said.wait)
                self._tell(said, wait, prompt)
                await self._rest(wait)
                continue
            setting.worked = True
            self._all_go()
            if failures:
                failures.pop(_key(prompt), None)
            seconds = clock.now() - asked
            if isinstance(said, Fault):
                return Output("", "content_filter", None, None, seconds)
            return self._answer(said, prompt, seconds)

    def _answer(self, said: Reply, prompt: Prompt, seconds: float) -> Output:
        """A reply as an output; one that does not say how it ended is whole unless it is full."""
        setting, keys = self.setting, self.setting.wire.secrets
        finish = said.finish
        if finish is None:
            full = _tokens(said) >= self.sampling.max_tokens
            finish = Finish.LENGTH if full else Finish.STOP
        served = ""
        if said.served and setting.wire.model and not same_model(setting.wire.model, said.served):
            served = safe_name(said.served, keys, [message.text for message in prompt.messages])
        answered = finish in (Finish.STOP, Finish.LENGTH)
        cut = answered and is_cut(said.input_tokens, prompt.messages)
        setting.notes.answered(served, cut=cut, unsaid=said.finish is None)
        text = said.text
        if any(key in text for key in keys):  # a key that comes back goes no further
            text = without_keys(text, keys)
        return Output(text, finish.value, said.input_tokens, said.output_tokens, seconds)

    async def _turn(self) -> None:
        """Wait while the first request of all is out."""
        mine = asyncio.current_task()
        self._first = self._first or mine
        if self.setting.met or mine is self._first or mine is None:
            return
        if self.failed is not None:
            raise asyncio.CancelledError
        self._resting.add(mine)
        try:
            await asyncio.wait_for(self._met.wait(), ALONE)
        except TimeoutError:
            self._all_go()
        finally:
            self._resting.discard(mine)

    def _all_go(self) -> None:
        """Something has come of the first request, or nothing for long enough."""
        self.setting.met = True
        self._met.set()

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
            suspect = lost.why if lost.reached else "no connection (refused, or nobody there)"
            again = not lost.why or self.setting.worked
            return Fault(lost.kind, again, suspect=suspect, reason=lost.why, own=True)
        try:
            return self._read(answer, prompt, body)
        except BadReply as bad:
            said = f"the answer {bad.why}"
            suspect = said if bad.always else ""
            again = not bad.always or self.setting.worked
            return Fault("bad_output", again, suspect=suspect, reason=said, own=True, paid=True)

    def _read(self, answer: Answer, prompt: Prompt, body: bytes) -> Reply | Fault | None:
        """A reply, what a failure means, or None where the request has been changed."""
        wire = self.setting.wire
        if answer.status != 200:
            said = ServerFault()
            with suppress(BadReply):  # a page of something in between: its status says enough
                said = said_of(object_of(answer), answer.headers)
            return self._judged(answer.status, said, answer, prompt, body)
        value = object_of(answer)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            raise BadReply("is no object of JSON")
        if (failure := error_in(value)) is not None:
            return self._judged(failure.status, failure, answer, prompt, body)
        reply = wire.read(value, prompt)
        if reply.finish is Finish.ERROR:
            word = safe_name(reply.word, wire.secrets, self._sent(prompt))
            reason = f"the answer ended with finish reason {word!r}"
            kind = kind_of_fault(reply.word)
            return Fault(kind, retry=True, reason=reason, own=True, paid=True)
        return reply

    def _judged(
        self,
        status: int,
        said: ServerFault,
        answer: Answer,
        prompt: Prompt,
        body: bytes,
    ) -> Fault | None:
        wire, sent = self.setting.wire, self._sent(prompt)
        if status not in (401, 403, 408, 429) and status < 502:
            changed = wire.adapt(said, body)
            if changed is not None:
                reason = safe_reason(said.reason, wire.secrets, sent)
                for name, how in changed.items():
                    self.setting.notes.changed(name, how, reason)
                return None
        shown = replace(
            said,
            code=said.code and safe_name(said.code, wire.secrets, sent),
            param=said.param and safe_name(said.param, wire.secrets, sent),
        )
        return judge(status, shown, answer.headers, self.setting.clock.date())

    def _sent(self, prompt: Prompt) -> list[str]:
        """The texts of which a server's words may show nothing: all that is out just now."""
        asked = {id(prompt): prompt, **self._asked}
        return [message.text for one in asked.values() for message in one.messages]

    def _reason(self, fault: Fault, prompt: Prompt) -> str:
        """Why, as it may be shown."""
        if fault.own or not fault.reason:
            return fault.reason
        return safe_reason(fault.reason, self.setting.wire.secrets, self._sent(prompt))

    def _server_said(self, fault: Fault, prompt: Prompt) -> str:
        reason = "" if fault.own else self._reason(fault, prompt)
        return f"; the server said: {reason}" if reason else ""

    def _weigh(self, fault: Fault, prompt: Prompt) -> None:
        """Raise where the run should end."""
        setting, said = self.setting, self._server_said(fault, prompt)
        if fault.ends:
            raise ModelError(f"{setting.where}: {fault.ends}{self._about_key(fault)}{said}")
        longest = setting.policy.longest_asked
        if fault.wait is not None and fault.wait > longest:
            raise ModelError(
                f"{setting.where}: asks to wait {fault.wait:,.0f} s ({fault.kind}), longer than "
                f"the {longest:.0f} s that a run waits; what was answered is kept: run the same "
                f"command again then{said}"
            )
        if fault.suspect and not setting.worked:
            setting.suspicions += 1
            enough = min(SUSPICIONS, len(self.prompts))
            if fault.kind == "network":  # it may be starting: each prompt tries a few times
                enough *= CONNECTIONS
            if fault.kind == "server" or setting.suspicions >= enough:
                raise ModelError(f"{setting.where}: {fault.suspect} (nothing has worked yet){said}")

    def _about_key(self, fault: Fault) -> str:
        if fault.kind != "auth":
            return ""
        wire = self.setting.wire
        if not wire.key:
            return "; it asks for a key: name the variable that holds it with --api-key-env"
        return f"; is the environment variable {wire.key} right?"

    def _tell(self, fault: Fault, wait: float, prompt: Prompt) -> None:
        """Say why nothing moves, at most once a minute."""
        setting, now = self.setting, self.setting.clock.now()
        if setting.notice is None or wait < LONG_WAIT or now < setting.quiet_until:
            return
        setting.quiet_until = now + QUIET
        asked = ", as it asks" if fault.wait is not None else ""
        said = self._server_said(fault, prompt)
        setting.notice(f"{setting.where}: {fault.kind}; waiting {wait:.0f} s{asked}{said}")

    async def _rest(self, seconds: float) -> None:
        task = asyncio.current_task()
        if self.failed is not None or task is None:
            raise asyncio.CancelledError
        self._resting.add(task)
        try:
            await self.setting.clock.sleep(seconds)
        finally:
            self._resting.discard(task)


def _key(prompt: Prompt) -> str:
    """What a prompt's failures are known by, from one pass to the next."""
    sha256 = messages_sha256(prompt.messages)
    return f"{prompt.item_id}\x1f{prompt.repeat}\x1f{prompt.variant}\x1f{sha256}"


def _tokens(said: Reply) -> float:
    """How many tokens an answer has: as counted, else the most that it may well have."""
    if said.output_tokens is not None:
        return said.output_tokens
    return len(said.text) / FEWEST_CHARACTERS
