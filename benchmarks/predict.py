"""Requests per second on one fake OpenAI-compatible server: clinqa predict beside its peers.

    .venv/bin/python benchmarks/predict.py [--items 22000] [--peers PEERS/bin/python]

All clients ask the same prompts, 32 at a time, of the same local server, which answers at once; so
what is measured is the client: building prompts, HTTP, keeping answers. clinqa's figure includes
reading the dataset, the prompts file, the egress log and the journal. Peers run in an environment
of their own and are skipped, with a sentence, where it is absent:

    python -m venv PEERS && PEERS/bin/pip install 'lm-eval[api]' inspect-ai openai

Each client is run twice, over few and over many items; what it takes for each further item is the
difference over the difference, so that no client pays for its imports. That is everything it does
for an item: reading it, making the prompt, asking, keeping the answer. CPU time is steadier than
the clock on a shared machine; ratios are steadier than both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
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
    """Answers every POST alike; GET tells how many there have been since it was last asked."""

    count = 0

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
            Server.count += 1
        else:
            body = str(Server.count).encode()
            Server.count = 0
        start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        return start + str(len(body)).encode() + b"\r\n\r\n" + body


def serve() -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


@dataclass
class Run:
    """One run of a client: requests, the command's time, its CPU time, its peak memory."""

    requests: int
    wall: float
    cpu: float
    peak_mb: float


@dataclass
class Measured:
    """A client over few and over many items."""

    name: str
    few: Run
    many: Run

    @property
    def further(self) -> int:
        return self.many.requests - self.few.requests

    @property
    def rate(self) -> float:
        """Further items a second, by the clock; not a number where the machine was too busy."""
        seconds = self.many.wall - self.few.wall
        return self.further / seconds if seconds > 0 else float("nan")

    @property
    def cpu_ms(self) -> float:
        """CPU time of the client for each further item."""
        return 1000 * (self.many.cpu - self.few.cpu) / self.further

    def __str__(self) -> str:
        return (
            f"{self.name:<46}{self.few.requests:>7,} {self.many.requests:>7,}{self.rate:>9,.0f}/s"
            f"{self.cpu_ms:>9.2f} ms{self.few.peak_mb:>7,.0f} {self.many.peak_mb:>5,.0f} MB"
        )


def served(port: int) -> int:
    """Requests the server has answered since the last call."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/count") as answer:
        return int(json.load(answer))


Command = Callable[[int], list[str]]


def measure(
    name: str, port: int, sizes: tuple[int, int], command: Command, **environment: str
) -> Measured | None:
    """Run a client over few and over many items, each time as a process of its own."""
    runs = []
    for size in sizes:
        served(port)
        began = time.perf_counter()
        with Path(os.environ.get("BENCH_LOG", os.devnull)).open("ab") as log:
            process = subprocess.Popen(
                command(size), stdout=log, stderr=log, env={**os.environ, **environment}
            )
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        count = served(port)
        if process.returncode or count != size:
            print(f"{name}: failed (exit {process.returncode}, {count} of {size} asked)")
            return None
        runs.append(Run(count, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    measured = Measured(name, *runs)
    print(measured, flush=True)
    return measured


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
samples = [Sample(target="x", input=[
    ChatMessageSystem(content=p["system"]), ChatMessageUser(content=p["user"])]) for p in prompts]
model = get_model("openai-api/fake/fake", base_url=sys.argv[2], api_key="none",
                  config=GenerateConfig(max_connections=int(sys.argv[3]), max_tokens=128,
                                        temperature=0))
logs = eval(Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact()), model=model,
            display="none", log_dir=sys.argv[4], max_samples=int(sys.argv[3]))
sys.exit(logs[0].status != "success")
"""


def clinqa(port: int, dataset: Path, work: Path, sizes: tuple[int, int]) -> Measured | None:
    """The whole verb: dataset, prompts file, egress log, journal, predictions, manifest."""

    def command(size: int) -> list[str]:
        return [
            sys.executable, "-m", "clinqa", "predict", str(dataset), "--model", "openai:fake",
            "--base-url", f"http://127.0.0.1:{port}/v1", "--max-parallel", str(PARALLEL),
            "--out", str(work / f"run-{size}"), "--limit", str(size), "--fresh",
        ]  # fmt: skip

    return measure("clinqa predict", port, sizes, command)


