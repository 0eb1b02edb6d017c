"""The specialty annotators, measured: classifier, sets, alpha. One run, ours beside peer and floor.

    python benchmarks/specialty.py EXPERT.jsonl [--unseen FILE] [--peer PYTHON] [--meaning]

EXPERT is a file of questions with a column specialty. `--peer` names a Python that has the package
krippendorff (GPL, so never a dependency): it is asked for the time of one alpha on the same data.
CPU seconds, one thread; ratios are what travels between machines.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from clinqa.builders.banks.specialty.annotate import decisions_of
from clinqa.builders.banks.specialty.assess import accuracy_and_coverage
from clinqa.builders.banks.specialty.classifier import FOLDS, fit, folds_of, out_of_fold, views_of
from clinqa.builders.banks.specialty.expert import read_expert
from clinqa.builders.banks.specialty.features import Featuriser, MiniLM, find_minilm
from clinqa.builders.banks.specialty.multi import divide, evaluate, gold_mask
from clinqa.builders.banks.specialty.specialty_options import SetOptions
from clinqa.packs.specialties import builtin_specialties
from clinqa.stats.conformal import gold_scores, sets, threshold
from clinqa.stats.krippendorff import alpha, value_counts

PEER = """
import sys, time, numpy as np, krippendorff
data = np.load(sys.argv[1]).astype(float)
began = time.process_time()
value = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
print(value, time.process_time() - began)
"""


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[Any, float]:
    """What it gives, and the least CPU seconds of some tries."""
    best, made = float("inf"), None
    for _ in range(repeat):
        began = time.process_time()
        made = work()
        best = min(best, time.process_time() - began)
    return made, best


def classifier(path: Path, unseen: Path | None, meaning: bool, seeds: int) -> None:
    """Cross-validated accuracy and coverage; with a second file, that of the whole on it."""
    pack = builtin_specialties()
    minilm = find_minilm() if meaning else None
    embed = MiniLM(minilm) if minilm else None
    expert = read_expert([path], pack)
    featuriser = Featuriser(pack, embed)
    features, seconds = timed(lambda: featuriser.learn(expert.items))
    print(
        f"{len(expert.items)} questions, {len(expert.classes)} specialties; "
        f"counted in {seconds:.1f} s"
    )
    for seed in range(seeds):
        fold_of = folds_of(expert.labels, expert.groups, FOLDS, seed)
        found, seconds = timed(
            lambda fold_of=fold_of: out_of_fold(features, expert.labels, expert.classes, fold_of)
        )
        views = views_of(features)
        figures = accuracy_and_coverage(
            decisions_of(found, expert.classes, views),
            expert.gold,
            expert.groups,
            run="benchmark",
            model="classifier",
            how=f"out of fold, {FOLDS} folds",
            seed=seed,
        )
        print(f"seed {seed}, {FOLDS} folds in {seconds:.1f} s of CPU")
        show(figures)
    conformal(features, expert, seeds)
    if unseen is not None:
        other = read_expert([unseen], pack)
        model = fit(features, expert.labels, expert.classes)
        known = model.probabilities(featuriser.features(other.items))
        print(f"unseen file: {len(other.items)} questions")
        show(
            accuracy_and_coverage(
                decisions_of(known, expert.classes, model.views),
                other.gold,
                other.groups,
                run="benchmark",
                model="classifier",
                how="trained on the other file",
                seed=0,
            )
        )


def show(figures: list[Any]) -> None:
    """A line a decider."""
    for accuracy, coverage in zip(figures[::2], figures[1::2], strict=True):
        name = accuracy.subset["decided_by"]
        print(
            f"  {name:<22} accuracy {accuracy.value:.3f} ({accuracy.low:.3f}-{accuracy.high:.3f})"
            f"  coverage {coverage.value:.3f}  n {accuracy.n}"
        )


def conformal(features: Any, expert: Any, seeds: int) -> None:
    """Coverage at 90 and 95 % on questions that neither trained nor calibrated."""
    for seed in range(seeds):
        out = divide(expert.groups, seed, "held out for sets", 0.4)
        rest, kept = np.flatnonzero(~out), np.flatnonzero(out)
        model = fit(features.take(rest), [expert.labels[at] for at in rest], expert.classes)
        mean = model.probabilities(features.take(kept)).mean(axis=0)
        gold = gold_mask([expert.gold[at] for at in kept], expert.classes)
        groups = [expert.groups[at] for at in kept]
        for report in evaluate(mean, gold, groups, SetOptions(), (0.1, 0.05), seed):
            found = report.found
            print(
                f"  seed {seed} alpha {report.alpha}: coverage {found.covered.value:.3f} of "
                f"{found.covered.n}, band {found.band[0]:.3f}-{found.band[1]:.3f}, "
                f"within {found.within_band}, mean size {found.mean_size:.2f}, "
                f"other divisions within their band {report.resplits_within:.2f}"
            )


def speed(peer: str | None, folder: Path) -> None:
    """Sets of 40,000 questions, and alpha with a thousand resamples."""
    random = np.random.default_rng(1)
    p = random.dirichlet(np.full(55, 0.1), size=40_000)
    gold = np.eye(55, dtype=bool)[p.argmax(axis=1)]
    scores = gold_scores(p[:1000], gold[:1000])
    _, seconds = timed(lambda: sets(p, threshold(scores, 0.1)), 5)
    print(f"sets of 40,000 questions by 55 labels: {seconds:.3f} s")
    true = random.integers(0, 55, 40_000)
    table = np.where(random.random((5, 40_000)) < 0.85, true, random.integers(0, 55, (5, 40_000)))
    by_unit, unit = timed(lambda: alpha(table, 55, resampling="unit"), 3)
    by_pair, pair = timed(lambda: alpha(table, 55, resampling="krippendorff"), 3)

    def floor() -> float:
        return alpha(table[:, random.integers(0, 40_000, 40_000)], 55, draws=0).value

    _, once = timed(floor, 5)

    def textbook() -> float:
        """As it is taught: counts of each unit, the coincidence matrix, observed over expected."""
        counts = value_counts(table[:, random.integers(0, 40_000, 40_000)], 55).astype(float)
        weight = 1 / (counts.sum(axis=1, keepdims=True) - 1)
        together = (counts * weight).T @ counts - np.diag((counts * weight).sum(axis=0))
        margins = together.sum(axis=0)
        apart = together.sum() - np.trace(together)
        expected = (margins.sum() ** 2 - (margins**2).sum()) / (margins.sum() - 1)
        return float(1 - apart / expected)

    taught, plain = timed(textbook, 5)
    print(
        f"floor: a textbook alpha in NumPy of one resample ({taught:.4f}) {plain:.4f} s: "
        f"{1000 * plain / unit:.0f} x (units), {1000 * plain / pair:.0f} x (pairs)"
    )
    print(
        f"alpha {by_unit.value:.4f}, without each unit in turn: {unit:.3f} s, "
        f"{by_unit.low:.4f}-{by_unit.high:.4f}"
    )
    print(
        f"alpha {by_pair.value:.4f}, 1,000 resamples of pairs: {pair:.3f} s, "
        f"{by_pair.low:.4f}-{by_pair.high:.4f}"
    )
    print(
        f"floor: our own alpha of one resample {once:.4f} s, so {1000 * once:.1f} s for 1,000: "
        f"{1000 * once / unit:.0f} x (units), {1000 * once / pair:.0f} x (pairs)"
    )
    if peer is None:
        return
    file = folder / "alpha.npy"
    np.save(file, table)
    command = [peer, "-c", PEER, str(file)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        print("the peer failed:", made.stderr.strip().splitlines()[-1:])
        return
    value, seconds = map(float, made.stdout.split())
    print(
        f"peer: krippendorff {value:.4f}, one alpha {seconds:.2f} s, so {1000 * seconds:,.0f} s "
        f"for 1,000: {1000 * seconds / unit:,.0f} x (units), {1000 * seconds / pair:,.0f} x (pairs)"
    )


def main() -> None:
    """Everything, in the order of the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("expert", type=Path)
    parser.add_argument("--unseen", type=Path)
    parser.add_argument("--peer")
    parser.add_argument("--meaning", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", choices=["classifier", "speed"])
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    print(json.dumps({"python": sys.version.split()[0], "numpy": np.__version__}))
    if given.only != "classifier":
        speed(given.peer, given.out)
    if given.only != "speed":
        classifier(given.expert, given.unseen, given.meaning, given.seeds)


if __name__ == "__main__":
    main()
