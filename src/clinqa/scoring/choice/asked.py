"""A run's prompts and answers: which item, in which order of its options, and what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import sha256_file
from clinqa.kinds.facets.reads import TOLD
from clinqa.kinds.multiple_choice.choices import CHOICES, CHOICES_FILE
from clinqa.scoring.choice.questions import Questions
from clinqa.scoring.inputs import Run

__all__ = ["Asked", "asked_of", "design_of"]

_PLACE = ("item_id", "repeat", "variant")
_TEXTS = ("output", "answer", "answer_status")


@dataclass(frozen=True, slots=True)
class Asked:
    """Prompts in the order of item, repeat and variant; a row each.

    `item` is the question's row. `order` tells which of the bank's options stood in each place;
    `weighed` the log-probability of each place's letter, where the run has them.
    """

    run: Run
    item: npt.NDArray[np.int64]
    repeat: npt.NDArray[np.int64]
    variant: npt.NDArray[np.int64]
    order: Sequence[tuple[int, ...]]
    positional: npt.NDArray[np.bool_]
    weighed: Sequence[Sequence[float] | None]
    output: Sequence[str]
    answer: Sequence[str | None]
    status: Sequence[str]
    unknown: int

    def __len__(self) -> int:
        return len(self.item)

    @property
    def statuses(self) -> Mapping[str, int]:
        """How many answers are of each status, as predict read them."""
        return Counter(self.status)

    @property
    def writes(self) -> bool:
        """Did the model write, or were its letters only weighed?"""
        return not self.run.configuration.get("constrained")


def design_of(run: Run) -> str:
    """How the options of a run were ordered, for signatures."""
    told: Mapping[str, Any] = run.configuration.get("choices") or {}
    orders = told.get("orders")
    return f"{orders} {told.get('design')} orders" if orders else "the bank's order"


def asked_of(run: Run, questions: Questions) -> Asked:
    """The prompts of a run; ConfigError where its files do not belong together."""
    answers = _predictions(run)
    orders = _choices(run)
    same = answers.num_rows == orders.num_rows and all(
        answers[name].equals(orders[name]) for name in _PLACE
    )
    if not same:
        raise ConfigError(
            f"{run.folder}: predictions and {CHOICES_FILE} tell of other prompts; run predict again"
        )
    place = {name: row for row, name in enumerate(questions.ids)}
    found = np.array([place.get(name, -1) for name in answers["item_id"].to_pylist()], np.int64)
    unknown = int((found < 0).sum())
    if unknown == len(found):
        raise ConfigError(f"{run.folder}: answers no item of split {run.split}")
    kept = pa.array(found >= 0)
    answers, orders, found = answers.filter(kept), orders.filter(kept), found[found >= 0]
    shown = [tuple(own) for own in orders["order"].to_pylist()]
    for row, own in zip(found.tolist(), shown, strict=True):
        if sorted(own) != list(range(len(questions.options[row]))):
            raise ConfigError(
                f"{run.folder / CHOICES_FILE}: an order that is none of its item's options; "
                "run predict again"
            )
    statuses = answers["answer_status"].to_pylist()
    if set(statuses) - set(TOLD):
        raise ConfigError(f"{run.folder}: holds unknown statuses; run its predict again")
    return Asked(
        run=run,
        item=found,
        repeat=answers["repeat"].to_numpy().astype(np.int64),
        variant=answers["variant"].to_numpy().astype(np.int64),
        order=shown,
        positional=orders["positional"].to_numpy(zero_copy_only=False).astype(np.bool_),
        weighed=orders["log_probabilities"].to_pylist(),
        output=[text or "" for text in answers["output"].to_pylist()],
        answer=answers["answer"].to_pylist(),
        status=statuses,
        unknown=unknown,
    )


def _predictions(run: Run) -> pa.Table:
    table = run.predictions(also=("variant",))
    doubled = table.group_by(list(_PLACE)).aggregate([([], "count_all")])
    if pc.any(pc.greater(doubled["count_all"], 1)).as_py():
        raise ConfigError(
            f"{run.folder}: answers an item twice in one order; is it of several models?"
        )
    return table.sort_by([(name, "ascending") for name in _PLACE])


def _choices(run: Run) -> pa.Table:
    path = run.folder / CHOICES_FILE
    if not path.is_file():
        raise ConfigError(f"{run.folder}: no {CHOICES_FILE}; run predict again")
    stated = {record.name: record.sha256 for record in run.manifest.outputs}.get(CHOICES_FILE)
    if stated != sha256_file(path):
        raise CheckFailed(f"{path}: changed since it was made (SHA-256); run predict again")
    try:
        table = pq.ParquetFile(path).read().select(CHOICES.names).cast(CHOICES)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise ConfigError(f"{path}: cannot be read; run predict again") from error
    return table.sort_by([(name, "ascending") for name in _PLACE])
