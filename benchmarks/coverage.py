"""How often intervals hold the truth, and how wide they are: ours beside Wilson, BCa and Wald.

Samples of patients with a known rate are drawn again and again; a method covers as often as its
interval holds the rate. Shares: patients × items a patient × rate × intra-class correlation
(beta-binomial). Then figures that are no plain share, with patients of unequal sizes (11 to 1):
the difference of two models, macro-F1, kappa, level accuracy.

    python benchmarks/coverage.py [--out bench-out] [--samples 4000] [--workers 2]

A cell of shares is asked for .93 where five patients with an event are expected, for .90 elsewhere;
it fails where the upper 99 % bound of its coverage is below. Widths are set against the narrowest
method that covers in that cell: Wilson knows that items are independent where they are.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, expit, ndtr, ndtri, stdtrit

from clinqa.kinds.long_form.answer_measures import macro_f1
from clinqa.stats.agreement import kappa_measure
from clinqa.stats.comparing import compare
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.intervals import of_share
from clinqa.stats.measure import Measure, mean

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

PATIENTS = (6, 10, 11, 20, 30, 50, 150, 500)
ITEMS = (1, 5, 20)
RATES = (0.005, 0.05, 0.3, 0.5, 0.7, 0.95, 0.995)
CORRELATIONS = (0.0, 0.1, 0.4)
METHODS = ("ours", "wald", "bca", "wilson")
EVENTS = 5  # patients with an event from which on the goal is .93
GOAL, ELSEWHERE = 0.93, 0.90
DRAWS = 499
Z = float(ndtri(0.975))


@dataclass(frozen=True)
class Cell:
    """What is drawn: so many patients, items of each, their rate and how alike they are."""

    kind: str
    patients: int
    items: int
    rate: float
    alike: float

    @property
    def events(self) -> float:
        """Patients with an event (or with none, where that is the rarer) to be expected."""
        rare = min(self.rate, 1 - self.rate)
        if not self.alike:
            return self.patients * (1 - (1 - rare) ** self.items)
        scale = 1 / self.alike - 1
        none = betaln(rare * scale, (1 - rare) * scale + self.items)
        return float(self.patients * (1 - np.exp(none - betaln(rare * scale, (1 - rare) * scale))))


@dataclass(frozen=True)
class Found:
    """Coverage and mean width of each method in a cell."""

    cell: Cell
    samples: int
    covered: dict[str, float]
    width: dict[str, float]
    degenerate: float  # share of our intervals without width

    @property
    def goal(self) -> float:
        """What is asked of the cell."""
        if self.cell.kind != "share":
            return 0.94 if self.cell.kind == "difference" and self.cell.patients >= 10 else GOAL
        return GOAL if self.cell.events >= EVENTS else ELSEWHERE

    @property
    def fails(self) -> bool:
        """Is even the upper 99 % bound of the coverage below what is asked?"""
        return _upper(self.covered["ours"], self.samples) < self.goal or self.degenerate > 0

    @property
    def ratio(self) -> float:
        """Our width over that of the narrowest method that covers."""
        good = [
            self.width[name]
            for name, share in self.covered.items()
            if _upper(share, self.samples) >= self.goal
        ]
        return self.width["ours"] / min(good) if good else float("nan")


def _upper(share: float, samples: int) -> float:
    from scipy.stats import beta

    hits = round(share * samples)
    return 1.0 if hits == samples else float(beta.ppf(0.99, hits + 1, samples - hits))


def _events(random: np.random.Generator, cell: Cell, samples: int, sizes: Floats) -> Floats:
    chance = np.full((samples, cell.patients), cell.rate)
    if cell.alike:
        scale = 1 / cell.alike - 1
        chance = random.beta(cell.rate * scale, (1 - cell.rate) * scale, chance.shape)
    made: Floats = random.binomial(sizes.astype(np.int64), chance).astype(np.float64)
    return made


def _unequal(patients: int, items: int) -> Floats:
    """Sizes from about a third to three times the items: the largest has eleven times the least."""
    if items == 1:
        return np.ones(patients)
    made: Floats = np.maximum(1, np.round(items * np.exp(np.linspace(-1.2, 1.2, patients))))
    return made


def _ours(events: Floats, sizes: Floats) -> Ends:
    ends = [of_share(row, sizes, 0.95, counted=True)[:2] for row in events]
    low, high = (np.array(column) for column in zip(*ends, strict=True))
    return low, high


def _wilson(events: Floats, sizes: Floats) -> Ends:
    n, p = sizes.sum(), events.sum(axis=1) / sizes.sum()
    scale = 1 + Z**2 / n
    far = Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2)) / scale
    middle = (p + Z**2 / (2 * n)) / scale
    return middle - far, middle + far


def _wald(events: Floats, sizes: Floats) -> Ends:
    """The clustered standard error and Student's t with one less than the patients."""
    many, n = len(sizes), sizes.sum()
    p = events.sum(axis=1) / n
    apart = events - p[:, None] * sizes
    error = np.sqrt(many / (many - 1) * (apart**2).sum(axis=1)) / n
    far = float(stdtrit(many - 1, 0.975)) * error
    return np.clip(p - far, 0, 1), np.clip(p + far, 0, 1)


