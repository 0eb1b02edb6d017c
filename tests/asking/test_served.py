"""predict over HTTP: a server that misbehaves, a kill, a host that may not see the text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from asking.made_dataset import predictions, rows, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import PrivacyError
from loopback import Drop, Handler, Hang, Loopback, Raw, Reply, Request, reply


def answer(text: str = "Mild.") -> Reply:
    return reply(
        {
            "choices": [{"message": {"role": "assistant", "content": text},
                         "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        }
    )  # fmt: skip


def asked(request: Request) -> str:
    return str(request.json["messages"][-1]["content"])


def faulty(faults: list[object]) -> Handler:
    """Each prompt meets one of the faults first and is answered when it is asked again."""
    seen: Counter[str] = Counter()

    def handler(request: Request) -> Reply | Raw | Hang | Drop:
        seen[asked(request)] += 1
        if seen[asked(request)] == 1:
            return faults[len(seen) % len(faults)]  # type: ignore[return-value]
        return answer()

    return handler


FAULTS = [
    reply({"error": {"message": "slow down"}}, 429, Retry_After="0"),
    reply({"error": {"message": "oops"}}, 500),
    Raw(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"choi'),
    Reply(200, b'{"choices": [{"mess', {"Content-Type": "application/json"}),
    Reply(200, b"<html>hello</html>", {"Content-Type": "text/html"}),
    Drop(),
    Hang(),
    Reply(200, b"", {}),
]


def test_a_server_with_every_fault_leaves_no_item_without_an_answer(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "dataset", data_class="restricted")
    with Loopback(faulty(FAULTS)) as server:
        options = PredictOptions(
            model="openai:made", base_url=server.url, timeout=1.0, max_parallel=18
        )
        counts = predict(dataset, tmp_path / "run", options).counts
    assert counts["answered"] == 18
    found = predictions(tmp_path / "run")
    assert {one["input_tokens"] for one in found} == {7}
    lines = (tmp_path / "run" / "egress.jsonl").read_text().splitlines()
    assert len(lines) == len(server.requests)
    items = {one["item_id"] for one in found}
    assert {item for line in lines for item in json.loads(line)["items"]} == items


def test_the_server_gets_the_very_prompts_that_are_kept(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "dataset")
    with Loopback(lambda request: answer()) as server:
        options = PredictOptions(model="openai:made", base_url=server.url, shots=2, max_tokens=33)
        predict(dataset, tmp_path / "run", options)
    from clinqa.asking.results import read_prompts

    kept = {
        tuple((message.role, message.text) for message in messages)
        for _, messages in read_prompts(tmp_path / "run" / "prompts.jsonl")
    }
    sent = {
        tuple((turn["role"], turn["content"]) for turn in request.json["messages"])
        for request in server.requests
    }
    assert sent == kept
    assert {request.json["max_tokens"] for request in server.requests} == {33}


def test_a_host_that_may_not_see_the_text_is_refused_before_anything_is_left(
    tmp_path: Path,
) -> None:
    dataset = write_dataset(tmp_path / "dataset", data_class="restricted")
    there = PredictOptions(model="openai:made", base_url="http://192.0.2.1:9/v1")
    with pytest.raises(PrivacyError):
        predict(dataset, tmp_path / "run", there)
    dry = PredictOptions(model="openai:made", base_url="http://192.0.2.1:9/v1", dry_run=True)
    with pytest.raises(PrivacyError, match="would be refused"):
        predict(dataset, tmp_path / "dry", dry)
    assert not (tmp_path / "dry").exists()
    predict(dataset, tmp_path / "run", PredictOptions(model="baseline:prior"))  # the folder is free


def test_a_dry_run_says_where_the_texts_would_go_and_what_it_may_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = [(2, 1, 6, "", ("203.0.113.9", 443))]
    monkeypatch.setattr("clinqa.privacy.egress.socket.getaddrinfo", lambda *_, **__: elsewhere)
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "as_of: 2026-01-01\ncurrency: USD\nmodels: {'openai:*': {input: 1, output: 1000}}\n"
    )
    options = PredictOptions(model="openai:made", price_file=prices, dry_run=True)
    dataset = write_dataset(tmp_path / "dataset", data_class="public")
    notes = "\n".join(predict(dataset, tmp_path / "run", options).lines)
    assert "api.openai.com (away from this machine)" in notes and "USD" in notes
    assert not (tmp_path / "run").exists()


PROGRAM = """
import sys
from pathlib import Path
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.predict import predict
options = PredictOptions(model="openai:made", base_url=sys.argv[3], max_parallel=4)
predict(Path(sys.argv[1]), Path(sys.argv[2]), options)
"""


def test_a_kill_pays_again_for_at_most_the_requests_in_flight(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(100)]))
    times: Counter[str] = Counter()

    def slow(request: Request) -> Reply:
        times[asked(request)] += 1
        time.sleep(0.003)
        return answer()

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Loopback(slow) as server:
        arguments = [sys.executable, "-c", PROGRAM, str(dataset), str(tmp_path / "run"), server.url]
        kills = 0
        for least in (40, 120):
            process = subprocess.Popen(arguments, env=environment)
            while len(server.requests) < least and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        subprocess.run(arguments, env=environment, check=True)
    assert len(times) == 300
    # in flight at a kill: 4 on their way, and as many that had come in and were being written
    assert sum(times.values()) <= 300 + kills * 8
    assert len(predictions(tmp_path / "run")) == 300
