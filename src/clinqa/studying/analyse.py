"""Does training on a specialty help most there? Matrix, interaction, named families of tests.

The families are declared here, before any answer is seen; p-values are adjusted (Holm) within
each family of an arm:

own vs other specialties   on each test set, the model of its specialty against each other one
own vs all mixed           the same against the model that was trained on all together
own vs untrained           the same against the model as it was

From the table of right and wrong to arrays: each model's share of right orders, by question.

Only questions that every model of an arm answered in the same orders are kept; the others are
counted. Models that were not trained stand in every arm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from clinqa.core.arrays import Floats
from clinqa.core.errors import SourceError
from clinqa.core.figures import Figure, PairedTest, known
from clinqa.core.manifest import StageCounts
from clinqa.stats.comparing import adjusted
from clinqa.stats.crossed import (
    FEWEST_PERMUTED,
    FEWEST_SEEDS,
    Crossed,
    Permuted,
    gap_weights,
    interaction_weights,
    permutation_test,
)
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate
from clinqa.studying.answers import ALL, NONE

__all__ = ["FAMILIES", "Arm", "Cell", "Result", "Tested", "analyse", "arms_of"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of training: its rows, test sets and answers."""

    name: str
    rows: Sequence[str]
    columns: Sequence[str]
    seeds: Sequence[int]  # how many of each row
    train_items: Sequence[int | None]
    orders: tuple[int, int]  # the fewest and the most that a question was asked in
    counts: StageCounts
    crossed: Crossed

    @property
    def square(self) -> list[str]:
        """Specialties that are both trained on and tested."""
        return [name for name in self.columns if name in self.rows]


def arms_of(table: pl.DataFrame, *, seed: int, draws: int) -> list[Arm]:
    """Each arm of the table, by name; SourceError where it holds nothing to compare."""
    _refuse_twice(table)
    untrained = table.filter(pl.col("trained_on") == NONE)
    trained = table.filter(pl.col("trained_on") != NONE)
    names = sorted(trained["arm"].unique().to_list())
    if not names:
        raise SourceError("the table has no model that was trained on anything")
    made = []
    for name in names:
        own = trained.filter(pl.col("arm") == name)
        base = untrained.filter(pl.col("arm").is_in([name, ""])) if len(untrained) else untrained
        if base.is_empty() and len(untrained):
            base = untrained.filter(pl.col("arm") == untrained["arm"].min())
        made.append(_arm(name, pl.concat([own, base]), seed, draws))
    return made


def _refuse_twice(table: pl.DataFrame) -> None:
    keys = ["arm", "trained_on", "seed", "item_id", "order"]
    if twice := len(table) - table.select(keys).n_unique():
        raise SourceError(
            f"the table has {twice:,} rows of a model, question and order that it already has"
        )
    labels = table.group_by("item_id").agg(
        pl.col("specialty").n_unique().alias("specialties"), pl.col("group").n_unique()
    )
    if odd := int(((labels["specialties"] > 1) | (labels["group"] > 1)).sum()):
        raise SourceError(f"{odd:,} questions of the table have two specialties or two groups")
    reserved = sorted({ALL, NONE} & set(table["specialty"].unique().to_list()))
    if reserved:
        raise SourceError(
            f"the table has questions of a specialty {', '.join(reserved)}: {ALL} and {NONE} are "
            "what a model was trained on; name it otherwise"
        )


