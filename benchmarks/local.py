"""Local models: clinqa's batches against a loop of `generate`, item by item, the same weights.

    python benchmarks/local.py [--model embedded:smollm2] [--items 24] [--dtype float32]

Both get the same prompts, number format, threads and limit of tokens, greedy. CPU seconds are the
measure where other work shares the machine; wall seconds stand beside them. `studies` are all items
of a few reports, as `predict` asks a whole split; `scattered` is about an item a report, as it asks
a small sample of one. Where texts differ, `first difference` says how close the two best tokens
were in the loop when the paths parted: near-ties, which rounding decides.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from clinqa.asking.prompts import load_template
from clinqa.models.local import LocalModel
from clinqa.models.local.engine import WrittenRow
from clinqa.models.local.plan import Batch
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.registry import open_model

Rows = list[dict[str, Any]]


def main() -> None:
    """Print one JSON line a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="embedded:smollm2")
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--dtype")
    parser.add_argument("--shots", type=int, nargs="*", default=[0, 3])
    parser.add_argument("--dataset", type=Path, help="default: made from simulated reports")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        dataset = arguments.dataset or _made(Path(scratch))
        test, train = (
            pq.read_table(next((dataset / "data").glob(f"{split}-*.parquet"))).to_pylist()
            for split in ("test", "train")
        )
    options = ModelOptions(dtype=arguments.dtype, extra={"threads": arguments.threads})
    model = open_model(arguments.model, options)
    assert isinstance(model, LocalModel)
    print(json.dumps({"model": arguments.model} | model.describe()), flush=True)
    sampling = Sampling(max_tokens=arguments.max_tokens)
    for layout, rows in (
        ("studies", test[: arguments.items]),
        ("scattered", test[:: max(1, len(test) // arguments.items)][: arguments.items]),
    ):
        for shots in arguments.shots:
            prompts = _prompts(rows, train[:: max(1, len(train) // 3)][:shots])
            case = {"items": len(prompts), "layout": layout, "shots": shots}
            print(json.dumps(case | _compared(model, prompts, sampling)), flush=True)


def _compared(model: LocalModel, prompts: list[Prompt], sampling: Sampling) -> dict[str, Any]:
    model._open.engine.forget()  # nothing kept from the case before
    with _recorded(model) as tokens:
        batched, batched_time = _timed(lambda: dict(model.generate(prompts, sampling)))
    loop, loop_time = _timed(lambda: _loop(model, prompts, sampling))
    ours = [(batched[n].text, batched[n].output_tokens or 0) for n in range(len(prompts))]
    equal = [mine[0] == theirs for mine, (theirs, _, _) in zip(ours, loop, strict=True)]
    gaps = [_gap(tokens[number], loop[number][2]) for number, same in enumerate(equal) if not same]
    written = sum(count for _, count in ours), sum(count for _, count, _ in loop)
    return {
        "prompt_tokens": round(sum(o.input_tokens or 0 for o in batched.values()) / len(prompts)),
        "items_per_cpu_s": [round(len(prompts) / t[0], 2) for t in (batched_time, loop_time)],
        "tokens_per_cpu_s": [
            round(count / t[0], 1)
            for count, t in zip(written, (batched_time, loop_time), strict=True)
        ],
        "wall_s": [round(batched_time[1], 1), round(loop_time[1], 1)],
        "times_faster_items": round(loop_time[0] / batched_time[0], 2),
        "times_faster_tokens": round(written[0] / batched_time[0] / (written[1] / loop_time[0]), 2),
        "equal_texts": round(sum(equal) / len(equal), 3),
        "first_difference_log_odds": sorted(round(gap, 3) for gap in gaps),
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, (time.process_time() - cpu, time.perf_counter() - wall)


def _loop(
    model: LocalModel, prompts: list[Prompt], sampling: Sampling
) -> list[tuple[str, int, list[tuple[int, float]]]]:
    """transformers' own generate, a prompt at a time: text, tokens, and each token's lead."""
    torch = importlib.import_module("torch")
    renderer, inner = model._open.renderer, model._open.engine._model
    inner.set_attn_implementation("sdpa")
    found = []
    for prompt in prompts:
        tokens = renderer.encode(prompt.messages)
        given = torch.tensor([tokens])
        done = inner.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=sampling.max_tokens,
            do_sample=False,
            stop_strings=list(renderer.stops) or None,
            tokenizer=renderer.tokenizer,
            output_scores=True,
            return_dict_in_generate=True,
        )
        new = done.sequences[0, len(tokens) :].tolist()
        leads = []
        for token, scores in zip(new, done.scores, strict=True):
            best = scores[0].float().topk(2).values
            leads.append((token, float(best[0] - best[1])))
        text = renderer.decode(new)
        cut = renderer.cut(text, ())
        found.append((text if cut is None else cut, len(new), leads))
    inner.set_attn_implementation("clinqa_shared")
    return found


def _gap(ours: list[int], loop: list[tuple[int, float]]) -> float:
    """How far the loop's best token led its second (log odds) where we took another."""
    for number, (token, lead) in enumerate(loop):
        if number >= len(ours) or ours[number] != token:
            return lead
    return 0.0


@contextmanager
def _recorded(model: LocalModel) -> Iterator[dict[int, list[int]]]:
    """The tokens written for each prompt, which outputs do not hold."""
    engine = model._open.engine
    plain, kept = engine.write, {}

    def write(batch: Batch, *others: Any) -> list[WrittenRow]:
        written = plain(batch, *others)
        kept.update({row.index: one.tokens for row, one in zip(batch.rows, written, strict=True)})
        return written

    engine.write = write
    yield kept
    engine.write = plain


def _prompts(rows: Rows, shots: Rows) -> list[Prompt]:
    template = load_template("long_form")
    beginning = [Message("system", template.system)]
    for shot in shots:
        beginning.append(template.ask(shot["question"], shot["context"]))
        beginning.append(Message("assistant", shot["answer"]))
    return [
        Prompt(
            row["id"],
            (*beginning, template.ask(row["question"], row["context"])),
            row["question"],
            row["context"],
            row["category"],
            row["question_type"],
            0,
            0,
        )
        for row in rows
    ]


def _made(scratch: Path) -> Path:
    command = [sys.executable, "-m", "clinqa", "demo", "--studies", "150", "--out", str(scratch)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return scratch / "dataset"


if __name__ == "__main__":
    main()
