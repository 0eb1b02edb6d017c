"""What failures mean, and how long to wait."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.models.protocol import ERROR_KINDS
from clinqa.models.remote.faults import Fault, RetryPolicy, judge, retry_after
from clinqa.models.remote.wire import ServerFault

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 2026 12:00:07 GMT"}, 7.0),
        ({"Retry-After": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_a_server_may_ask_for_a_wait_in_seconds_or_until_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.integers(100, 999), st.text(max_size=40), st.text(max_size=80))
def test_every_status_has_one_meaning_that_quotes_no_message(
    status: int, code: str, message: str
) -> None:
    fault = judge(status, ServerFault(code, "", f"<<{message}>>"), {}, NOW)
    assert fault.kind in (*ERROR_KINDS, "content_filter")
    assert "<<" not in fault.ends + fault.suspect


@pytest.mark.parametrize(
    ("status", "said", "kind", "retry", "ends"),
    [
        (401, ServerFault(), "auth", False, True),
        (403, ServerFault("AccessDeniedException"), "auth", False, True),
        (400, ServerFault("ExpiredTokenException"), "auth", False, True),
        (402, ServerFault(), "rate_limit", False, True),
        (429, ServerFault("insufficient_quota"), "rate_limit", False, True),
        (429, ServerFault("rate_limit_error"), "rate_limit", True, False),
        (429, ServerFault("ModelNotReadyException"), "rate_limit", True, False),
        (408, ServerFault(), "timeout", True, False),
        (409, ServerFault(), "server", True, False),
        (424, ServerFault("ModelErrorException"), "server", True, False),
        (500, ServerFault(), "server", True, False),
        (529, ServerFault("overloaded_error"), "server", True, False),
        (413, ServerFault(), "context", False, False),
        (400, ServerFault("context_length_exceeded"), "context", False, False),
        (
            400,
            ServerFault("", "", "This model's maximum context length is 8192"),
            "context",
            False,
            False,
        ),
        (
            400,
            ServerFault("invalid_request_error", "", "prompt is too long"),
            "context",
            False,
            False,
        ),
        (
            400,
            ServerFault("ValidationException", "", "Input is too long for"),
            "context",
            False,
            False,
        ),
        (400, ServerFault("content_filter"), "content_filter", False, False),
        (400, ServerFault("ResponsibleAIPolicyViolation"), "content_filter", False, False),
        (400, ServerFault("anything"), "bad_output", False, False),
        (204, ServerFault(), "bad_output", True, False),
    ],
)
def test_what_the_services_answer_is_told_apart(
    status: int, said: ServerFault, kind: str, retry: bool, ends: bool
) -> None:
    fault = judge(status, said, {}, NOW)
    assert (fault.kind, fault.retry, bool(fault.ends)) == (kind, retry, ends)


def test_a_server_that_says_not_to_retry_is_believed() -> None:
    assert not judge(500, ServerFault(), {"x-should-retry": "false"}, NOW).retry


def test_waits_grow_are_spread_and_are_capped() -> None:
    policy = RetryPolicy(draw=random.Random(1))
    waits = [[policy.wait(Fault("server", True), n) for _ in range(200)] for n in range(1, 12)]
    assert all(
        0 <= wait <= min(30.0, 0.5 * 2 ** (n - 1))
        for n, each in enumerate(waits, 1)
        for wait in each
    )
    assert max(waits[-1]) > 20 and min(waits[-1]) < 3
    asked = [policy.wait(Fault("rate_limit", True, 10.0), 1) for _ in range(50)]
    assert all(10.0 <= wait <= 11.0 for wait in asked)


def test_tries_are_bounded_by_kind_and_in_all() -> None:
    policy = RetryPolicy()
    assert policy.again(Fault("timeout", True), Counter(timeout=2))
    assert not policy.again(Fault("timeout", True), Counter(timeout=3))
    assert not policy.again(Fault("rate_limit", True), Counter(rate_limit=6, server=6))
    assert not policy.again(Fault("auth", False), Counter(auth=1))