def _arm(name: str, table: pl.DataFrame, seed: int, draws: int) -> Arm:
    columns = sorted(table["specialty"].unique().to_list())
    trained = set(table["trained_on"].unique().to_list())
    rows = [one for one in columns if one in trained]
    rows += sorted(trained - {*columns, ALL, NONE})
    rows += [one for one in (ALL, NONE) if one in trained]
    models = (
        table.select("trained_on", "seed")
        .unique()
        .sort("seed", nulls_last=False)
        .with_columns(pl.col("trained_on").replace_strict({n: i for i, n in enumerate(rows)})
                      .alias("row"))
        .sort("row", maintain_order=True)
        .with_row_index("model")
    )  # fmt: skip
    answers = table.join(models, on=["trained_on", "seed"], nulls_equal=True)
    kept, asked = _complete(answers, len(models))
    if kept.is_empty():
        raise SourceError(f"arm {name}: no question was answered by all of its models in the "
                          "same orders")  # fmt: skip
    share = kept.pivot(on="model", index=["item_id", "specialty", "group"], values="share")
    share = share.sort("item_id")
    columns = [one for one in columns if (share["specialty"] == one).any()]
    flat = share.select([str(at) for at in range(len(models))]).to_numpy().T
    row_of = np.array(models["row"].to_list())
    place = {one: at for at, one in enumerate(columns)}
    items = [
        table.filter(pl.col("trained_on") == one)["train_items"].drop_nulls().to_list()[:1]
        for one in rows
    ]
    counts = StageCounts(
        read=asked,
        kept=len(share),
        rejected=asked - len(share),
        rejected_by_reason={"incomplete": asked - len(share)} if asked > len(share) else {},
    )
    counts.check("questions")
    return Arm(
        name=name,
        rows=rows,
        columns=columns,
        seeds=[int((row_of == at).sum()) for at in range(len(rows))],
        train_items=[one[0] if one else None for one in items],
        orders=(int(kept["orders"].min()), int(kept["orders"].max())),  # type: ignore[arg-type]
        counts=counts,
        crossed=Crossed(
            flat,
            Design(
                share["group"].to_list(),
                strata=[place[one] for one in share["specialty"]],
                crossed=row_of,
                seed=seed,
                draws=draws,
            ),
        ),
    )


def _complete(answers: pl.DataFrame, models: int) -> tuple[pl.DataFrame, int]:
    """The share of right orders of each model and question, of questions complete for all."""
    asked = answers["item_id"].n_unique()
    share = (
        answers.filter(pl.col("right").is_not_null())
        .group_by("model", "item_id", "specialty", "group")
        .agg(
            pl.col("right").cast(pl.Float64).mean().alias("share"),
            pl.len().alias("orders"),
            pl.col("order").sort().alias("which"),
        )
    )
    every = answers.group_by("item_id").agg(pl.col("order").unique().sort().alias("all"))
    share = share.join(every, on="item_id").filter(pl.col("which") == pl.col("all"))
    full = share.group_by("item_id").agg(pl.len().alias("models"))
    full = full.filter(pl.col("models") == models)
    return share.join(full.select("item_id"), on="item_id").drop("which", "all"), asked


FAMILIES = ("own vs other specialties", "own vs all mixed", "own vs untrained")
GAP, INTERACTION = "own_specialty_gap", "own_specialty_interaction"
_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class Cell:
    """Models trained on one thing, tested on another."""

    trained_on: str
    tested_on: str
    figure: Figure
    seeds: int
    train_items: int | None
    best: bool  # of its test set; all of several equal ones
    own: bool


