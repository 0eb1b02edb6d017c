"""Requests per second on one fake OpenAI-compatible server: clinqa predict beside its peers.

    .venv/bin/python benchmarks/predict.py [--items 22000] [--peers PEERS/bin/python]

All clients ask the same prompts, 32 at a time, of the same local server, which answers at once; so
what is measured is the client: building prompts, HTTP, keeping answers. clinqa's figure includes
reading the dataset, the prompts file, the egress log and the journal. Peers run in an environment
of their own and are skipped, with a sentence, where it is absent:

    python -m venv PEERS && PEERS/bin/pip install 'lm-eval[api]' inspect-ai openai

A rate is requests over the time between the first and the last one the server saw, so that no
client pays for its imports; the whole command's time stands beside it. Single runs on a shared
machine: trust ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve()
PARALLEL = 32
STUDIES_PER_ITEM = 1 / 2.5  # a fifth of the studies is test, with about 13 questions each
REPLY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "No mitral regurgitation."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 6, "total_tokens": 406},
    }
).encode()


# The server: as little as HTTP needs, so that the client is what is measured.


class Server(asyncio.Protocol):
    """Answers every POST alike; GET /stats tells the count and when the first and last came."""

    count, first, last = 0, 0.0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            head, separator, rest = self.buffer.partition(b"\r\n\r\n")
            if not separator:
                return
            length = 0
            for line in head.split(b"\r\n"):
                if line[:15].lower() == b"content-length:":
                    length = int(line[15:])
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            self.transport.write(self.answer(head))

    def answer(self, head: bytes) -> bytes:
        body = REPLY
        if head.startswith(b"POST"):
            Server.last = time.perf_counter()
            Server.first = Server.first or Server.last
            Server.count += 1
        else:
            body = json.dumps([Server.count, Server.last - Server.first]).encode()
            Server.count, Server.first = 0, 0.0
        start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        return start + str(len(body)).encode() + b"\r\n\r\n" + body


def serve() -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


@dataclass
class Measured:
    """One client's run: requests a second as the server saw them, whole time, peak memory."""

    name: str
    requests: int
    rate: float
    wall: float
    peak_mb: float

    def __str__(self) -> str:
        return (
            f"{self.name:<44}{self.requests:>8,}{self.rate:>10,.0f}/s"
            f"{self.wall:>9.1f} s{self.peak_mb:>8,.0f} MB"
        )


def stats(port: int) -> tuple[int, float]:
    """Requests since the last call, and the seconds from the first to the last."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
        count, seconds = json.load(answer)
    return count, seconds


def measure(name: str, port: int, command: Sequence[str], **environment: str) -> Measured | None:
    """Run a client as a process of its own."""
    stats(port)
    began = time.perf_counter()
    log = Path(os.environ.get("BENCH_LOG", os.devnull))
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command), stdout=output, stderr=output, env={**os.environ, **environment}
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    count, seconds = stats(port)
    if process.returncode or not count:
        print(f"{name}: failed (exit {process.returncode}); BENCH_LOG=FILE keeps what it said")
        return None
    return Measured(name, count, count / max(seconds, 1e-9), wall, used.ru_maxrss / 1024)


# The peers, each told to ask the prompts of `prompts.json`: [{"system": …, "user": …}, …].

BARE = """
import asyncio, json, sys, aiohttp
prompts = json.load(open(sys.argv[1]))
async def work(session, waiting):
    for p in waiting:
        body = json.dumps({"model": "fake", "max_tokens": 128, "temperature": 0, "messages": [
            {"role": "system", "content": p["system"]}, {"role": "user", "content": p["user"]}]})
        async with session.post(sys.argv[2] + "/chat/completions", data=body.encode(),
                                headers={"Content-Type": "application/json"}) as answer:
            json.loads(await answer.read())["choices"][0]["message"]["content"]
async def main():
    waiting = iter(prompts)
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(work(session, waiting) for _ in range(int(sys.argv[3]))))
asyncio.run(main())
"""

LM_EVAL_TASK = """
task: clinqa_bench
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
description: "{{{{system}}}}"
doc_to_text: "{{{{user}}}}"
doc_to_target: "x"
generation_kwargs: {{until: [], max_gen_toks: 128, temperature: 0, do_sample: false}}
metric_list: [{{metric: exact_match}}]
"""

INSPECT = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate
prompts = json.load(open(sys.argv[1]))
samples = [Sample(input=[ChatMessageSystem(content=p["system"]), ChatMessageUser(content=p["user"])],
                  target="x") for p in prompts]
model = get_model("openai-api/fake/fake", base_url=sys.argv[2], api_key="none",
                  config=GenerateConfig(max_connections=int(sys.argv[3]), max_tokens=128,
                                        temperature=0))
logs = eval(Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact()), model=model,
            display="none", log_dir=sys.argv[4], max_samples=int(sys.argv[3]))
sys.exit(logs[0].status != "success")
"""


