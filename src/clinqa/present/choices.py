"""A dataset of multiple-choice items as text: splits, specialties, options, flags, rejects."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.choice_summary import ChoiceSummary
from clinqa.present.tables import Canvas, count, percent, visible

__all__ = ["render_choices"]


def render_choices(summary: ChoiceSummary, canvas: Canvas) -> str:
    """All tables of a summary."""
    about = f"  data class {summary.data_class}"
    if summary.annotator:
        about += f", annotator {visible(summary.annotator)}"
    title = Text(visible(summary.folder), style="bold").append(about, style="not bold")
    sums = "the stages add up" if summary.reconciles else "THE STAGES DO NOT ADD UP"
    parts: list[RenderableType] = [title, canvas.heading("Flow")]
    parts += [Text(f"{visible(stage)}: {told}") for stage, told in summary.flow.items()]
    parts.append(Text(sums, style="dim"))
    parts += [canvas.heading("Splits"), _splits(summary, canvas)]
    near = summary.near_duplicates
    parts.append(
        Text(
            f"near-duplicates: {near['pairs']:,} pairs, {near['across splits']:,} across splits",
            style="dim",
        )
    )
    parts += [canvas.heading("Items by specialty and split"), _categories(summary, canvas)]
    parts += [canvas.heading("Right option, as the banks have it"), _gold(summary, canvas)]
    tallies: tuple[tuple[str, Mapping[str, int]], ...] = (
        ("Items by number of options", summary.options),
        ("Items by bank", summary.banks),
        ("Specialty decided by", summary.methods),
        ("Flags", summary.flags),
        ("Rejects by stage and reason", summary.rejects),
    )
    for heading, tally in tallies:
        if tally:
            whole = sum(tally.values()) if heading.startswith("Rejects") else summary.items
            parts += [canvas.heading(heading), _tally(tally, whole, canvas)]
    return canvas.render(parts)


def _splits(summary: ChoiceSummary, canvas: Canvas) -> Table:
    table = canvas.table(["split", "groups", "items", "share"])
    for name, split in summary.splits.items():
        share = percent(split["items"], summary.items)
        table.add_row(name, count(split["groups"]), count(split["items"]), share)
    return table


def _categories(summary: ChoiceSummary, canvas: Canvas) -> Table:
    table = canvas.table(["specialty", *summary.splits, "total", "share"])
    for name, own in summary.categories.items():
        total = sum(own.values())
        cells = [count(own.get(split, 0)) for split in summary.splits]
        table.add_row(visible(name), *cells, count(total), percent(total, summary.items))
    table.add_section()
    sums = [count(split["items"]) for split in summary.splits.values()]
    table.add_row("all", *sums, count(summary.items), percent(1.0), style="bold")
    return table


def _gold(summary: ChoiceSummary, canvas: Canvas) -> Table:
    table = canvas.table(["letter", "items", "share", ""])
    most = max(summary.gold.values(), default=0)
    for letter, n in summary.gold.items():
        bar = Text("█" * round(20 * n / most) if most else "", "cyan")
        table.add_row(letter, count(n), percent(n, summary.items), bar)
    table.columns[3].justify = "left"
    return table


def _tally(tally: Mapping[str, int], whole: int, canvas: Canvas) -> Table:
    table = canvas.table(["", "count", "share"])
    for name, n in tally.items():
        table.add_row(visible(name), count(n), percent(n, whole))
    return table
