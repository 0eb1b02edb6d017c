"""What a failed request means: try again, record it, refuse this prompt, or end the run.

The retry rule, so that a request that fails costs a known number at most:

    of one kind             as often as `TRIES` says
    of all kinds together   12 times
    a prompt that still has no answer when all others have been asked: once more (`LAST`)

What came with HTTP 200 and is no answer may have been paid for: it counts as `bad_output`, whatever
its kind, and has two tries and that last one. What ends a run ends it at once.

Messages of servers are looked at for what they mean; they may quote the prompt, so they are shown
only as `reasons` leaves them.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from clinqa.models.remote.said import ServerFault

__all__ = ["LAST", "TRIES", "Fault", "RetryPolicy", "judge", "retry_after"]

_CONTEXT = re.compile(
    r"context[ _]?(length|size|window)|prompt is too long|input is too long|"
    r"too many (input )?tokens|maximum (number of )?tokens|exceeds? the (model'?s )?max|"
    r"tokens \+ .{0,24}must be|must have less than \d+ tokens|prompt .{0,30}exceeds|"
    r"context_exceeded",
    re.I,
)
_TOO_LARGE = re.compile(
    r"request too large|reduce (the length of )?(your|the) (message|prompt|input)|"
    r"context (size|length|window) (has been |was )?exceeded|exceeds the available context",
    re.I,
)
# the limit asked for is over the model's: that is the request's fault, and no prompt's
_LIMIT = re.compile(
    r"tokens you requested|max(imum)?_(completion_)?tokens\W{0,3} (value|must be|is too large)|"
    r"range of max_tokens|invalid max_tokens",
    re.I,
)
_FILTERED = {"content_filter", "responsibleaipolicyviolation", "content_policy_violation"}
_FILTERS = re.compile(
    r"content[ _-]?(management )?policy|content[ _-]?filter|contentpolicy|responsible ?ai|"
    r"moderation|was flagged|flagged (as|for|by)|prohibited_content|safety (system|policy|reasons)",
    re.I,
)
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_SPENT = {
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "billing_error",
    "billing_hard_limit_reached",
    "servicequotaexceededexception",
}
_SPENT_WORDS = re.compile(
    r"credit balance is too low|no (more )?credits|insufficient (credits?|balance|funds|quota)|"
    r"out of credits|exceeded your current quota|spend(ing)? limit|billing (hard )?limit|"
    r"payment required|balance is (not enough|insufficient)",
    re.I,
)
_A_DAY = re.compile(r"per[ _-]?day|\bdaily\b|\b[TR]PD\b|per[ _-]?(week|month)|\bmonthly\b", re.I)
_AUTH_CODES = {
    "accessdeniedexception",
    "expiredtokenexception",
    "invalidsignatureexception",
    "unrecognizedclientexception",
    "invalid_api_key",
    "authentication_error",
}
_NO_PATH = re.compile(
    r"unexpected endpoint|unknown (url|endpoint|path|route)|no route matched|invalid url|"
    r"no such (endpoint|path|route)",
    re.I,
)
_NO_MODEL = re.compile(r"model .{0,80}(not found|does not exist)|no such model", re.I)
_RATE_CODES = {"rate_limit_exceeded", "rate_limit_error", "throttlingexception"}
_REFUSED_CODES = re.compile(r"invalid|badrequest|bad_request|validation|unsupported", re.I)


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is one of protocol.ERROR_KINDS, or `content_filter`, which is an answer of sorts.

    `ends` says why going on is pointless, if it is; `suspect` the same for what may also be this
    prompt's own fault, so that it ends a run only if nothing has worked yet. `reason` is what is
    to be told of it: the server's words, not fit to be shown yet, or ours (`own`). `paid`: it came
    with HTTP 200.
    """

    kind: str
    retry: bool = False
    wait: float | None = None
    ends: str = ""
    suspect: str = ""
    reason: str = ""
    own: bool = False
    paid: bool = False


