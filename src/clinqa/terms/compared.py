"""From scores of occurrences to figures: means under each model, paired differences, tests.

A difference is that of an adapter and the base over the same occurrences. Questions are drawn
again by group, so that ten terms of one question are not ten observations. p-values are Holm's
over all specialties and adapters of one call; `all` stands apart from them, it is their sum.

And of terms that were found: how many of a specialty's terms in test were seen in another's train,
Table 5 of S-MedQA. The test column is the denominator: of the distinct terms in the questions of
specialty j in test, the share that stands in the questions of specialty i in train. Terms of many
specialties are set aside before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clinqa.core.figures import Figure, PairedTest
from clinqa.core.wording import many
from clinqa.stats.comparing import adjusted, compare
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.measure import mean, share
from clinqa.terms.scoring import ScoredPlace
from clinqa.terms.term_options import BASE

__all__ = [
    "ALL",
    "METRIC",
    "OVERLAP",
    "Compared",
    "Held",
    "ModelTerm",
    "TermTest",
    "compared",
    "overlap_figures",
]

ALL = "all"
METRIC, OVERLAP = "term_logprob", "term_overlap"
FEW_GROUPS = 10


@dataclass(frozen=True, slots=True)
class ModelTerm:
    """One occurrence under one model; `specialty` is the term's, not the question's."""

    model: str
    item: str
    group: str
    specialty: str
    scored: ScoredPlace


@dataclass(frozen=True, slots=True)
class TermTest:
    """A paired test with the specialty and the part of the text it is of."""

    specialty: str
    part: str
    test: PairedTest


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found. Figures and tests have the subsets specialty and part."""

    figures: Sequence[Figure]
    tests: Sequence[TermTest]
    warnings: Sequence[str]

    def lines(self) -> list[str]:
        """A line an adapter, for people."""
        made = []
        for one in self.tests:
            if one.specialty == ALL and one.part == ALL:
                test = one.test
                made.append(
                    f"{test.a}: {test.difference:+.3f} nats a term ({test.low:+.3f} to "
                    f"{test.high:+.3f}), {many(test.n, 'occurrence')} in "
                    f"{many(test.clusters, 'group')}"
                )
        return made


def compared(
    rows: Sequence[ModelTerm],
    models: Sequence[str],
    *,
    model: str,
    signature: str,
    seed: int,
    draws: int,
) -> Compared:
    """Figures of every model and tests of every adapter against the base."""
    scores = _by_place(rows, models)
    # what one model could not score is left out for all: each figure is of the same occurrences
    keys = sorted(set.intersection(*(set(one) for one in scores.values())))
    base = scores[BASE]
    specialties = sorted({base[key].specialty for key in keys})
    parts = sorted({key[1] for key in keys})
    figures: list[Figure] = []
    tests: list[TermTest] = []
    few: list[str] = []
    for part in (ALL, *(parts if len(parts) > 1 else ())):
        for specialty in (*specialties, ALL):
            chosen = [
                key
                for key in keys
                if specialty in (ALL, base[key].specialty) and part in (ALL, key[1])
            ]
            if not chosen:
                continue
            groups = [base[key].group for key in chosen]
            subset = {"specialty": specialty, "part": part}
            tables = {
                name: np.array([(1.0, scores[name][key].scored.logprob) for key in chosen])
                for name in models
            }
            for name, table in tables.items():
                figures.append(_figure(name, model, table, groups, subset, signature, seed, draws))
            tests += [
                TermTest(
                    specialty, part,
                    _test(name, tables[name], tables[BASE], groups, signature, seed, draws),
                )
                for name in models
                if name != BASE
            ]  # fmt: skip
            if part == ALL and specialty != ALL and len(set(groups)) < FEW_GROUPS:
                few.append(specialty)
    return Compared(figures, _corrected(tests), _of_few(few))