def _bca(events: Floats, sizes: Floats, random: np.random.Generator) -> Ends:
    """Patients drawn again, the same draws for all samples of a cell: one product of matrices."""
    many = len(sizes)
    weights = random.multinomial(many, np.full(many, 1 / many), DRAWS).astype(np.float64)
    drawn = (weights @ events.T) / (weights @ sizes)[:, None]
    p = events.sum(axis=1) / sizes.sum()
    left_out = (events.sum(axis=1)[:, None] - events) / (sizes.sum() - sizes)
    below = ((drawn < p - 1e-12).sum(axis=0) + (np.abs(drawn - p) <= 1e-12).sum(axis=0) / 2) / DRAWS
    with np.errstate(all="ignore"):
        bias = ndtri(below)
        apart = left_out.mean(axis=1)[:, None] - left_out
        spread = (apart**2).sum(axis=1)
        lean = np.where(spread > 0, (apart**3).sum(axis=1) / (6 * spread**1.5), 0.0)
        ordered = np.sort(drawn, axis=0)
        ends = []
        for tail in (0.025, 0.975):
            normal = bias + ndtri(tail)
            at = np.nan_to_num(ndtr(bias + normal / (1 - lean * normal)), nan=tail)
            place = np.clip(np.round(at * (DRAWS - 1)), 0, DRAWS - 1).astype(np.int64)
            ends.append(ordered[place, np.arange(len(p))])
    return ends[0], ends[1]


