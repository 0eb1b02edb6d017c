"""What a failed request means: try again, record it, refuse this prompt, or end the run.

Messages of servers are looked at for what they mean and never passed on: they may quote the prompt.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from clinqa.models.remote.wire import ServerFault

__all__ = ["Fault", "RetryPolicy", "judge", "retry_after"]

_CONTEXT = re.compile(
    r"context[ _]?(length|size|window)|prompt is too long|input is too long|"
    r"too many (input )?tokens|maximum (number of )?tokens|exceeds? the (model'?s )?max",
    re.I,
)
_FILTERED = {"content_filter", "responsibleaipolicyviolation", "content_policy_violation"}
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_SPENT = {
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "billing_error",
    "billing_hard_limit_reached",
    "servicequotaexceededexception",
}
_AUTH_CODES = {
    "accessdeniedexception",
    "expiredtokenexception",
    "invalidsignatureexception",
    "unrecognizedclientexception",
    "invalid_api_key",
}
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]-]{0,60}")


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is one of protocol.ERROR_KINDS, or `content_filter`, which is an answer of sorts.

    `ends` says why going on is pointless, if it is; `suspect` the same for what may also be this
    prompt's own fault, so that it ends a run only if nothing has worked yet.
    """

    kind: str
    retry: bool = False
    wait: float | None = None
    ends: str = ""
    suspect: str = ""


def judge(status: int, said: ServerFault, headers: Mapping[str, str], now: datetime) -> Fault:
    """What an answer other than 200 means."""
    code = said.code.casefold()
    wait = retry_after(headers, now)
    again = headers.get("x-should-retry", "").casefold() != "false"
    if status == 402 or code in _SPENT:
        return Fault("rate_limit", ends="the account's quota or spending limit is used up")
    if status in (401, 403) or code in _AUTH_CODES:
        return Fault("auth", ends="the key or the access was refused")
    if code in _FILTERED:
        return Fault("content_filter")
    if status == 413 or code in _CONTEXT_CODES:
        return Fault("context")
    if status == 429:
        return Fault("rate_limit", again, wait)
    if status == 408:
        return Fault("timeout", again, wait)
    if status >= 500 or status in (409, 424, 425):
        return Fault("server", again, wait)
    if status in (400, 422) and _CONTEXT.search(said.message):
        return Fault("context")
    if status in (404, 405, 410):
        return Fault("server", suspect=f"no such model or path (HTTP {status}{_shown(said)})")
    if status >= 400:
        return Fault("bad_output", suspect=f"the request was refused (HTTP {status}{_shown(said)})")
    return Fault("bad_output", True)


def _shown(said: ServerFault) -> str:
    """Code and parameter where they are identifiers; nothing that could be anyone's text."""
    parts = [part for part in (said.code, said.param) if _SAFE.fullmatch(part)]
    return "".join(f", {part}" for part in parts)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds a server asks to wait: `retry-after-ms`, seconds, or an HTTP date.

    >>> retry_after({"Retry-After": "2"}, datetime.now(UTC))
    2.0
    """
    given = {name.casefold(): text for name, text in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(given[name]) * scale
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        moment = parsedate_to_datetime(given["retry-after"])
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long: exponential back-off with full jitter, capped; bounded by kind."""

    tries: Mapping[str, int] = field(
        default_factory=lambda: {
            "rate_limit": 10,
            "network": 8,
            "server": 6,
            "timeout": 3,  # each may cost the whole time-out
            "bad_output": 3,
        }
    )
    most: int = 12
    base: float = 0.5
    cap: float = 30.0
    longest_asked: float = 120.0  # of a Retry-After; a longer one ends the run
    draw: random.Random = field(default_factory=random.Random)

    def again(self, fault: Fault, had: Counter[str]) -> bool:
        """May it be tried once more, after so many failures of each kind?"""
        allowed = self.tries.get(fault.kind, 1)
        return fault.retry and had[fault.kind] < allowed and had.total() < self.most

    def wait(self, fault: Fault, failures: int) -> float:
        """Seconds until the next try."""
        ceiling = min(self.cap, self.base * 2.0 ** (failures - 1))
        jitter = self.draw.uniform(0.0, ceiling)
        if fault.wait is None:
            return jitter
        # What was asked for, and a spread beyond it, or all would be back in the same instant.
        return fault.wait + min(jitter, 1.0)
