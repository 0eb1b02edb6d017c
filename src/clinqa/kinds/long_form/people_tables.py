"""What people said of a sample of answers, beside the labeller: a table of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clinqa.core.wording import MISSING, count, decimals, interval, percent
from clinqa.kinds.facets.about_runs import number
from clinqa.kinds.facets.figure_tables import MODEL_SHOTS
from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow
from clinqa.kinds.facets.shows import Evaluation, ShownRun

__all__ = ["human_sample", "people_words", "told_cell"]


def human_sample(evaluation: Evaluation) -> Grid | None:
    """What people said of a sample of answers beside what the labeller said of them."""
    entries = [
        entry for meta in evaluation.metas for entry in (meta.get("human") or {}).get("runs") or ()
    ]
    rows = [
        GridRow(run.label, _human_cells(evaluation, run, entry))
        for run in evaluation.runs
        for entry in entries
        if entry.get("run") == run.id
    ]
    columns = (
        GridColumn("judged", "Answers judged", "by people"),
        GridColumn("agreement", "Agreement", "labeller and people on the same answers"),
        GridColumn("labeller_alone", "Labeller alone", "on all items"),
        GridColumn("people_alone", "People alone", "on the sample", figures=True),
        GridColumn("corrected", "Corrected", "both together (prediction-powered)", figures=True),
    )
    caption, notes = "Level accuracy with a sample judged by people", tuple(_sheets(evaluation))
    return Grid("human", caption, MODEL_SHOTS, columns, tuple(rows), notes,
                meanings=True) if rows else None  # fmt: skip


def _sheets(evaluation: Evaluation) -> Iterator[str]:
    """What became of the rows of a sheet of verdicts, where not all were used."""
    for meta in evaluation.metas:
        human = meta.get("human") or {}
        rejected = dict(human.get("rejected") or {})
        left = [f"{count(n)} {reason.replace('_', ' ')}" for reason, n in rejected.items()]
        if empty := human.get("not_judged"):
            left.append(f"{count(empty)} not judged yet")
        if left:
            rows = count(human.get("rows"))
            yield f"Of {rows} rows in the sheet of verdicts left out: {', '.join(left)}."


def _human_cells(
    evaluation: Evaluation, run: ShownRun, entry: Mapping[str, Any]
) -> tuple[GridCell, ...]:
    alone = [number(entry.get(f"people_alone{end}")) for end in ("", "_low", "_high")]
    return (
        GridCell(count(entry.get("n"))),
        told_cell(number(entry.get("agreement"))),
        told_cell(number(entry.get("labeller_alone"))),
        told_cell(*alone),
        _corrected_cell(evaluation, run, entry),
    )


def _corrected_cell(evaluation: Evaluation, run: ShownRun, entry: Mapping[str, Any]) -> GridCell:
    best = evaluation.figure(run.id, "level_accuracy_corrected")
    apart = next(iter(entry.get("unlike") or ()), None)
    if apart is not None:
        shares = f"{percent(apart['judged'])} of them, {percent(apart['others'])} of the others"
        why = f"those judged are unlike the others ({apart['name']}: {shares})"
        return GridCell("not corrected", reason=why)
    return told_cell(best.value, best.low, best.high) if best else told_cell(None)


def people_words(evaluation: Evaluation) -> str:
    """Whether the level figures are corrected by people, in a sentence."""
    human = evaluation.meta.get("human")
    if not human:
        return "No human sample was given, so the level figures are uncorrected."
    many = human.get("n") or human.get("items")
    given = f"A human sample{f' of {many} answers' if many else ''} was given"
    refused = [bool(one.get("unlike")) for one in human.get("runs") or ()]
    if refused and all(refused):
        return f"{given}, but the judged answers are unlike the others: nothing is corrected by it."
    return (
        f"{given}; “level accuracy, corrected” uses it, and its wider interval is the honest one."
    )


def told_cell(value: float | None, low: float | None = None, high: float | None = None) -> GridCell:
    if value is None:
        return GridCell(MISSING, reason="not known, or not recorded")
    return GridCell(decimals(value), interval(low, high), value=value, low=low, high=high)