def shares(cell: Cell, samples: int) -> Found:
    """Coverage of a share; BCa on a thousand samples."""
    random = np.random.default_rng([cell.patients, cell.items, round(cell.rate * 1000),
                                    round(cell.alike * 10)])  # fmt: skip
    unequal = cell.kind == "level accuracy"
    sizes = _unequal(cell.patients, cell.items) if unequal else np.full(cell.patients, cell.items)
    sizes = sizes.astype(np.float64)
    events = _events(random, cell, samples, sizes)
    ends = {
        "ours": _ours(events, sizes),
        "wald": _wald(events, sizes),
        "bca": _bca(events[: max(1, samples // 4)], sizes, random),
        "wilson": _wilson(events, sizes),
    }
    return _found(cell, samples, ends, cell.rate)


def _found(cell: Cell, samples: int, ends: dict[str, Ends], truth: float) -> Found:
    covered = {
        name: float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))
        for name, (low, high) in ends.items()
    }
    width = {name: float(np.mean(high - low)) for name, (low, high) in ends.items()}
    low, high = ends["ours"]
    return Found(cell, samples, covered, width, float(np.mean(high - low < 1e-12)))


def _answers(
    random: np.random.Generator, cell: Cell, skills: Sequence[float], spread: float
) -> tuple[list[Floats], npt.NDArray[np.int64]]:
    """Right or wrong of each model on the items of unequal patients: what is hard for one model is
    hard for all (patients, items), and models have patients of their own that they fail."""
    sizes = _unequal(cell.patients, cell.items).astype(np.int64)
    who = np.repeat(np.arange(cell.patients), sizes)
    shared = random.normal(0, spread, cell.patients)[who] + random.normal(0, 1, len(who))
    made = []
    for skill in skills:
        own = random.normal(0, cell.alike, cell.patients)[who]
        made.append((random.random(len(who)) < expit(skill + shared + own)).astype(np.float64))
    return made, who


def _population(skill: float, spread: float, own: float) -> float:
    x = np.random.default_rng(0).normal(0, np.sqrt(spread**2 + 1 + own**2), 1_000_000)
    return float(expit(skill + x).mean())


def differences(cell: Cell, samples: int) -> Found:
    """Two models on the same items; `rate` is the skill of the first, the other is 0.6 below."""
    random = np.random.default_rng([1, cell.patients, cell.items, round(10 * cell.rate) + 100])
    skills, spread = (cell.rate, cell.rate - 0.6), 0.6
    truth = float(np.diff([_population(one, spread, cell.alike) for one in skills[::-1]])[0])
    ours, wald = [], []
    for _ in range(samples):
        (a, b), who = _answers(random, cell, skills, spread)
        rows = [np.stack([np.ones(len(who)), one], axis=1) for one in (a, b)]
        (found,) = compare([mean(counted=True)], *rows, Design(who), flips=1)
        ours.append((found.low, found.high))
        sums = np.bincount(who, a - b)
        sizes = np.bincount(who)
        value, many = sums.sum() / sizes.sum(), len(sizes)
        error = np.sqrt(many / (many - 1) * ((sums - value * sizes) ** 2).sum()) / sizes.sum()
        wald.append((value - Z * error, value + Z * error))
    return _found(cell, samples, {"ours": _columns(ours), "wald": _columns(wald)}, truth)


def _columns(ends: Sequence[tuple[float, float]]) -> Ends:
    low, high = (np.array(column) for column in zip(*ends, strict=True))
    return low, high


CLASSES = np.array([0.7, 0.15, 0.1, 0.05])


def _tables(random: np.random.Generator, cell: Cell, sizes: Floats) -> npt.NDArray[np.float64]:
    """(patients, classes × classes): a reference class, and the one read, right with `rate`."""
    who = np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))
    chance = np.full(len(sizes), cell.rate)
    if cell.alike:
        scale = 1 / cell.alike - 1
        chance = random.beta(cell.rate * scale, (1 - cell.rate) * scale, len(sizes))
    many = len(CLASSES)
    true, other = random.choice(many, len(who), p=CLASSES), random.choice(many, len(who), p=CLASSES)
    other = np.where(other == true, (true + 1) % many, other)
    read = np.where(random.random(len(who)) < chance[who], true, other)
    flat = who * many**2 + true * many + read
    table = np.bincount(flat, minlength=len(sizes) * many**2)
    return table.reshape(len(sizes), many**2).astype(np.float64)


def _square(rows: Floats) -> Floats:
    many = len(CLASSES)
    made = rows.reshape(*rows.shape[:-1], many, many)
    return np.concatenate([made, np.zeros((*made.shape[:-1], 1))], axis=-1)


MACRO = Measure(
    "macro_f1",
    lambda rows: macro_f1(_square(rows), list(range(len(CLASSES)))),
    lambda rows: rows.sum(axis=-1),
    classes=lambda rows: _square(rows).sum(axis=-1),
)
KAPPA = kappa_measure("kappa", lambda rows: rows, len(CLASSES), "none")


def tables(cell: Cell, samples: int) -> Found:
    """Macro-F1 or kappa of four classes of which the rarest has 5 %."""
    random = np.random.default_rng([2, cell.patients, cell.items, round(100 * cell.rate)])
    measure = MACRO if cell.kind == "macro-F1" else KAPPA
    many = _tables(np.random.default_rng(0), cell, np.full(40_000, 20.0)).sum(axis=0)
    truth = float(measure.of(many[None])[0])
    sizes = _unequal(cell.patients, cell.items)
    ours = []
    for _ in range(samples):
        (found,) = estimates([measure], _tables(random, cell, sizes), Design())
        ours.append((found.low, found.high))
    return _found(cell, samples, {"ours": _columns(ours)}, truth)


