"""The fairness audit: clinqa's, two other ways and the floor, in one run on the same scores.

    python benchmarks/audit.py [--items 22000] [--patients 1500] [--runs 13] [--repeats 3]

Made scores of a paper's size: 22,000 items, 6 dimensions (two of census tracts), 13 runs × 3
repeats, 1,000 samples of patients and 1,000 permutations. Contenders:

    clinqa     all of it: scores of groups with intervals, simultaneous intervals of deviations,
               gaps of the mean and mean of the gaps, highest less lowest, trend and the
               standardised gap, each with its null and max-T
    numpy loop the crude gap of the mean only, each permutation by np.bincount over items; no
               intervals. Timed on --few permutations and stretched
    fairlearn  MetricFrame: scores of groups with its bootstrap over rows (no patients, no
               permutations of its own). Timed on --few resamples of one run and dimension, and
               stretched
    floor      drawing the permutations and one matrix product for their sums: nothing is quicker

CPU seconds first, since the machine may be shared. What scoring the answers takes is not in here
(`--scores` reads those that clinqa score has made).
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # spinning threads would count as our CPU time

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from fairlearn.metrics import MetricFrame

from clinqa.auditing.answers import Means, lay_out
from clinqa.auditing.cohort import Attribute, Cohort
from clinqa.auditing.deviations import AuditDraws
from clinqa.auditing.dimensions import Dimension, dimensions_of
from clinqa.auditing.engine import audit_means
from clinqa.auditing.gaps import figures_of, gaps_of, overall_figures
from clinqa.core.manifest import Manifest
from clinqa.core.predictions import FinishedRun

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
STRATA, TRACTS = 120, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=22_000)
    parser.add_argument("--patients", type=int, default=1_500)
    parser.add_argument("--runs", type=int, default=13)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--few", type=int, default=10)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    made = Made(chosen)
    times = {
        "clinqa": measured(lambda: ours(made)),
        "floor": measured(lambda: floor(made)),
    }
    few = chosen.few
    loop = measured(lambda: numpy_loop(made, few))
    times["numpy loop, crude gap only"] = stretched(loop, chosen.draws / few)
    frames = measured(lambda: fairlearn_rows(made, few))
    factor = chosen.draws / few * len(made.dimensions) * chosen.runs
    times["fairlearn, rows resampled"] = stretched(frames, factor)
    base = times["clinqa"][0]
    print(f"{'contender':<30} {'CPU s':>9} {'wall s':>9} {'CPU, times ours':>16}")
    for name, (cpu, wall) in times.items():
        print(f"{name:<30} {cpu:>9.1f} {wall:>9.1f} {cpu / base:>16.2f}")
    if chosen.json:
        body = {name: {"cpu": cpu, "wall": wall} for name, (cpu, wall) in times.items()}
        chosen.json.write_text(json.dumps(body, indent=1))


class Made:
    """Scores of answers about made patients, by item and repeat; nobody's data."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        random = np.random.default_rng(1)
        size, items = chosen.patients, chosen.items
        self.patient = np.sort(
            np.concatenate([np.arange(size), random.integers(0, size, items - size)])
        )
        self.tract = random.integers(0, TRACTS, size)
        self.strata = random.integers(0, STRATA, items)
        of_patient = random.normal(0, 0.15, size)[self.patient]
        ones = np.ones(items)
        sides = []
        for _ in range(chosen.runs):
            scores = [
                np.clip(0.7 + of_patient + random.normal(0, 0.3, items), 0, 1)
                for _ in range(chosen.repeats)
            ]
            sides.append(([np.mean(scores, axis=0), *scores], [ones] * (chosen.repeats + 1)))
        self.means: Means = lay_out(sides, "token_f1", "token_f1|made")
        self.dimensions = self._dimensions(random, size)
        self.drawing = AuditDraws(1, chosen.draws, chosen.draws)
        about = {"model": "made", "shots": 0, "split": "test"}
        manifest = Manifest("predict", "restricted", {}, "0", configuration=about)
        self.runs = [FinishedRun(f"run{n}", Path(), manifest, "") for n in range(chosen.runs)]

    def _dimensions(self, random: np.random.Generator, size: int) -> list[Dimension]:
        of_tracts = random.normal(size=(2, TRACTS))[:, self.tract].astype(str).tolist()
        attributes = [
            Attribute("age", "patient", random.normal(60, 15, size).astype(str).tolist()),
            Attribute("sex", "patient", random.choice(["F", "M"], size).tolist()),
            Attribute("race", "patient", random.choice(list("abcde"), size).tolist()),
            Attribute("insurance", "patient", random.choice(list("xyz"), size).tolist()),
            Attribute("income", "tract", of_tracts[0]),
            Attribute("schooling", "tract", of_tracts[1]),
        ]
        names = [str(number) for number in range(size)]
        cohort = Cohort(names, attributes, self.tract, TRACTS)
        return dimensions_of(cohort, np.bincount(self.patient))[0]


def measured(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def stretched(took: tuple[float, float], factor: float) -> tuple[float, float]:
    return took[0] * factor, took[1] * factor


def ours(made: Made) -> int:
    of_patients = made.means.summed(made.patient, len(made.tract)).of_runs()
    records = list(overall_figures(of_patients, made.runs, made.drawing))
    found = audit_means(
        made.means, made.patient, made.tract, made.strata, made.dimensions, made.drawing
    )
    for one in found:
        records += figures_of(one, of_patients, made.runs, made.drawing, 10)
        records += gaps_of(one, of_patients, made.runs, made.drawing, "")  # type: ignore[arg-type]
    return len(records)


def floor(made: Made) -> float:
    random = np.random.default_rng(2)
    over = np.ascontiguousarray(made.means.summed(made.patient, len(made.tract)).over.T)
    total = 0.0
    for one in made.dimensions:
        order = np.argsort(random.random((made.drawing.permutations, len(made.tract))), axis=1)
        codes = one.codes[order]
        for group in range(len(one.groups)):
            total += np.einsum("bu,ku->bk", (codes == group).astype(np.float64), over).sum()
    return float(total)


def numpy_loop(made: Made, few: int) -> Floats:
    random = np.random.default_rng(3)
    scores, gaps = made.means.over[:, : len(made.runs)], []
    for _ in range(few):
        for one in made.dimensions:
            codes = one.codes[random.permutation(len(made.tract))][made.patient]
            counts = np.bincount(codes)
            for run in range(len(made.runs)):
                means = np.bincount(codes, weights=scores[:, run]) / counts
                gaps.append(np.abs(means - scores[:, run].mean()).mean())
    return np.array(gaps)


def fairlearn_rows(made: Made, few: int) -> object:
    scores = made.means.over[:, 0]
    frame = MetricFrame(
        metrics=lambda true, seen: float(np.mean(seen)),
        y_true=scores,
        y_pred=scores,
        sensitive_features=made.dimensions[0].codes[made.patient],
        n_boot=few,
        ci_quantiles=[0.025, 0.975],
        random_state=1,
    )
    return frame.by_group_ci


if __name__ == "__main__":
    main()
