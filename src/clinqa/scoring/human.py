"""A sheet of people's verdicts: a row an answer that somebody judged.

The columns are `item_id`, `verdict`, and perhaps `run` and `weight` (1 over the chance with which
the item was drawn). A verdict says whether the answer is right on what was asked: right or wrong
(yes/no, true/false, 1/0, correct/incorrect), or a word of the kind of items for an error. Several
verdicts on one answer are averaged.

A row that cannot be used is counted by its reason and left out; only a sheet of which no row can be
used, or that lacks a column, ends the run. No cell of it is quoted.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.alike_ids import told_alike
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reason
from clinqa.core.small_tables import SmallTable, column_named, read_small_table
from clinqa.core.visible import visible
from clinqa.kinds.facets.measures import Corrects

__all__ = ["HumanVerdicts", "read_human"]

_RIGHT = frozenset({"right", "correct", "yes", "true", "y", "t", "1", "1.0"})
_WRONG = frozenset({"wrong", "incorrect", "no", "false", "n", "f", "0", "0.0"})
_SAID = {
    Reason.ODD_VERDICT: "are neither right nor wrong",
    Reason.NO_SUCH_RUN: "are of no run that is scored",
    Reason.NO_ITEM: "name no item",
    Reason.ODD_WEIGHT: "have a weight that is no number above 0",
}


@dataclass(frozen=True, slots=True)
class HumanVerdicts:
    """By run, the share of right verdicts on each item that people judged.

    `weights`, where the sheet has them: 1 over the chance with which each item was drawn.
    `used` verdicts came to that; `empty` rows have none yet; `rejects` counts the others. `told`
    is of the file.
    """

    by_run: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    used: int = 0
    empty: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    @property
    def counts(self) -> StageCounts:
        """What became of the rows."""
        rejected = sum(self.rejects.values())
        return StageCounts(
            read=self.used + self.empty + rejected,
            kept=self.used,
            rejected=rejected,
            out_of_scope=self.empty,
            rejected_by_reason=self.rejects,
            out_of_scope_by_reason={"not_judged": self.empty} if self.empty else {},
        )

    def warnings(self) -> Iterator[str]:
        """What a reader must know of the sheet."""
        yield from self.told
        rows = self.counts.read
        halves = sum(0 < share < 1 for own in self.by_run.values() for share in own.values())
        if halves:
            yield (
                f"people's verdicts: {halves:,} answers were judged both right and wrong, and "
                "count by the share of right"
            )
        for reason, n in self.rejects.items():
            yield f"people's verdicts: {n:,} of {rows:,} rows {_SAID[Reason(reason)]}: left out"


def read_human(path: Path, names: Mapping[str, str], corrects: Corrects) -> HumanVerdicts:
    """The verdicts in a file.

    `names` gives the run's id for every name it may be called by.
    """
    runs = list(dict.fromkeys(names.values()))
    table = read_small_table(path, "a sheet of verdicts", error=ConfigError)
    columns = {name: _cells(table, name) for name in ("item_id", "verdict", "run", "weight")}
    for needed in ("item_id", "verdict"):
        if columns[needed] is None:
            raise ConfigError(f"{path}: no column {needed!r}; needed are item_id and verdict")
    if columns["run"] is None and len(runs) > 1:
        raise ConfigError(
            f"{path}: no column 'run', but {len(runs)} runs are scored; say whose answer was judged"
        )
    right, wrong = _RIGHT | corrects.right, _WRONG | corrects.wrong
    found: dict[str, dict[str, list[float]]] = {run: defaultdict(list) for run in runs}
    weights: dict[str, dict[str, float]] = {run: {} for run in runs}
    rejects: Counter[str] = Counter()
    used = empty = 0
    rows = len(table.numbers)
    for item, verdict, called, weighs in zip(
        columns["item_id"] or [], columns["verdict"] or [], columns["run"] or [""] * rows,
        columns["weight"] or ["1"] * rows, strict=True,
    ):  # fmt: skip
        word = verdict.casefold().strip(" .!")
        run = names.get(called or (runs[0] if len(runs) == 1 else ""))
        if not word:  # a sheet filled in half-way
            empty += 1
        elif run is None:
            rejects[Reason.NO_SUCH_RUN] += 1
        elif not item:
            rejects[Reason.NO_ITEM] += 1
        elif word not in right | wrong:
            rejects[Reason.ODD_VERDICT] += 1
        elif not (weight := _weight(weighs)):
            rejects[Reason.ODD_WEIGHT] += 1
        else:
            used += 1
            weights[run][item] = weight
            found[run][item].append(float(word in right))
    _check(path, used, rejects, runs)
    made = {
        run: {item: sum(all_) / len(all_) for item, all_ in sorted(items.items())}
        for run, items in found.items()
        if items
    }
    told = dict(sorted((str(reason), n) for reason, n in rejects.items()))
    given = weights if columns["weight"] is not None else {}
    alike = told_alike(visible(path.name), items=filter(None, columns["item_id"] or []))
    return HumanVerdicts(made, given, used, empty, told, (*table.told, *alike))


def _weight(cell: str) -> float:
    """A number above 0; 0 of anything else."""
    try:
        weight = float(cell)
    except ValueError:
        return 0.0
    return weight if 0 < weight < math.inf else 0.0


def _cells(table: SmallTable, name: str) -> list[str] | None:
    own = column_named(list(table.columns), name)
    return None if own is None else [cell.strip() for cell in table.columns[own]]


def _check(path: Path, used: int, rejects: Counter[str], runs: list[str]) -> None:
    """ConfigError where no row can be used, for what most of them lack."""
    if used or not rejects:
        return
    reason, n = rejects.most_common(1)[0]
    advice = {
        Reason.ODD_VERDICT: "a verdict must be right or wrong",
        Reason.NO_SUCH_RUN: f"no such run; scored are {', '.join(runs)}",
        Reason.NO_ITEM: "a row must name an item",
        Reason.ODD_WEIGHT: "a weight must be a number above 0",
    }[Reason(reason)]
    raise ConfigError(
        f"{path}: none of its {rejects.total():,} rows can be used; of {n:,}: {advice}"
    )
