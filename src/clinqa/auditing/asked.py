"""The least size of a group counts patients that a metric is over, not patients of the split.

An error that only some questions can run into, or a run that was asked few of them, leaves a large
group with one patient behind its figure. Such a group is withheld in that metric, and no part of
its gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clinqa.auditing.answers import Means
from clinqa.auditing.dimensions import Dimension
from clinqa.core.visible import visible

__all__ = ["entering"]


def entering(
    dimensions: Sequence[Dimension], of_patients: Means, least: int, who: str
) -> tuple[list[Dimension], list[str]]:
    """The dimensions of one metric with the groups of few such patients marked as small, and what
    to say of them. Rows of `of_patients` are patients.

    Runs are compared on the same groups: one run with few of them withholds the group. A run
    that no patient was asked has no figure, and holds back none.
    """
    means = of_patients.of_runs()
    asked = means.under[:, means.under_of] > 0
    asked = asked[:, asked.any(axis=0)]
    made: list[Dimension] = []
    told: list[str] = []
    for one in dimensions:
        name = f"{means.metric}, {visible(one.name)}"
        few = frozenset(
            code
            for code in range(len(one.groups))
            if code not in one.small
            and (not asked.size or asked[one.codes == code].sum(axis=0).min() < least)
        )
        left = len(one.groups) - len(one.small) - len(few)
        if left < 2:
            told.append(
                f"{name}: fewer than two groups have {least} {who} with answers that the metric is "
                "over: no figure"
            )
            continue
        if few:
            told.append(
                f"{name}: {len(few)} of {len(one.groups)} groups have fewer than {least} {who} "
                "with answers that the metric is over: withheld there, and not in the gap"
            )
        made.append(replace(one, small=one.small | few))
    return made, told
