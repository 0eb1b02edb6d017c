"""A dataset of statement pairs as text: the funnel, rejects with where they stand, documents."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.pair_summary import PairSummary
from clinqa.present.tables import Canvas, count, percent, visible

__all__ = ["STEPS", "render_pairs"]

STEPS = {
    "pages": "pages read",
    "drafts": "drafts",
    "verified": "verified on their page",
    "merged": "merged, without doubles",
    "paired": "paired with a counterpart",
    "deduplicated": "without near-duplicates",
    "pairs": "pairs kept",
}
_MODES = ("text", "both", "vision", "none")


def render_pairs(summary: PairSummary, canvas: Canvas) -> str:
    """All tables of a summary."""
    title = Text(visible(summary.folder), style="bold").append(
        f"  data class {summary.data_class}, generator {summary.generator}", style="not bold"
    )
    parts: list[RenderableType] = [title]
    if any(name in STEPS for name in summary.funnel):  # a bank's questions go through none
        parts += [canvas.heading("Funnel"), _funnel(summary, canvas)]
    sums = "the stages add up" if summary.reconciles else "THE STAGES DO NOT ADD UP"
    parts.append(Text(sums, style="dim"))
    parts += [canvas.heading("Splits"), _splits(summary, canvas)]
    parts.append(
        Text(f"highest similarity of source texts across splits: {summary.across:.2f}", style="dim")
    )
    parts += [canvas.heading("Shortcut probe"), _probe(summary)]
    parts += [canvas.heading("Pairs by topic"), _tally(summary.topics, canvas)]
    if summary.edits:
        parts += [canvas.heading("Pairs by edit"), _tally(summary.edits, canvas)]
    if summary.documents:
        parts += [canvas.heading("Documents: pages by mode, pairs"), _documents(summary, canvas)]
    if summary.rejects:
        parts += [canvas.heading("Rejects by stage and reason"), *_rejects(summary, canvas)]
    return canvas.render(parts)


def _funnel(summary: PairSummary, canvas: Canvas) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    steps = [(name, n) for name, n in summary.funnel.items() if name in STEPS]
    most = max((n for name, n in steps if name != "pages"), default=0)
    room = max(10, min(40, canvas.inner - 45))
    for name, n in steps:
        bar = (
            "" if name == "pages" or not most else "█" * max(1 if n else 0, round(room * n / most))
        )
        table.add_row(STEPS[name], f"{n:,}", Text(bar, "cyan"))
    return table


def _splits(summary: PairSummary, canvas: Canvas) -> Table:
    table = canvas.table(["split", "groups", "pairs", "items", "share"])
    total = sum(split["items"] for split in summary.splits.values())
    for name, split in summary.splits.items():
        numbers = (count(split[key]) for key in ("groups", "pairs", "items"))
        table.add_row(name, *numbers, percent(split["items"], total))
    return table


def _probe(summary: PairSummary) -> Text:
    found = summary.probe
    value = found.get("accuracy")
    if not isinstance(value, float):
        return Text("not run: too few pairs", style="dim")
    text = Text(f"labels told from the wording alone: accuracy {value:.3f}")
    text.append(f" ({found['low']:.3f} to {found['high']:.3f}; {found['clusters']:,} pairs)")
    text.append("; chance is 0.5\n", style="dim")
    denials = summary.denials
    return text.append(
        f"statements that deny: {percent(denials.get('true'))} of True, "
        f"{percent(denials.get('false'))} of False"
    )


def _tally(tally: Mapping[str, int], canvas: Canvas) -> Table:
    table = canvas.table(["", "pairs", "share"])
    total = sum(tally.values())
    for name, n in sorted(tally.items(), key=lambda one: (-one[1], one[0])):
        table.add_row(visible(name), count(n), percent(n, total))
    return table


def _documents(summary: PairSummary, canvas: Canvas) -> Table:
    table = canvas.table(["document", "outcome", "pages", *_MODES, "pairs"])
    for row in summary.documents:
        name = f"{row.md5[:8]} {visible(row.name)}"
        modes = [count(row.modes.get(mode, 0)) for mode in _MODES]
        table.add_row(name, row.outcome, count(row.pages), *modes, count(row.pairs))
    return table


def _rejects(summary: PairSummary, canvas: Canvas) -> list[RenderableType]:
    table = canvas.table(["stage: reason", "count", "for instance"])
    table.columns[2].justify = "left"
    table.columns[2].no_wrap = False
    table.columns[2].overflow = "fold"
    for row in summary.rejects:
        places = "\n".join(map(visible, row.examples))
        table.add_row(f"{row.stage}: {row.reason}", count(row.count), places)
    return [table]
