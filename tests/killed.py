"""A command that is killed again and again, beside a server that is slow and remembers everything.

The server is of this process, so that it sees what was asked whatever becomes of the command.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Asked:
    """One request: what it asked, when it came, and when its reply was on its way (or never)."""

    prompt: str
    came: float
    replied: float = float("inf")


class Slow:
    """`with Slow(answer) as server:` answers chat completions on loopback, each after a while."""

    def __init__(self, answer: Callable[[str], str], low: float = 0.02, high: float = 0.2) -> None:
        self._answer, self._low, self._high = answer, low, high
        self._random, self._lock = random.Random(1), threading.Lock()
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Slow:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                one = outer._began(json.dumps(body["messages"]))
                said = outer._reply(body["messages"][-1]["content"])
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                one.replied = time.monotonic()
                self.wfile.write(said)

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Who asked was killed."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()

    def _began(self, prompt: str) -> Asked:
        one = Asked(prompt, time.monotonic())
        with self._lock:
            self.asked.append(one)
            pause = self._random.uniform(self._low, self._high)
        time.sleep(pause)
        return one

    def _reply(self, question: str) -> bytes:
        message = {"role": "assistant", "content": self._answer(question)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()


@dataclass
class Killed:
    """What came of it: when each kill was, how many commands it took, what the last one said."""

    kills: list[float] = field(default_factory=list)
    starts: int = 0
    said: str = ""


def command(*words: object, **more: str) -> subprocess.Popen[bytes]:
    """`clinqa …` in a process group of its own."""
    env = {**os.environ, "OPENAI_API_KEY": "none", **more}
    told = [sys.executable, "-m", "clinqa", *map(str, words)]
    return subprocess.Popen(
        told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, start_new_session=True
    )


def killed(
    words: Sequence[object],
    kills: int,
    longest: Callable[[], float],
    chance: random.Random,
    ready: Callable[[], bool] = lambda: True,
) -> Killed:
    """Run the command, kill it -9 with all its children at a random moment, run it again.

    The moment is up to `longest` seconds after `ready`; after so many kills, or once it has ended
    by itself, it is run to its end.
    """
    made = Killed()
    while len(made.kills) < kills:
        running = command(*words)
        made.starts += 1
        while running.poll() is None and not ready():
            time.sleep(0.005)
        try:
            running.wait(chance.uniform(0, longest()))
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            made.kills.append(time.monotonic())
            running.wait()
        else:
            break  # it was done before its moment
    last = command(*words)
    made.starts += 1
    made.said = last.communicate(timeout=600)[0].decode("utf-8", "replace")
    assert last.returncode == 0, made.said
    return made


def paid_twice(asked: Sequence[Asked], kills: Sequence[float], at_once: int) -> Counter[str]:
    """How often each prompt was asked beyond once and beyond what a kill found in flight.

    In flight are the requests of that life without a reply, and of the others the `at_once` whose
    reply came last: it may have died with its reader, before it was written down.
    """
    lost: Counter[str] = Counter()
    before = -math.inf
    for moment in kills:
        life = [one for one in asked if before < one.came < moment]
        replied = sorted((o for o in life if o.replied < moment), key=lambda one: one.replied)
        lost.update(one.prompt for one in life if one.replied >= moment)
        lost.update(one.prompt for one in replied[-at_once:])
        before = moment
    times = Counter(one.prompt for one in asked)
    return Counter({p: n - 1 - lost[p] for p, n in times.items() if n - 1 > lost[p]})


def log_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of an egress log, each of which must be one object."""
    text = path.read_text(encoding="utf-8")
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]
