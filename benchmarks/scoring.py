"""What intervals and tests take of scoring, and how much memory scoring takes.

    python benchmarks/scoring.py [--studies 11000] [--runs 3] [--keep FOLDER]

Made-up reports become a dataset; two baselines answer its train split, `--runs` times each with
another seed; all runs are scored together in a process of its own, as `clinqa score` does. Told
are that process's CPU seconds and peak memory by the kernel, and the share of CPU that the figures
with their intervals, and the paired tests, take by the interpreter's clock of the process. With
11,000 studies that is 100,603 answers in each of six runs. `floor` reads the same predictions and
compares each answer with its reference as text.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_SCORING = """
import json, resource, sys, time
import clinqa.scoring.score_runs as scoring

took = dict.fromkeys(("figures_s", "tests_s"), 0.0)


def timed(name, method):
    def call(*given):
        started = time.process_time()
        try:
            return method(*given)
        finally:
            took[name] += time.process_time() - started
    return call


scoring._Scoring._figures = timed("figures_s", scoring._Scoring._figures)
scoring._Scoring._tests = timed("tests_s", scoring._Scoring._tests)
dataset, out, *runs = map(scoring.Path, sys.argv[1:])
result = scoring.score(dataset, runs, out)
used = resource.getrusage(resource.RUSAGE_SELF)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime + children.ru_utime + children.ru_stime
print(json.dumps({**took, "cpu": cpu, "peak_mb": used.ru_maxrss / 1024, **result.counts}))
"""

_FLOOR = """
import sys
import pyarrow.parquet as pq

dataset, *runs = sys.argv[1:]
items = pq.read_table(dataset, columns=["id", "answer"])
references = dict(zip(items["id"].to_pylist(), items["answer"].to_pylist()))
for run in runs:
    told = pq.read_table(run, columns=["item_id", "answer"])
    asked = zip(told["item_id"].to_pylist(), told["answer"].to_pylist())
    print(sum(references.get(item) == answer for item, answer in asked))
"""


def _clinqa(*arguments: object) -> None:
    subprocess.run(
        [sys.executable, "-m", "clinqa", *map(str, arguments)], check=True, stdout=sys.stderr
    )


def _made(place: Path, studies: int, seeds: int) -> tuple[Path, list[Path]]:
    """A dataset and its runs; what is there already is not made again."""
    dataset, reports = place / "dataset", place / "reports.csv"
    if not (dataset / "manifest.json").exists():
        _clinqa("simulate", "echo", "--studies", studies, "--seed", 3, "--out", reports)
        _clinqa("build", "echo", reports, "--out", dataset)
    runs = []
    for baseline in ("prior", "retrieval"):
        for seed in range(1, seeds + 1):
            run = place / f"{baseline}{seed}"
            if not (run / "manifest.json").exists():
                _clinqa("predict", dataset, "--model", f"baseline:{baseline}", "--split", "train",
                        "--seed", seed, "--out", run)  # fmt: skip
            runs.append(run)
    return dataset, runs


def main() -> None:
    """Make, score, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--studies", type=int, default=11_000)
    parser.add_argument("--runs", type=int, default=3, help="of each of two baselines")
    parser.add_argument("--keep", type=Path, help="a folder for what is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        place = options.keep or Path(made)
        place.mkdir(parents=True, exist_ok=True)
        dataset, runs = _made(place, options.studies, options.runs)
        out = place / f"scores-{time.time_ns()}"
        scored = subprocess.run(
            [sys.executable, "-c", _SCORING, dataset, out, *runs],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        told = json.loads(scored.stdout.splitlines()[-1])
        answers = [run / "predictions.parquet" for run in runs]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", _FLOOR, *dataset.glob("data/train-*.parquet"), *answers],
            check=True, stdout=sys.stderr,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        floor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cpu = told["cpu"]
    print(f"{told['answers']:,} answers in {len(runs)} runs, {told['figures']:,} figures")
    print(f"score          {cpu:8.1f} s CPU, peak {told['peak_mb']:,.0f} MB")
    for name in ("figures", "tests"):
        print(f"  of which {name:<8} {told[f'{name}_s']:6.1f} s, {told[f'{name}_s'] / cpu:.1%}")
    print(f"floor          {floor:8.1f} s CPU")


if __name__ == "__main__":
    main()