@dataclass(frozen=True, slots=True)
class Tested:
    """One test of a family."""

    family: str
    tested_on: str
    test: PairedTest


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that one arm says."""

    arm: Arm
    cells: Sequence[Cell]
    interactions: Sequence[Figure]  # the gap, their mean, and that of each specialty
    p: float | None  # of the gap being 0, two-sided, by questions and seeds
    from_seeds: float | None  # share of the gap's variance that is the trainings'
    permuted: Permuted | None
    tests: Sequence[Tested]
    notes: Sequence[str]  # what was not told, and why


def analyse(arm: Arm, *, model: str, seed: int) -> Result:
    """The figures of one arm."""
    notes: list[str] = []
    interactions, p, from_seeds = _interactions(arm, model, notes)
    return Result(
        arm,
        _cells(arm, model),
        interactions,
        p,
        from_seeds,
        _permuted(arm, seed, notes),
        _tests(arm, notes),
        notes,
    )


def _cells(arm: Arm, model: str) -> list[Cell]:
    highest = arm.crossed.matrix.max(axis=0)
    made = []
    for row, trained_on in enumerate(arm.rows):
        for column, tested_on in enumerate(arm.columns):
            estimate = arm.crossed.cell(row, column)
            subset = {"arm": arm.name, "trained_on": trained_on, "tested_on": tested_on}
            made.append(
                Cell(
                    trained_on,
                    tested_on,
                    _figure("accuracy", estimate, model, subset),
                    arm.seeds[row],
                    arm.train_items[row],
                    bool(estimate.value >= highest[column] - _NEAR),
                    trained_on == tested_on,
                )
            )
    return made


def _interactions(
    arm: Arm, model: str, notes: list[str]
) -> tuple[list[Figure], float | None, float | None]:
    """The own-specialty gap and the double-centred diagonal, over questions and seeds."""
    square = arm.square
    if len(square) < 2:
        notes.append(
            f"{len(square)} specialties are both trained on and tested: the own-specialty "
            "interaction needs two"
        )
        return [], None, None
    few = [name for name in square if arm.seeds[arm.rows.index(name)] < FEWEST_SEEDS]
    if few:
        notes.append(
            f"no own-specialty interaction: it needs {FEWEST_SEEDS} training seeds of each row, "
            f"and {len(few)} of {len(square)} have fewer"
        )
        return [], None, None
    k = len(square)
    gap = arm.crossed.combine(_spread(arm, gap_weights(k)))
    subset = {"arm": arm.name}
    made = [_figure(GAP, gap.estimate, model, subset)]
    mean = arm.crossed.combine(_spread(arm, interaction_weights(k)))
    made.append(_figure(INTERACTION, mean.estimate, model, subset))
    for at, name in enumerate(square):
        one = arm.crossed.combine(_spread(arm, interaction_weights(k, at)))
        made.append(_figure(INTERACTION, one.estimate, model, {**subset, "specialty": name}))
    return made, known(gap.p), known(gap.from_seeds)


def _spread(arm: Arm, square: Floats) -> Floats:
    """Weights of the square part as weights of all rows and test sets."""
    rows = [arm.rows.index(name) for name in arm.square]
    columns = [arm.columns.index(name) for name in arm.square]
    made = np.zeros(arm.crossed.matrix.shape)
    made[np.ix_(rows, columns)] = square
    return made


def _permuted(arm: Arm, seed: int, notes: list[str]) -> Permuted | None:
    square = arm.square
    if len(square) < FEWEST_PERMUTED:
        many = math.factorial(len(square))
        notes.append(
            f"no permutation test: {len(square)} specialties have {many} arrangements, so that p "
            f"cannot be below 1/{many}; it is made from {FEWEST_PERMUTED} specialties on"
        )
        return None
    rows = [arm.rows.index(name) for name in square]
    columns = [arm.columns.index(name) for name in square]
    return permutation_test(arm.crossed.matrix[np.ix_(rows, columns)], seed=seed)


def _tests(arm: Arm, notes: list[str]) -> list[Tested]:
    pairs = sorted(_pairs(arm), key=lambda pair: FAMILIES.index(pair[0]))
    tests = [(family, own, _compared(arm, own, other)) for family, own, other in pairs]
    found = [Tested(family, own, test) for family, own, test in tests if test is not None]
    if untold := len(tests) - len(found):
        notes.append(f"{untold} tests could not be made: too few questions, or no spread")
    single = [name for name in arm.square if arm.seeds[arm.rows.index(name)] < 2]
    if single:
        notes.append(
            "rows of one training: tests and intervals speak of these models, not of what "
            "training on a specialty does"
        )
    made = adjusted([one.test.p for one in found], [one.family for one in found])
    return [
        replace(one, test=replace(one.test, p_holm=p)) for one, p in zip(found, made, strict=True)
    ]


def _pairs(arm: Arm) -> Iterator[tuple[str, str, str]]:
    """Family, test set and whom its own model is compared with."""
    others = {ALL: FAMILIES[1], NONE: FAMILIES[2]}
    for tested_on in arm.square:
        for row in arm.rows:
            if row != tested_on:
                yield others.get(row, FAMILIES[0]), tested_on, row


def _compared(arm: Arm, tested_on: str, other: str) -> PairedTest | None:
    """The own model minus the other on this test set; None where no test exists."""
    weights = np.zeros(arm.crossed.matrix.shape)
    column = arm.columns.index(tested_on)
    weights[arm.rows.index(tested_on), column] = 1
    weights[arm.rows.index(other), column] = -1
    found = arm.crossed.combine(weights)
    one = found.estimate
    if not math.isfinite(found.p):
        return None
    return PairedTest(
        tested_on, other, "accuracy", one.value, one.low, one.high, found.p, None, one.n,
        one.clusters, one.signature,
    )  # fmt: skip


def _figure(metric: str, one: Estimate, model: str, subset: dict[str, str]) -> Figure:
    return one.figure(metric, one.signature, run="study", model=model, subset=subset)