def bare(
    port: int, prompts: list[dict[str, str]], work: Path, sizes: tuple[int, int]
) -> Measured | None:
    """The floor: aiohttp and nothing else, answers thrown away."""

    def command(size: int) -> list[str]:
        file = written(work / f"bare-{size}.json", prompts[:size])
        return [sys.executable, "-c", BARE, str(file), f"http://127.0.0.1:{port}/v1", str(PARALLEL)]

    return measure("bare aiohttp loop, answers thrown away", port, sizes, command)


def lm_eval(
    python: Path, port: int, prompts: list[dict[str, str]], work: Path, sizes: tuple[int, int]
) -> Measured | None:
    """Its chat-completions client over a task of the same prompts, samples logged."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"

    def command(size: int) -> list[str]:
        tasks = work / f"tasks-{size}"
        tasks.mkdir(exist_ok=True)
        file = written(work / f"lm-eval-{size}.json", prompts[:size])
        (tasks / "clinqa_bench.yaml").write_text(LM_EVAL_TASK.format(file=file))
        return [
            str(python), "-m", "lm_eval", "--model", "local-chat-completions", "--model_args",
            f"model=fake,base_url={url},num_concurrent={PARALLEL},max_retries=1",
            "--tasks", "clinqa_bench", "--include_path", str(tasks), "--apply_chat_template",
            "--output_path", str(work / "lm_eval"), "--log_samples",
        ]  # fmt: skip

    return measure(
        "lm-evaluation-harness local-chat-completions", port, sizes, command,
        OPENAI_API_KEY="none", HF_HUB_OFFLINE="1", HF_HOME=str(work / "hf"),
    )  # fmt: skip


def inspect(
    python: Path, port: int, prompts: list[dict[str, str]], work: Path, sizes: tuple[int, int]
) -> Measured | None:
    """Its eval over a task of the same prompts."""
    (work / "inspect_bench.py").write_text(INSPECT)

    def command(size: int) -> list[str]:
        file = written(work / f"inspect-{size}.json", prompts[:size])
        return [
            str(python), str(work / "inspect_bench.py"), str(file), f"http://127.0.0.1:{port}/v1",
            str(PARALLEL), str(work / "inspect"),
        ]  # fmt: skip

    return measure("Inspect eval", port, sizes, command, INSPECT_DISPLAY="none")


def written(path: Path, prompts: list[dict[str, str]]) -> Path:
    path.write_text(json.dumps(prompts))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=22_000)
    parser.add_argument("--repeat", type=int, default=3, help="rounds, all clients in turn")
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
    from clinqa.asking.results import read_prompts

    work = told.work
    dataset = made_dataset(work, told.items)
    sizes = (told.items // 10, told.items)
    print(f"{'client':<46}{'few':>7} {'many':>7}{'rate':>11}{'CPU/item':>12}{'peak':>16}")
    ours = [clinqa(port, dataset, work, sizes)]
    prompts = [
        {"system": messages[0].text, "user": messages[1].text}
        for _, messages in read_prompts(work / f"run-{told.items}" / "prompts.jsonl")
    ]
    if not told.peers.exists():
        bare(port, prompts, work, sizes)
        print(f"no {told.peers}: the peers were not measured; see --help for how to install them")
        return
    python = told.peers.absolute()
    others: list[list[Measured | None]] = []
    for turn in range(told.repeat):
        if turn:
            ours.append(clinqa(port, dataset, work, sizes))
        others.append(
            [
                bare(port, prompts, work, sizes),
                lm_eval(python, port, prompts, work, (sizes[0], told.items // 2)),
                inspect(python, port, prompts, work, (told.items // 300, told.items // 40)),
            ]
        )
    print(f"medians over {told.repeat} rounds, clinqa beside")
    for place in range(3):
        pairs = [(a, b[place]) for a, b in zip(ours, others, strict=True)]
        report([(a, b) for a, b in pairs if a is not None and b is not None])


def report(pairs: list[tuple[Measured, Measured]]) -> None:
    """How many times a peer's figures are of ours, each round by itself, then the median."""
    if pairs:
        rate = statistics.median(a.rate / b.rate for a, b in pairs)
        cpu = statistics.median(b.cpu_ms / a.cpu_ms for a, b in pairs)
        print(f"    {pairs[0][1].name:<46}{rate:.2f} x the items a second, {cpu:.2f} x the CPU")


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
