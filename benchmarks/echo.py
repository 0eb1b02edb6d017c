"""How fast reports become labels and datasets, beside a floor and two ways to do it by hand.

    python benchmarks/echo.py [--studies 80000] [--repeat 3] [--large 1000000] [--json FILE]

Everything runs on simulated reports, made once in the work folder. What is compared and what is
not fair about it: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measure import Run, median_of, run, run_command

# this process imports nothing large: a child's peak memory starts from its parent's

SAMPLE = 100  # reports that list membership is timed on
SPLITS = ("train", "validation", "test")
LABEL_KEYS = "study_id,abnormality,phase"


class Bench:
    """One run of the benchmark over one work folder."""

    def __init__(self, folder: Path, studies: int, repeat: int) -> None:
        self.folder, self.studies, self.repeat = folder, studies, repeat
        self.source = folder / f"echo-{studies}.csv"
        self.given = folder / "given.pickle"
        self.facts: dict[str, Any] = {}
        self.medians: dict[str, Run] = {}
        self.runs: dict[str, list[Run]] = {}

    def prepare(self) -> None:
        self.say(f"preparing {self.studies:,} simulated reports and the dictionary of statements")
        self.facts["input"] = run("prepare.py", self.studies, self.folder).said

    def labelling(self) -> None:
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        source, given, ready = self.source, self.given, self.folder / "ready.parquet"
        self._alternate(
            self.repeat,
            {
                "floor": lambda: run("floor.py", source, ready, out / "floor.parquet"),
                "labelling given": lambda: run(
                    "labelling.py", source, out / "given.parquet", given
                ),
                "labelling cold": lambda: run("labelling.py", source, out / "cold.parquet"),
                "loop": lambda: run("loop.py", source, out / "loop.parquet", given),
            },
        )
        self._alternate(
            1,
            {"membership": lambda: run("membership.py", source, out / "lists.tsv", given, SAMPLE)},
        )
        self.medians["membership"] = self._scaled(self.medians["membership"])
        self.say("comparing rows, measuring accuracy")
        loop = run("compare.py", out / "given.parquet", out / "loop.parquet", LABEL_KEYS).said
        cold = run("compare.py", out / "given.parquet", out / "cold.parquet", LABEL_KEYS).said
        if cold["equal"] != cold["ours"] or cold["equal"] != cold["theirs"]:
            raise SystemExit("error: labelling with given readings and cold give other rows")
        self.facts["labelling rows"] = _mostly_equal(loop)
        gold = self.source.with_suffix(".gold.jsonl")
        self.facts["accuracy"] = run("accuracy.py", out / "given.parquet", gold).said

    def whole(self) -> None:
        ours, loop = self.folder / "ds", self.folder / "ds-loop"
        self._alternate(
            min(2, self.repeat),
            {
                "build": lambda: self._build(self.source, ours),
                "loop build": lambda: run("loop_build.py", self.source, loop, self.given),
            },
        )
        files = [f"data/{name}-00000-of-00001.parquet" for name in SPLITS]
        self.say("comparing rows")
        if all((ours / name).exists() for name in files):
            self.facts["item rows"] = _mostly_equal(
                run("compare.py", ours, loop, "id", *files).said
            )
        labels = run("compare.py", ours, loop, LABEL_KEYS, "labels.parquet").said
        self.facts["label rows"] = _mostly_equal(labels)

    def large(self, studies: int) -> None:
        self.say(f"preparing {studies:,} simulated reports")
        run("prepare.py", studies, self.folder, "input")
        source = self.folder / f"echo-{studies}.csv"
        self._alternate(1, {"large": lambda: self._build(source, self.folder / "ds-large")})
        self.facts["large"] = {"studies": studies, **self.medians["large"].said["counts"]}

    def _build(self, source: Path, out: Path) -> Run:
        arguments = ["build", "echo", str(source), "--out", str(out), "--fresh", "--json"]
        return run_command([sys.executable, "-m", "clinqa", *arguments])

    def _alternate(self, repeat: int, contenders: dict[str, Callable[[], Run]]) -> None:
        """A B A B, so that a slow minute of the machine meets all of them."""
        for turn in range(repeat):
            for name, start in contenders.items():
                self.say(f"{name}, run {turn + 1} of {repeat}")
                self.runs.setdefault(name, []).append(start())
        for name in contenders:
            self.medians[name] = median_of(self.runs[name])

    def _scaled(self, one: Run) -> Run:
        """The loop's part of the time, stretched from the sample to all reports."""
        stretch = self.studies / one.said["reports"] - 1
        wall = one.wall + one.said["loop_wall"] * stretch
        return Run(wall, one.cpu + one.said["loop_cpu"] * stretch, one.peak_mb, one.said)

    def say(self, text: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def _mostly_equal(rows: dict[str, Any]) -> dict[str, Any]:
    """The counts with the share of equal rows; too few would be no comparison."""
    share = rows["equal"] / max(rows["ours"], rows["theirs"])
    if share < 0.99:
        raise SystemExit(f"error: only {share:.1%} of the rows are equal")
    return {**rows, "share": share}


LABELLING = (
    ("floor", "floor: read the CSV, write finished rows"),
    ("labelling given", "clinqa, readings given"),
    ("labelling cold", "clinqa, every distinct statement read anew"),
    ("loop", "`re` loop, dictionary given"),
    ("membership", f"list membership, scaled from {SAMPLE} reports"),
)
WHOLE = (
    ("build", "clinqa build echo, nothing given"),
    ("loop build", "`re` loop, dictionary given"),
)


def rows_of(bench: Bench, contenders: Sequence[tuple[str, str]], base: str) -> list[str]:
    """Lines of a table; ratios are to `base`."""
    ours = bench.medians[base]
    lines = [
        "| | wall s | CPU s | peak MB | wall, times ours | CPU, times ours |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, title in contenders:
        one = bench.medians[name]
        lines.append(
            f"| {title} | {one.wall:,.1f} | {one.cpu:,.1f} | {one.peak_mb:,.0f} "
            f"| {one.wall / ours.wall:,.2f} | {one.cpu / ours.cpu:,.2f} |"
        )
    return lines


def report(bench: Bench) -> str:
    """The figures as Markdown."""
    facts = bench.facts
    given = facts["input"]
    precision, recall = (facts["accuracy"][name] for name in ("precision", "recall"))
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine()}.",
        "",
        f"Input: {bench.studies:,} simulated reports, {given['bytes'] / 1e6:,.0f} MB; "
        f"{given['occurrences']:,} statements, of which {given['distinct']:,} are distinct "
        f"({given['distinct'] / given['occurrences']:.1%}). Not in the lexicon: "
        f"{given['distinct_outside'] / given['distinct']:.1%} of the distinct ones, "
        f"{given['occurrences_outside'] / given['occurrences']:.1%} of all.",
        "",
        f"Labelling, {given['rows']:,} rows (medians of {len(bench.runs['loop'])}):",
        "",
        *rows_of(bench, LABELLING, "labelling given"),
        "",
        f"Rows equal in every column: {facts['labelling rows']['share']:.3%}.",
    ]
    if "build" in bench.medians:
        build = bench.medians["build"].said["counts"]
        lines += [
            "",
            f"Whole build, {build['items']:,} items and {build['labels']:,} labels "
            f"(medians of {len(bench.runs['build'])}):",
            "",
            *rows_of(bench, WHOLE, "build"),
            "",
            f"Rows equal in every column: labels {facts['label rows']['share']:.3%}"
            + (f", items {facts['item rows']['share']:.3%}." if "item rows" in facts else "."),
        ]
    if "large" in bench.medians:
        large, small = bench.medians["large"], bench.medians["build"]
        lines += [
            "",
            f"Scale: {facts['large']['studies']:,} reports, {facts['large']['items']:,} items, "
            f"{large.wall:,.0f} s wall and {large.cpu:,.0f} s CPU: {large.wall / small.wall:.1f} "
            f"times the wall and {large.cpu / small.cpu:.1f} times the CPU of {bench.studies:,}; "
            f"peak {large.peak_mb:,.0f} MB.",
        ]
    lines += [
        "",
        f"Labels against the simulated truth, {facts['accuracy']['reports']:,} reports: precision "
        f"{_interval(precision)}, recall {_interval(recall)} (95 % interval over reports).",
    ]
    return "\n".join(lines)


def _interval(figure: Sequence[float]) -> str:
    value, low, high = figure
    return f"{value:.5f} [{low:.5f}, {high:.5f}]"


def machine() -> str:
    """Cores and versions; nothing that names the machine."""
    found = []
    for name in ("clinqa", "numpy", "pyarrow", "numba"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{cores} cores, {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(found)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=80_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--large", type=int, nargs="?", const=1_000_000, help="also build this many; takes minutes"
    )
    parser.add_argument("--work", type=Path, default=Path("bench-out"), help="folder for files")
    parser.add_argument("--json", type=Path, help="also write every run here")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.work, options.studies, options.repeat)
    bench.prepare()
    bench.labelling()
    bench.whole()
    if options.large:
        bench.large(options.large)
    print(report(bench))
    if options.json:
        record = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "machine": machine(),
            "studies": options.studies,
            "facts": bench.facts,
            "medians": {name: asdict(one) for name, one in bench.medians.items()},
            "runs": {name: [asdict(one) for one in each] for name, each in bench.runs.items()},
        }
        options.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
