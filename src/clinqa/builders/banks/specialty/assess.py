"""How right the voters are, alone and together, and how much they decide (accuracy × coverage)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clinqa.builders.banks.specialty.specialty_options import QUORUMS
from clinqa.builders.banks.specialty.votes import VoteTally
from clinqa.core.figures import Figure
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.measure import share

__all__ = ["accuracy_and_coverage", "sizes", "totals"]


#: Rows are (items, decided, right).
_MEASURES = (share("accuracy", 2, 1), share("coverage", 1, 0))


def accuracy_and_coverage(
    decisions: Mapping[str, Sequence[str | None]],
    gold: Sequence[frozenset[str]],
    groups: Sequence[str],
    *,
    run: str,
    model: str,
    how: str,
    seed: int,
    draws: int = 1000,
) -> list[Figure]:
    """Two figures for each decider (a voter, a quorum, the sum of probabilities).

    A decision is right if it is one of the gold labels; None is not decided. `accuracy` is over
    what is decided, `coverage` the share decided; intervals over groups of near-duplicates.
    """
    figures = []
    for name, decided in decisions.items():
        rows = [
            [1.0, float(label is not None), float(label is not None and label in right)]
            for label, right in zip(decided, gold, strict=True)
        ]
        accuracy, coverage = estimates(_MEASURES, rows, Design(groups, seed=seed, draws=draws))
        # both are of a draw of all groups
        found = {"accuracy": replace(accuracy, clusters=coverage.clusters), "coverage": coverage}
        figures += [
            one.figure(
                metric,
                f"{metric}|{how}|{one.signature}",
                run=run,
                model=model,
                subset={"decided_by": name},
            )
            for metric, one in found.items()
        ]
    return figures


def sizes(
    tallies: Sequence[VoteTally], names: Sequence[str]
) -> tuple[list[dict[str, int | str]], dict[str, int]]:
    """Questions of each specialty at each quorum (Table 3), and what stays undecided at each."""
    counts = {name: dict.fromkeys(QUORUMS, 0) for name in names}
    undecided = {f"{quorum}+": 0 for quorum in QUORUMS}
    for tally in tallies:
        for quorum in QUORUMS:
            label = tally.decided(quorum)
            if label is None:
                undecided[f"{quorum}+"] += 1
            else:
                counts.setdefault(label, dict.fromkeys(QUORUMS, 0))[quorum] += 1
    rows: list[dict[str, int | str]] = [
        {"specialty": name, **{f"{quorum}+": own[quorum] for quorum in QUORUMS}}
        for name, own in counts.items()
        if any(own.values())
    ]
    rows.sort(key=lambda row: (-int(row["3+"]), str(row["specialty"])))
    return rows, undecided


def totals(
    rows: Sequence[Mapping[str, int | str]], printed: Mapping[str, int] | None = None
) -> tuple[dict[str, int], list[str]]:
    """The sums of a table's columns by its rows, and which printed totals they contradict.

    >>> totals([{"specialty": "A", "3+": 2}, {"specialty": "B", "3+": 3}], {"3+": 6})
    ({'3+': 5}, ['3+: the rows sum to 5, the table prints 6'])
    """
    sums: dict[str, int] = {}
    for row in rows:
        for column, value in row.items():
            if isinstance(value, int):
                sums[column] = sums.get(column, 0) + value
    wrong = [
        f"{column}: the rows sum to {sums.get(column, 0):,}, the table prints {value:,}"
        for column, value in (printed or {}).items()
        if sums.get(column, 0) != value
    ]
    return sums, wrong