def cells() -> Iterator[Cell]:
    """All of them."""
    for patients, items, rate, alike in product(PATIENTS, ITEMS, RATES, CORRELATIONS):
        if items > 1 or not alike:  # one item is like nothing
            yield Cell("share", patients, items, rate, alike)
    for patients, items, rate, alike in product(PATIENTS, (5, 20), (0.3, 0.5, 0.9), CORRELATIONS):
        yield Cell("level accuracy", patients, items, rate, alike)
    for patients, items, skill, own in product(
        (6, *PATIENTS[1:6]), (5, 20), (0.3, 3.0), (0.1, 0.8)
    ):
        yield Cell("difference", patients, items, skill, own)
    for kind, patients, items, rate in product(
        ("macro-F1", "kappa"), PATIENTS[:7], (5, 20), (0.6, 0.9)
    ):
        yield Cell(kind, patients, items, rate, 0.1)


def work(job: tuple[Cell, int]) -> Found:
    """One cell; fewer samples where each is made on its own."""
    cell, samples = job
    if cell.kind in ("share", "level accuracy"):
        return shares(cell, samples)
    of: Callable[[Cell, int], Found] = differences if cell.kind == "difference" else tables
    return of(cell, max(1, samples // 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    started = time.time()
    jobs = [(cell, given.samples) for cell in cells()]
    with Pool(given.workers) as pool:
        found = list(pool.imap(work, jobs, chunksize=4))
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "coverage.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["kind", "patients", "items", "rate", "correlation", "events", "samples", "goal",
             *(f"{name}_covered" for name in METHODS), *(f"{name}_width" for name in METHODS),
             "width_ratio", "fails"]
        )  # fmt: skip
        for one in found:
            cell = one.cell
            table.writerow(
                [cell.kind, cell.patients, cell.items, cell.rate, cell.alike,
                 f"{cell.events:.1f}" if cell.kind == "share" else "", one.samples, one.goal,
                 *(f"{one.covered.get(name, float('nan')):.3f}" for name in METHODS),
                 *(f"{one.width.get(name, float('nan')):.4f}" for name in METHODS),
                 f"{one.ratio:.2f}", int(one.fails)]
            )  # fmt: skip
    print("\n".join(told(found)))
    failed = sum(one.fails for one in found)
    print(f"\n{len(found)} cells, {failed} fail; {time.time() - started:.0f} s")
    sys.exit(1 if failed else 0)


def told(found: Sequence[Found]) -> Iterator[str]:
    """The tables as docs/statistics.md has them."""
    yield "| shares: patients | cells | ours | Wald | BCa | Wilson | width ÷ narrowest covering |"
    yield "|---|---|---|---|---|---|---|"
    for patients in PATIENTS:
        for often in (True, False):
            own = [
                one
                for one in found
                if one.cell.kind == "share" and one.cell.patients == patients
                and (one.cell.events >= EVENTS) == often
            ]  # fmt: skip
            if own:
                least = [min(one.covered[name] for one in own) for name in METHODS]
                ratios = [one.ratio for one in own if np.isfinite(one.ratio)]
                name = f"{patients}, {'≥' if often else '<'} {EVENTS} events"
                yield (
                    f"| {name} | {len(own)} | {' | '.join(f'{one:.3f}' for one in least)} | "
                    f"{np.median(ratios):.2f} ({max(ratios):.2f}) |"
                )
    yield ""
    yield "| figure | cells | least coverage from 10 patients | with 6 | peer's least |"
    yield "|---|---|---|---|---|"
    for kind in ("level accuracy", "difference", "macro-F1", "kappa"):
        own = [one for one in found if one.cell.kind == kind]
        many = [one.covered["ours"] for one in own if one.cell.patients >= 10]
        few = [one.covered["ours"] for one in own if one.cell.patients < 10]
        peer = [one.covered["wald"] for one in own if "wald" in one.covered]
        least = f"{min(peer):.3f}" if peer else "-"
        yield f"| {kind} | {len(own)} | {min(many):.3f} | {min(few):.3f} | {least} |"
    wide = [one for one in found if one.cell.kind == "share" and one.cell.events >= EVENTS]
    for one in sorted(wide, key=lambda one: -one.ratio):
        if one.ratio > 1.25:
            cell, best = one.cell, min(one.covered, key=lambda name: one.width[name])
            yield (
                f"wider than 1.25 x: {cell.patients} patients x {cell.items} items, rate "
                f"{cell.rate}, correlation {cell.alike}: {one.ratio:.2f} ({best})"
            )
    for one in found:
        if one.fails:
            yield f"fails: {one.cell}: {one.covered['ours']:.3f}"


if __name__ == "__main__":
    main()