def _of_few(specialties: Sequence[str]) -> list[str]:
    if not specialties:
        return []
    return [
        f"{', '.join(specialties)}: terms in fewer than {FEW_GROUPS} groups of questions; no "
        "interval of so few is to be trusted"
    ]


def _by_place(
    rows: Sequence[ModelTerm], models: Sequence[str]
) -> dict[str, dict[tuple[str, str, int], ModelTerm]]:
    """The scored occurrences of each model by item, part and start."""
    scores: dict[str, dict[tuple[str, str, int], ModelTerm]] = {name: {} for name in models}
    for row in rows:
        if row.scored.logprob is not None:
            place = row.scored.place
            scores[row.model][row.item, place.part, place.start] = row
    return scores


def _figure(
    name: str,
    model: str,
    table: np.ndarray,
    groups: Sequence[str],
    subset: Mapping[str, str],
    signature: str,
    seed: int,
    draws: int,
) -> Figure:
    design = Design(groups, seed=seed, draws=draws)
    (found,) = estimates([mean(bounds=None)], table, design)
    how = f"{signature}|{found.signature}"
    return found.figure(METRIC, how, run=name, model=model, subset=subset)


def _test(
    name: str,
    tuned: np.ndarray,
    base: np.ndarray,
    groups: Sequence[str],
    signature: str,
    seed: int,
    draws: int,
) -> PairedTest:
    (found,) = compare([mean(bounds=None)], tuned, base, Design(groups, seed=seed, draws=draws))
    return PairedTest(
        name, BASE, METRIC, found.difference, found.low, found.high, found.p, None, found.n,
        found.clusters, f"{signature}|{found.signature}",
    )  # fmt: skip


def _corrected(tests: Sequence[TermTest]) -> list[TermTest]:
    """With Holm's p-values: a family for each part, `all` specialties together not in it."""
    tested = [one.specialty != ALL and not np.isnan(one.test.p) for one in tests]
    families = [one.part if own else None for one, own in zip(tests, tested, strict=True)]
    found = adjusted([one.test.p for one in tests], families)
    return [
        replace(one, test=replace(one.test, p_holm=p)) for one, p in zip(tests, found, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Held:
    """The distinct terms of one question."""

    item: str
    group: str
    specialty: str
    concepts: frozenset[str]


def overlap_figures(
    train: Iterable[Held],
    test: Iterable[Held],
    *,
    run: str,
    signature: str,
    seed: int,
    draws: int,
) -> list[Figure]:
    """A figure for each specialty of train (and for all of it) by each of test.

    A distinct term counts once, in equal parts for each question of the column that has it, so
    that the shares of the questions add up to the share of distinct terms, and the interval can
    draw questions (by group) again.
    """
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for one in train:
        seen[one.specialty] |= one.concepts
        seen[ALL] |= one.concepts
    columns: defaultdict[str, list[Held]] = defaultdict(list)
    for one in test:
        columns[one.specialty].append(one)
    made = []
    rows = [*sorted(set(seen) - {ALL}), ALL] if seen else []
    for column in sorted(columns):
        held = [one for one in columns[column] if one.concepts]
        times = Counter(concept for one in held for concept in one.concepts)
        for row in rows:
            made.append(_shared(row, column, held, times, seen[row], run, signature, seed, draws))
    return made


def _shared(
    row: str,
    column: str,
    held: Sequence[Held],
    times: Mapping[str, int],
    seen: set[str],
    run: str,
    signature: str,
    seed: int,
    draws: int,
) -> Figure:
    table = np.array(
        [
            (
                sum(1 / times[concept] for concept in sorted(one.concepts)),
                sum(1 / times[concept] for concept in sorted(one.concepts & seen)),
            )
            for one in held
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    design = Design([one.group for one in held], seed=seed, draws=draws)
    (found,) = estimates([share(OVERLAP, 1, 0)], table, design)
    subset = {"train": row, "test": column, "shared": str(len(times.keys() & seen))}
    return found.figure(OVERLAP, f"{signature}|{found.signature}", run=run, subset=subset)
