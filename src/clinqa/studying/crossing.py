"""From the table of right and wrong to arrays: each model's share of right orders, by question.

Only questions that every model of an arm answered in the same orders are kept; the others are
counted. Models that were not trained stand in every arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from clinqa.core.errors import SourceError
from clinqa.core.manifest import StageCounts
from clinqa.stats.crossed import Crossed
from clinqa.stats.design import Design
from clinqa.studying.answers import ALL, NONE

__all__ = ["Arm", "arms_of"]


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