def judge(
    status: int,
    said: ServerFault,
    headers: Mapping[str, str],
    now: datetime,
) -> Fault:
    """What a failure means: an answer other than 200, or an error in a 200, whose status is what
    the error says of itself (0 where it says none)."""
    again = headers.get("x-should-retry", "").casefold() != "false"
    wait = retry_after(headers, now)
    fault = _judged(status, said, again, said.wait if wait is None else wait)
    return replace(fault, reason=said.reason, paid=said.late)


def _judged(status: int, said: ServerFault, again: bool, wait: float | None) -> Fault:
    code, words = said.code.casefold(), said.message
    if status == 402 or code in _SPENT or (_SPENT_WORDS.search(words) and wait is None):
        return Fault("rate_limit", ends="the account's quota or spending limit is used up")
    if code in _FILTERED or (status in (0, 400, 403, 422) and _FILTERS.search(words)):
        return Fault("content_filter")
    if status in (401, 403) or code in _AUTH_CODES:
        return Fault("auth", ends="the key or the access was refused")
    if status == 413 or code in _CONTEXT_CODES or _TOO_LARGE.search(words):
        return Fault("context")
    if status == 429 or (status == 0 and code in _RATE_CODES):
        if _A_DAY.search(words) and wait is None:
            return Fault("rate_limit", ends="a limit of the day (or longer) is used up")
        return Fault("rate_limit", again, wait)
    if status == 408:
        return Fault("timeout", again, wait)
    if _NO_PATH.search(words):
        return Fault("server", suspect="no such path: is --base-url right?")
    if status >= 500 or status in (409, 424, 425):
        return Fault("server", again, wait)
    if status in (0, 400, 422) and not _LIMIT.search(words) and _CONTEXT.search(words):
        return Fault("context")
    named = _shown(status, said)
    if status in (404, 405, 410) or (status == 0 and _NO_MODEL.search(words)):
        return Fault("server", suspect=f"no such model or path ({named})")
    if status >= 400 or _REFUSED_CODES.search(code):
        return Fault("bad_output", suspect=f"the request was refused ({named})")
    return Fault("server" if status == 0 and words else "bad_output", again, wait)


_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]-]{0,60}")


def _shown(status: int, said: ServerFault) -> str:
    """Status, code and parameter where they are identifiers; nothing that could be a text."""
    parts = [part for part in (said.code, said.param) if _SAFE.fullmatch(part)]
    return ", ".join([f"HTTP {status}" if status else "in an answer with HTTP 200", *parts])


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


TRIES: Mapping[str, int] = {
    "rate_limit": 10,
    "network": 8,
    "server": 6,
    "timeout": 3,  # each may cost the whole time-out
    "bad_output": 2,  # each may have been paid for
}
"""How often a prompt is asked where its request fails, by the kind of failure."""
LAST = 1
MOST = 12


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long: exponential back-off with full jitter, capped; bounded by kind."""

    tries: Mapping[str, int] = field(default_factory=lambda: dict(TRIES))
    most: int = MOST
    base: float = 0.5
    cap: float = 30.0
    longest_asked: float = 120.0  # of a Retry-After; a longer one ends the run
    draw: random.Random = field(default_factory=random.Random)

    def again(self, fault: Fault, had: Counter[str], earlier: int = 0) -> bool:
        """May it be tried once more, after so many failures of each kind in this pass?

        `earlier` is how many failures there were in a pass before: then this one was the last.
        """
        kind = "bad_output" if fault.paid else fault.kind
        allowed = LAST if earlier else self.tries.get(kind, 1)
        failures = had.total() if fault.paid else had[fault.kind]
        return fault.retry and failures < allowed and had.total() + earlier < self.most

    def wait(self, fault: Fault, failures: int) -> float:
        """Seconds until the next try."""
        ceiling = min(self.cap, self.base * 2.0 ** (failures - 1))
        jitter = self.draw.uniform(0.0, ceiling)
        if fault.wait is None:
            return jitter
        # What was asked for, and a spread beyond it, or all would be back in the same instant.
        return fault.wait + min(jitter, 1.0)
