"""A dataset's summary as text: EchoQA's Figure 1 as a tree, Table 2, levels, coverage, discord."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.summary import LEVELS, AbnormalityRow, DiscordCase, Summary
from clinqa.present.levels import LEVEL_STYLES
from clinqa.present.tables import Canvas, count, fitting_counts, percent, visible

__all__ = ["render_summary"]

_SHORT = {style.level: style.short for style in LEVEL_STYLES}
_LEGEND = (
    "-50 contradictory, -3 inadequate, -2 abnormal without degree, -1 low, "
    "0 normal or absent, 1 mild, 2 moderate, 3 severe"
)


def render_summary(
    summary: Summary, canvas: Canvas, *, cases: int = 10, names: Mapping[str, str] | None = None
) -> str:
    """All tables of a summary; at most `cases` study ids a measurement in discord are listed."""
    parts: list[RenderableType] = [_title(summary)]
    parts += [canvas.heading("Flow"), _flow(summary, canvas)]
    parts += [canvas.heading("Splits"), _splits(summary, canvas)]
    if summary.abnormalities:
        parts += [canvas.heading("Items by abnormality and split"), _items(summary, canvas)]
        parts += [
            canvas.heading("Studies by abnormality and level"),
            _levels(summary, canvas),
            Text(_LEGEND, style="dim"),
        ]
        if _two_valued(summary):
            parts.append(Text("* has no degrees: 1 means present", style="dim"))
        parts += [canvas.heading("Coverage and method"), _coverage(summary, canvas)]
    if len(summary.question_types) > 1:
        parts += [
            canvas.heading("Items by kind of question"),
            _tally(summary.question_types, canvas),
        ]
    if len(summary.phases) > 1:
        parts += [canvas.heading("Labels by phase"), _tally(summary.phases, canvas)]
    if summary.rejects:
        heading = canvas.heading("Rejects by stage and reason", _rejected(summary))
        parts += [heading, _tally(summary.rejects, canvas)]
    parts += [canvas.heading("Numbers against words"), *_discord(summary, canvas, cases)]
    return canvas.render(parts)


def _title(summary: Summary) -> Text:
    text = Text(visible(summary.folder), style="bold")
    about = [
        f"data class {summary.data_class}" if summary.data_class else "",
        f"profile {summary.profile}" if summary.profile else "",
    ]
    said = ", ".join(word for word in about if word)
    return text.append(f"  {said}", style="not bold") if said else text


def _reasons(reasons: Mapping[str, int]) -> str:
    return " · ".join(f"{visible(name)} {n:,}" for name, n in reasons.items() if n)


def _flow(summary: Summary, canvas: Canvas) -> Table:
    flow = summary.flow
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", overflow="fold")

    def row(name: str, n: int | None, note: str = "", *, strong: bool = False) -> None:
        shown = "–" if n is None else f"{n:,}"
        style = "bold" if strong else ""
        table.add_row(Text(name, style=style), Text(shown, style=style), note)

    row("notes read", flow.read, strong=True)
    row("├─ out of scope", flow.out_of_scope, _reasons(flow.out_of_scope_by_reason))
    row("├─ duplicates", flow.duplicates, "same study, same text" if flow.duplicates else "")
    row("├─ rejected", flow.rejected, _reasons(flow.rejected_by_reason))
    sums = {True: "the parts add up", False: "THE PARTS DO NOT ADD UP", None: ""}
    row("└─ studies kept", flow.kept, sums[flow.reconciles], strong=True)
    read_by = ", ".join(
        f"{name} {percent(n, flow.occurrences)}" for name, n in summary.statement_methods.items()
    )
    row("   statements", flow.occurrences, f"{flow.statements:,} distinct; decided by {read_by}")
    by = ", ".join(f"{name} {percent(n, flow.labels)}" for name, n in summary.methods.items())
    others = {name: n for name, n in summary.phases.items() if name != "baseline"}
    beside = f"; beside them {_reasons(others)} in labels.parquet" if others else ""
    row("   labels", flow.labels, f"by {by}{beside}" if by else "")
    lost = _reasons(flow.items_left_out)
    row("   items", flow.items, f"left out: {lost}" if lost else "", strong=True)
    return table


def _splits(summary: Summary, canvas: Canvas) -> Table:
    table = canvas.table(["split", "patients", "studies", "items", "share", "seen in train"])
    total = sum(split.items for split in summary.splits)
    for split in summary.splits:
        seen = "" if split.name == "train" else percent(split.seen, split.items)
        table.add_row(
            split.name,
            count(split.patients),
            count(split.studies),
            count(split.items),
            percent(split.items, total),
            seen,
        )
    return table


def _items(summary: Summary, canvas: Canvas) -> Table:
    names = [split.name for split in summary.splits]
    room = canvas.inner >= 100
    table = canvas.table(["abnormality", *names, "total", "share"])
    if room:
        table.add_column("", justify="left", no_wrap=True)
    totals = {row.abnormality: sum(row.items.values()) for row in summary.abnormalities}
    everything = sum(totals.values())
    most = max(totals.values(), default=0)
    for row in summary.abnormalities:
        total = totals[row.abnormality]
        cells = [count(row.items.get(name, 0)) for name in names]
        bar = [Text("█" * round(20 * total / most) if most else "", "cyan")] if room else []
        table.add_row(
            visible(row.abnormality), *cells, count(total), percent(total, everything), *bar
        )
    sums = [sum(row.items.get(name, 0) for row in summary.abnormalities) for name in names]
    table.add_section()
    end = [""] if room else []
    table.add_row("all", *map(count, sums), count(everything), percent(1.0), *end, style="bold")
    return table


def _levels(summary: Summary, canvas: Canvas) -> Table:
    table = canvas.table(["abnormality", *(f"{_SHORT[level]}\n{level}" for level in LEVELS)])
    marked = _two_valued(summary)
    rows = [[row.levels[level] for level in LEVELS] for row in summary.abnormalities]
    sums = [sum(column) for column in zip(*rows, strict=True)]
    names = [row.abnormality + "*" * (row.abnormality in marked) for row in summary.abnormalities]
    longest = max(map(len, names))
    *cells, totals = fitting_counts([*rows, sums], 6, canvas.inner - longest)
    for name, row, written in zip(names, summary.abnormalities, cells, strict=True):
        conflict = Text(written[0], style="red" if row.levels[-50] else "")
        table.add_row(visible(name), conflict, *written[1:])
    table.add_section()
    table.add_row("all", *totals, style="bold")
    return table


def _two_valued(summary: Summary) -> set[str]:
    return {row.abnormality for row in summary.abnormalities} & set(summary.two_valued)


def _rejected(summary: Summary) -> str:
    """Why these are more rows than the flow has rejected records."""
    rows, records = sum(summary.rejects.values()), summary.flow.rejected
    if records is None or rows <= records:
        return ""
    return f"{records:,} rejected records, {rows - records:,} single labels of kept studies"


def _coverage(summary: Summary, canvas: Canvas) -> Table:
    shown = ["studies", "covered", "lexicon", "grammar", "inferred", "hedged", "prosth."]
    table = canvas.table(["abnormality", *shown])
    for row in summary.abnormalities:
        table.add_row(visible(row.abnormality), *_coverage_cells(row))
    return table


def _coverage_cells(row: AbnormalityRow) -> list[str]:
    return [
        count(row.studies),
        percent(row.coverage),
        percent(row.methods.get("lexicon", 0), row.studies),
        percent(row.methods.get("grammar", 0), row.studies),
        percent(row.inferred, row.studies),
        count(row.hedged),
        count(row.prosthesis),
    ]


def _tally(tally: Mapping[str, int], canvas: Canvas) -> Table:
    table = canvas.table(["", "count", "share"])
    total = sum(tally.values())
    for name, n in tally.items():
        table.add_row(visible(name), count(n), percent(n, total))
    return table


def _discord(summary: Summary, canvas: Canvas, cases: int) -> list[RenderableType]:
    if not summary.discord:
        return [
            Text("no number of a known measurement stands in a labelled statement", style="dim")
        ]
    table = canvas.table(["measurement", "stated", "discord", "share", "same sentence"])
    for row in summary.discord:
        table.add_row(
            f"{row.measurement} / {row.abnormality}",
            count(row.stated),
            count(row.discord),
            percent(row.discord, row.stated),
            count(row.same_statement),
        )
    parts: list[RenderableType] = [table]
    by_measurement: dict[str, list[DiscordCase]] = {}
    for case in summary.discord_cases:
        by_measurement.setdefault(case.measurement, []).append(case)
    for measurement, found in by_measurement.items():
        listed = ", ".join(f"{visible(one.study_id)} ({one.level})" for one in found[:cases])
        more = f" and {len(found) - cases:,} more (--json lists all)" if len(found) > cases else ""
        text = Text().append(f"{measurement}: study (label) ", style="dim")
        parts.append(text.append(listed).append(more, style="dim"))
    return parts
