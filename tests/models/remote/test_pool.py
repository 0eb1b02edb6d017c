"""Servers that fail in every way: each prompt is answered or recorded once, and no run hangs."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError, ModelError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.models.protocol import Prompt, Sampling
from clinqa.models.registry import open_model
from clinqa.models.remote.faults import LAST, TRIES
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.openai import OpenAIWire
from loopback import Drop, Hang, Loopback, Raw, Reply, Request, reply
from remote_asking import SECRET_TEXT, Instant, answers, one, options, prompt, prompts, remote


def said(text: str = "Severe.", finish: str | None = "stop") -> Reply:
    return reply(
        {
            "choices": [
                {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
            ],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3},
        }
    )


def chat(server: Loopback, instant: Instant | None = None, **given: Any) -> RemoteModel:
    wire = OpenAIWire("m", options(base_url=server.url, **given))
    return remote(wire, instant, base_url=server.url, **given)


HALF = said().body[:40]
PAID = {
    "half a JSON": Reply(200, HALF),
    "nothing": Reply(200, b""),
    "a list": Reply(200, b"[]"),
    "deep": Reply(200, b"[" * 200_000),
    "no choices": Reply(200, b'{"choices": []}'),
    "number": Reply(200, b'{"choices": [{"message": {"content": 5}}]}'),
    "odd parts": Reply(200, b'{"choices": [{"message": {"content": [1, 2]}}]}'),
    "bad bytes": Reply(200, b'{"choices": "\xff\xfe"}'),
    "broken off": reply(
        {"choices": [{"message": {"content": "B) The fi"}, "error": {"code": 502}}]}
    ),
    "aborted": said("Half a se", "abort"),
    "loaded": said("", "load"),
    "unknown": said("Half a se", "brownout"),
    "204": Reply(204),
}
UNPAID = {
    "half the bytes": Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + HALF),
    "closed": Drop(),
    "HTML 502": Reply(502, b"<html>Bad gateway</html>"),
    "429": reply({"error": {"message": "slow"}}, 429, Retry_After="20"),
    "429 in a 200": reply({"error": {"message": "slow", "code": 429}}),
    "500": reply({"error": "oops"}, 500),
    "500 in a 200": reply({"error": {"message": "oops", "code": "500"}, "choices": None}),
    "503 dated": reply({}, 503, Retry_After="Thu, 01 Jan 2026 00:00:09 GMT"),
    "408": Reply(408),
    "409": Reply(409),
}
FAULTS = PAID | UNPAID


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_now_and_then_is_made_good(fault: str) -> None:
    had: Counter[bytes] = Counter()

    def handler(request: Request) -> Any:
        had[request.body] += 1
        return FAULTS[fault] if had[request.body] < (2 if fault in PAID else 3) else said()

    with Loopback(handler) as server:
        outputs = answers(chat(server), prompts(12))
    assert {output.text for output in outputs} == {"Severe."}
    assert {output.error for output in outputs} == {""}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_that_stays_costs_what_the_rule_says_in_each_pass(fault: str) -> None:
    instant = Instant()
    with Loopback(lambda _: FAULTS[fault]) as server:
        model = chat(server, instant, max_parallel=3)
        outputs = [output for _, output in model.generate(prompts(3), Sampling())]
        tries = len(server.requests)
        outputs += [output for _, output in model.generate(prompts(3), Sampling())]
        last = len(server.requests) - tries
        model.close()
    assert {output.finish_reason for output in outputs} == {"error"}
    (kind,) = {output.error for output in outputs}
    assert kind in {"bad_output", "network", "server", "timeout", "rate_limit"}
    assert tries == 3 * TRIES["bad_output" if fault in PAID else kind]
    assert last == 3 * LAST
    assert max(instant.slept) <= 121


ALWAYS = {
    "a stream": (Reply(200, b'data: {"choices": []}\n\n'), "is a stream"),
    "HTML": (Reply(200, b"<html>Sign in</html>", {"Content-Type": "text/html"}), "an HTML page"),
    "completions": (
        reply({"choices": [{"text": "B", "finish_reason": "stop"}]}),
        "completions API",
    ),
    "no HTTP": (Raw(b"\x00\x01\x02\r\n\r\n"), "not HTTP"),
    "compressed": (Reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"}), "compressed"),
    "Ollama": (reply({"message": {"content": "B"}, "done": True}), "/v1"),
    "another path": (reply({"error": "Unexpected endpoint or method. (POST /x)"}), "--base-url"),
}


@pytest.mark.parametrize("kind", ALWAYS)
def test_another_format_or_path_is_named_and_ends_a_run_that_has_not_begun(kind: str) -> None:
    made, words = ALWAYS[kind]
    with Loopback(lambda _: made) as server:
        with pytest.raises(ModelError, match=words):
            answers(chat(server), prompts(3))
        assert len(server.requests) <= 3


def test_a_hang_is_a_timeout_and_does_not_hold_the_others_up() -> None:
    def handler(request: Request) -> Any:
        return Hang() if "Quimby. 1" in request.body.decode() else said()

    with Loopback(handler) as server:
        outputs = answers(chat(server, timeout=0.15), prompts(4))
        asked = Counter(request.json["messages"][-1]["content"] for request in server.requests)
    assert [output.error for output in outputs] == ["", "timeout", "", ""]
    assert asked[f"{SECRET_TEXT} 1"] == 3


def test_a_server_that_dies_and_comes_back_is_waited_for() -> None:
    with Loopback(lambda _: said()) as server:
        port = server.port
        dead = chat(server)
    revived: list[Loopback] = []
    reviving = asyncio.Lock()  # sleeps take no time, so nobody may try on while it comes back

    class Reviving(Instant):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            async with reviving:
                if not revived and len(self.slept) >= 6:
                    revived.append(Loopback(lambda _: said(), port=port))
                    await asyncio.get_running_loop().run_in_executor(None, revived[0].__enter__)

    wire = dead._wire
    model = remote(wire, Reviving(), base_url=server.url)
    try:
        outputs = answers(model, prompts(6))
    finally:
        for each in revived:
            each.__exit__()
    assert [output.text for output in outputs] == ["Severe."] * 6


def test_a_refused_key_ends_the_run_names_the_variable_and_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    for status in (401, 403):
        message = {
            "error": {"message": "Incorrect API key: sk-very-secret", "code": "invalid_api_key"}
        }
        with Loopback(lambda _, s=status, m=message: reply(m, s)) as server:
            model = chat(server, api_key_env="MY_KEY", max_parallel=1)
            with pytest.raises(ModelError, match="MY_KEY") as ended:
                answers(model, prompts(50))
            assert len(server.requests) == 1
        assert ended.value.exit_code == 5
        assert "sk-very" not in str(ended.value)


def test_what_was_in_flight_when_a_run_ends_is_handed_over_first() -> None:
    def handler(request: Request) -> Any:
        return Reply(401) if "Quimby. 3" in request.body.decode() else said()

    with Loopback(handler) as server:
        model = chat(server, max_parallel=4)
        found = []
        with pytest.raises(ModelError):
            for index, output in model.generate(prompts(100), Sampling()):
                found.append((index, output.text))
        model.close()
        answered = len(server.requests) - 1
    assert len(found) == answered and {text for _, text in found} == {"Severe."}


def test_an_unknown_model_ends_the_run_at_once() -> None:
    missing = {"error": {"message": f"{SECRET_TEXT}", "code": "model_not_found"}}
    with Loopback(lambda _: reply(missing, 404)) as server:
        with pytest.raises(ModelError, match="HTTP 404, model_not_found") as ended:
            answers(chat(server, max_parallel=1), prompts(9))
        assert len(server.requests) == 1
    assert "Quimby" not in str(ended.value)


def test_a_request_that_is_always_refused_ends_the_run_and_names_the_field() -> None:
    wrong = {"error": {"message": SECRET_TEXT, "code": "unsupported_value", "param": "temperature"}}
    with Loopback(lambda _: reply(wrong, 400)) as server:
        with pytest.raises(ModelError, match="unsupported_value, temperature") as ended:
            answers(chat(server, max_parallel=1), prompts(100))
        assert len(server.requests) == 1 + 8  # once without the field
    assert "Quimby" not in str(ended.value)


def test_one_refused_request_among_good_ones_is_recorded() -> None:
    def handler(request: Request) -> Any:
        return (
            reply({"error": {"message": "?"}}, 400)
            if "Quimby. 2" in request.body.decode()
            else said()
        )

    with Loopback(handler) as server:
        outputs = answers(chat(server, max_parallel=1), prompts(5))
    assert [output.error for output in outputs] == ["", "", "bad_output", "", ""]


def test_a_wait_longer_than_a_run_waits_ends_it_and_says_so() -> None:
    with (
        Loopback(lambda _: reply({}, 429, Retry_After="100000")) as server,
        pytest.raises(ModelError, match=r"asks to wait 100,000 s \(rate_limit\), longer than"),
    ):
        answers(chat(server, Instant(), max_parallel=1), prompts(3))


def test_a_port_where_nobody_listens_is_named_before_long() -> None:
    with Loopback(lambda _: said()) as server:
        port, dead = server.port, chat(server)
    instant = Instant()
    model = remote(dead._wire, instant, base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelError, match=rf"127.0.0.1:{port}: no connection"):
        answers(model, prompts(2))
    assert sum(instant.slept) < 10


def test_a_long_wait_is_told_once_a_minute() -> None:
    count = itertools.count()
    lines: list[str] = []
    with Loopback(
        lambda _: reply({}, 429, Retry_After="20") if next(count) < 4 else said()
    ) as server:
        answers(chat(server, Instant(), max_parallel=1, notice=lines.append), prompts(3))
        where = f"http://127.0.0.1:{server.port}: rate_limit; waiting"
    assert len(lines) == 2 and all(line.startswith(where) for line in lines)
    assert all(line.endswith("as it asks") for line in lines)


def test_a_wait_asked_of_one_holds_all_back() -> None:
    count = itertools.count()
    instant = Instant()
    seen: list[float] = []

    def handler(request: Request) -> Any:
        seen.append(instant.time)
        return reply({}, 429, Retry_After="30") if next(count) == 0 else said()

    with Loopback(handler) as server:
        answers(chat(server, instant, max_parallel=1), prompts(3))
    assert seen[0] == 0.0 and all(moment >= 30.0 for moment in seen[1:])


def test_no_more_than_the_bound_is_in_flight() -> None:
    inside = peak = 0

    class Counting(Loopback):
        async def _connection(self, *streams: Any) -> None:
            nonlocal inside, peak
            inside += 1
            peak = max(peak, inside)
            try:
                await super()._connection(*streams)
            finally:
                inside -= 1

    with Counting(lambda _: said()) as server:
        answers(chat(server, max_parallel=3), prompts(40))
    assert peak == 3


def test_closing_the_iterator_breaks_off_what_is_in_flight_and_the_model_still_works() -> None:
    def handler(request: Request) -> Any:
        return said() if "Quimby. 0" in request.body.decode() or done else Hang()

    done = False
    with Loopback(handler) as server:
        model = chat(server, max_parallel=3, timeout=60)
        outputs = model.generate(prompts(5), Sampling())
        assert next(outputs)[0] == 0
        outputs.close()  # type: ignore[attr-defined]
        done = True
        assert one(model).text == "Severe."


def test_an_interrupt_breaks_off_and_leaves_nothing_running() -> None:
    def handler(request: Request) -> Any:
        if "Quimby. 2" not in request.body.decode():
            return said()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]
        return Hang()

    with Loopback(handler) as server:
        model = chat(server, max_parallel=1, timeout=60)
        found = []
        with pytest.raises(KeyboardInterrupt):
            for index, _ in model.generate(prompts(9), Sampling()):
                found.append(index)
        runner = model._runner
        assert runner is not None and not asyncio.all_tasks(runner.get_loop())
        model.close()
    assert found == [0, 1] and len(server.requests) == 3


def test_inside_a_running_loop_it_says_what_to_do() -> None:
    async def notebook() -> None:
        answers(chat(server), prompts(1))

    with Loopback(lambda _: said()) as server, pytest.raises(ConfigError, match="thread"):
        asyncio.run(notebook())


def test_prompts_are_drawn_as_they_are_needed_and_not_kept() -> None:
    drawn = handed = ahead = 0

    class Many:
        def __len__(self) -> int:
            return 600

        def __getitem__(self, n: int) -> Prompt:
            nonlocal drawn
            drawn += 1
            return prompt(n)

    with Loopback(lambda _: said()) as server:
        model = chat(server, max_parallel=4)
        for _ in model.generate(Many(), Sampling()):  # type: ignore[arg-type]
            handed += 1
            ahead = max(ahead, drawn - handed)
        model.close()
    assert handed == 600 and ahead <= 40


def test_sessions_outlive_a_call_so_connections_are_used_again() -> None:
    with Loopback(lambda _: said()) as server:
        model = chat(server, max_parallel=2)
        for _ in range(5):
            list(model.generate(prompts(4), Sampling()))
        model.close()
        assert server.connections <= 2


def test_nothing_to_ask_asks_nothing() -> None:
    with Loopback(lambda _: said()) as server:
        model = chat(server)
        assert list(model.generate([], Sampling())) == []
        model.close()
    assert server.requests == []


def test_private_text_for_a_host_elsewhere_is_refused_when_the_model_is_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-very-secret")
    monkeypatch.setattr("clinqa.privacy.egress.socket.getaddrinfo", _elsewhere)
    for name in ("openai:m", "azure:m", "anthropic:m", "bedrock:m"):
        for data_class in (DataClass.RESTRICTED, DataClass.PHI):
            base = "https://models.example" if name != "bedrock:m" else None
            with pytest.raises(PrivacyError) as refused:
                open_model(name, options(data_class=data_class, base_url=base, region="us-east-1"))
            assert refused.value.exit_code == 4


def _elsewhere(host: str, port: int, **_: object) -> list[Any]:
    return [(2, 1, 6, "", ("203.0.113.9", port))]


def test_a_redirect_of_private_text_ends_the_run_as_a_refusal() -> None:
    moved = Reply(307, b"", {"Location": "http://203.0.113.9/v1"})
    with Loopback(lambda _: moved) as server, pytest.raises(PrivacyError):
        answers(chat(server), prompts(3))


def test_no_log_line_or_error_holds_key_or_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    log = tmp_path / "egress.jsonl"
    caplog.set_level("DEBUG")
    count = itertools.count()

    def handler(request: Request) -> Any:
        assert request.headers["authorization"] == "Bearer sk-very-secret"
        return (
            said() if next(count) % 2 else reply({"error": {"message": request.body.decode()}}, 500)
        )

    with Loopback(handler) as server:
        model = chat(server, api_key_env="MY_KEY", egress_log=log)
        answers(model, prompts(4))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert len(lines) == len(server.requests)
    everything = log.read_text() + caplog.text + repr(model) + repr(vars(model))
    assert "sk-very" not in everything and "Quimby" not in everything
    assert Counter(item for line in lines for item in line["items"]).keys() == {
        f"item{n}" for n in range(4)
    }


def test_a_key_that_cannot_be_a_header_is_an_error_that_does_not_show_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very\nsecret")
    with pytest.raises(ConfigError, match="MY_KEY") as wrong:
        OpenAIWire("m", options(base_url="http://127.0.0.1:1", api_key_env="MY_KEY"))
    assert "sk-very" not in str(wrong.value)
