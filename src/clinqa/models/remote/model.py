"""The Model that predict sees, over any wire format."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.models.cache import ResponseCache, open_cache
from clinqa.models.prices import tokens_of
from clinqa.models.protocol import ModelOptions, Output, Prompt, Sampling
from clinqa.models.remote.faults import RetryPolicy
from clinqa.models.remote.interrupts import Interrupts
from clinqa.models.remote.notes import ServiceNotes
from clinqa.models.remote.pool import Clock, Pool, Setting
from clinqa.models.remote.wire import Wire
from clinqa.privacy.attestation import load_attestations
from clinqa.privacy.egress import EgressGuard, Session

__all__ = ["RemoteModel"]


class RemoteModel:
    """A model behind HTTP.

    Opening it judges the address (PrivacyError before a byte has left) and reads no key; the key,
    the session and the event loop come with the first prompt and stay until `close`.
    """

    deterministic = False  # no service promises the same text twice, greedy or not

    def __init__(
        self,
        wire: Wire,
        options: ModelOptions,
        *,
        guard: EgressGuard | None = None,
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
        notes: ServiceNotes | None = None,
    ) -> None:
        self._wire = wire
        self._guard = guard or EgressGuard(
            options.data_class, load_attestations(options.attestations), options.egress_log
        )
        self._route = self._guard.route(wire.url, carries_key=wire.has_key)
        self._setting = Setting(
            wire,
            str(self._route.endpoint),
            options.max_parallel,
            options.timeout,
            policy or RetryPolicy(),
            clock or Clock(),
            None,
            notes or ServiceNotes(wire.model, options.notice, options.changed, dict(wire.left_out)),
            options.notice,
        )
        self._options = options
        self._runner: asyncio.Runner | None = None
        self._session: Session | None = None

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._wire.name

    @property
    def destination(self) -> str:
        """Where prompts go, for a dry run: the endpoint, and how it came to be allowed."""
        how = "this machine" if self._route.loopback else "away from this machine"
        held = self._route.attestation
        return f"{self._route.endpoint} ({how}{f', attested by {held.who}' if held else ''})"

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """Outputs as they finish. Closing the iterator breaks off what is in flight."""
        runner, session = self._opened()
        interrupts = Interrupts()
        pool = Pool(self._setting, session, prompts, sampling, interrupts)
        wake = partial(runner.get_loop().call_soon_threadsafe, pool.wake)
        with interrupts.held(wake):
            runner.run(pool.start())
        try:
            while True:
                with interrupts.held(wake):
                    batch = runner.run(pool.next())
                yield from batch
                if interrupts.noted:
                    raise KeyboardInterrupt
                if not batch:
                    break
        finally:
            with interrupts.held(wake):
                runner.run(pool.stop())
        if pool.failed is not None:
            raise pool.failed

    def service(self) -> Mapping[str, Any]:
        """What the service did, and by whose word texts went there, for a manifest."""
        held = self._route.attestation
        if held is None:
            return self._setting.notes.told()
        names = ("host", "port", "who", "purpose", "retention", "plain_http")
        attested = {name: getattr(held, name) for name in names}
        return {**self._setting.notes.told(), "attestation": {**attested, "until": f"{held.until}"}}

    def service_warnings(self) -> Sequence[str]:
        """The same in words."""
        return self._setting.notes.warnings()

    def because(self) -> str:
        """Why prompts have no answer, as the end of a sentence."""
        return self._setting.notes.because()

    def count_tokens(self, prompt: Prompt) -> int:
        """An estimate from the prompt's length: the tokenizer is at the other end."""
        return tokens_of(prompt)

    def close(self) -> None:
        """Close connections, log and cache; a later `generate` opens them again."""
        runner, self._runner = self._runner, None
        session, self._session = self._session, None
        if runner is not None:
            if session is not None:
                runner.run(session.__aexit__(None, None, None))
            runner.close()
        if self._setting.cache is not None:
            self._setting.cache.close()
            self._setting.cache = None
        self._guard.close()

    def _opened(self) -> tuple[asyncio.Runner, Session]:
        if self._runner is None or self._session is None:
            if asyncio._get_running_loop() is not None:
                raise ConfigError(
                    f"{self.name}: cannot be asked inside a running event loop (a notebook has "
                    "one); run `clinqa predict`, or ask it in a thread of its own"
                )
            self._wire.check_key()
            self._setting.cache = self._cache()
            self._runner = asyncio.Runner()
            session = self._guard.session(self._options.max_parallel)
            self._session = self._runner.run(session.__aenter__())
        return self._runner, self._session

    def _cache(self) -> ResponseCache | None:
        extra = self._options.extra
        return open_cache(
            self._options.cache_dir,
            self._options.data_class,
            (self._wire.name, self._wire.url, sorted(extra.items())),
            phi_allowed=extra.get("cache") == "phi",
        )