def peers(python: Path, port: int, prompts: list[dict[str, str]], work: Path) -> list[Measured]:
    base = f"http://127.0.0.1:{port}/v1"
    few, fewer = work / "few.json", work / "fewer.json"
    few.write_text(json.dumps(prompts[:2000]))
    fewer.write_text(json.dumps(prompts[:400]))
    tasks = work / "tasks"
    tasks.mkdir()
    (tasks / "clinqa_bench.yaml").write_text(LM_EVAL_TASK.format(file=few))
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(work / "hf"), "HF_HOME": str(work)}
    told = f"model=fake,base_url={base}/chat/completions,num_concurrent={PARALLEL},max_retries=1"
    lm_eval = [
        str(python), "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", told,
        "--tasks", "clinqa_bench", "--include_path", str(tasks), "--apply_chat_template",
        "--output_path", str(work / "lm_eval"), "--log_samples",
    ]  # fmt: skip
    (work / "inspect_bench.py").write_text(INSPECT)
    inspect = [
        str(python), str(work / "inspect_bench.py"), str(fewer), base, str(PARALLEL),
        str(work / "inspect"),
    ]  # fmt: skip
    found = [
        measure(
            "lm-evaluation-harness local-chat-completions", port, lm_eval,
            OPENAI_API_KEY="none", **offline,
        ),
        measure("Inspect eval", port, inspect, INSPECT_DISPLAY="none"),
    ]  # fmt: skip
    return [one for one in found if one is not None]


def clinqa(port: int, dataset: Path, run: Path, *more: str) -> Measured | None:
    return measure(
        f"clinqa predict{' ' if more else ''}{' '.join(more)}", port,
        [
            sys.executable, "-m", "clinqa", "predict", str(dataset), "--model", "openai:fake",
            "--base-url", f"http://127.0.0.1:{port}/v1", "--max-parallel", str(PARALLEL),
            "--out", str(run), *more,
        ],
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=22_000)
    parser.add_argument("--peers", type=Path, default=HERE.parents[1] / ".peers/bin/python")
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "bench-out" / "predict")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.serve:
        serve()
        return
    shutil.rmtree(told.work, ignore_errors=True)
    told.work.mkdir(parents=True)
    command = [sys.executable, str(HERE), "--serve"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        compare(told, int(server.stdout.readline()))
    finally:
        server.terminate()
        server.wait()


def compare(told: argparse.Namespace, port: int) -> None:
    from clinqa.predict.kept import read_prompts

    work = told.work
    dataset = made_dataset(work, told.items)
    print(f"{'client':<44}{'requests':>8}{'rate':>12}{'command':>11}{'peak':>11}", flush=True)
    results = [
        clinqa(port, dataset, work / "run-2200", "--limit", "2200"),
        clinqa(port, dataset, work / "run", "--limit", str(told.items)),
    ]
    for one in results:
        print(one, flush=True)
    prompts = [
        {"system": messages[0].text, "user": messages[1].text}
        for _, messages in read_prompts(work / "run" / "prompts.jsonl")
    ]
    (work / "all.json").write_text(json.dumps(prompts))
    bare = measure(
        "bare aiohttp loop, answers thrown away", port,
        [sys.executable, "-c", BARE, str(work / "all.json"), f"http://127.0.0.1:{port}/v1",
         str(PARALLEL)],
    )  # fmt: skip
    print(bare, flush=True)
    if not told.peers.exists():
        print(f"no {told.peers}: the peers were not measured; see --help for how to install them")
        return
    ours = results[1]
    for peer in peers(told.peers.absolute(), port, prompts, work):
        print(peer)
        if ours is not None:
            print(f"    clinqa asks {ours.rate / peer.rate:.1f} times as many a second")


def made_dataset(work: Path, items: int) -> Path:
    """Simulated reports with at least so many items in the test split."""
    studies = str(int(items * STUDIES_PER_ITEM * 1.1) + 50)
    reports, dataset = work / "reports.csv", work / "dataset"
    program = [sys.executable, "-m", "clinqa"]
    for told in (
        ["simulate", "echo", "--studies", studies, "--seed", "0", "--out", str(reports)],
        ["build", "echo", str(reports), "--out", str(dataset)],
    ):
        subprocess.run([*program, *told], check=True, stdout=subprocess.DEVNULL)
    return dataset


if __name__ == "__main__":
    main()
