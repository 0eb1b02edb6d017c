"""What people are told of a scoring: warnings, and the main figures for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures

__all__ = ["lines_of", "warnings_of"]


def warnings_of(
    items: SplitItems,
    judged: Mapping[str, Mapping[str, JudgedRun]],
    votes: Sequence[JudgedRun],
    measures: Measures,
    manifest: Manifest,
    figures: Sequence[Figure],
    meta: Mapping[str, Any],
    *,
    limited: bool,
) -> Iterator[str]:
    """What a reader should know before trusting a figure; counts only."""
    yield from measures.warns_of_items(items)
    for own in judged.values():
        run, *_ = ways = list(own.values())
        if len(run.items) < len(items):
            yield (
                f"{run.name}: was asked {len(run.items):,} of the {len(items):,} items; its "
                "figures are of those"
            )
        if run.unknown and not limited:
            yield f"{run.name}: {run.unknown:,} answers to items not in the split"
        yield from _of_statuses(run, measures.wording.none)
        yield from measures.warns_of_run(ways)
    every = [one for own in judged.values() for one in own.values()]
    yield from measures.warns_of_all(every, manifest, meta)
    yield from measures.contradicts(figures, [*every, *votes])


def _of_statuses(run: JudgedRun, are: str) -> Iterator[str]:
    """That some answers are none, by status; they count as wrong. `are` words what they lack."""
    others = {status: n for status, n in run.statuses.items() if status != "answered" and n}
    if others:
        told = ", ".join(f"{status} {n:,}" for status, n in sorted(others.items()))
        yield (
            f"{run.name}: {sum(others.values()):,} of {run.answers:,} answers {are} ({told}); "
            "they count as wrong"
        )


def lines_of(figures: Sequence[Figure], measures: Measures, primary: str) -> list[str]:
    """The main figures of each run that have a value, with intervals where there are any."""
    lines = []
    for metric in dict.fromkeys((primary, *measures.lines)):
        for one in figures:
            if one.metric != metric or one.subset or one.value is None or not measures.main(one):
                continue
            way = one.signature.split("|")[2] if measures.ways[1:] else ""
            label = measures.wording.label.format(metric=metric, run=one.run, way=way)
            known = one.low is not None and one.high is not None
            bounds = f"  [{one.low:.3f}, {one.high:.3f}]" if known else ""
            lines.append(f"{label} {one.value:.3f}{bounds}")
    return lines
