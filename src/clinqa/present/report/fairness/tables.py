"""The audit's tables: who was compared, gaps beside chance, more of each gap, scores of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.present.report.fairness.read import Audit, Gap, GroupScore
from clinqa.present.report.fairness.says import GAP, STANDARD, named
from clinqa.present.report.fairness.words import by_chance, signed, verdict
from clinqa.present.report.tables import Cell, Column, Row, Table
from clinqa.present.report.words import MISSING, count, decimals, interval, p_value

__all__ = ["audit_tables", "dimension_title", "group_title"]

_MORE = (
    "equality_difference_repeats", "max_min_gap", "ratio", "between_group_sd", STANDARD, "trend",
)  # fmt: skip
_UNITS = {
    "patient": "attribute of patients",
    "tract": "attribute of census tracts",
    "document": "attribute of documents",
}


def audit_tables(audit: Audit, labels: Mapping[str, str]) -> dict[str, Table]:
    """Every table by its id, in the page's order."""
    made: list[Table | None] = [_dimensions(audit)]
    for metric in audit.metrics:
        made += [_gaps(audit, metric, labels), _more(audit, metric, labels)]
        made += [_groups(audit, metric, labels), _front(audit, metric, labels)]
    return {table.id: table for table in made if table is not None}


def dimension_title(dimension: Mapping[str, Any]) -> str:
    """A dimension with the unit it was assigned to."""
    return f"{dimension['name']} ({_UNITS.get(str(dimension['unit']), '')})"


def group_title(group: Mapping[str, Any]) -> str:
    """A group with the values it holds."""
    return f"{group['name']}, {group['range']}" if group["range"] else str(group["name"])


def _id(kind: str, metric: str) -> str:
    return f"fairness-{kind}-{metric.replace('_', '-')}"


def _few(audit: Audit) -> str:
    return f"fewer than {audit.meta['settings']['min_patients']} {audit.who}: withheld"


def _dimensions(audit: Audit) -> Table:
    rows = []
    for one in audit.dimensions:
        title = dimension_title(one)
        for group in one["groups"]:
            size = group["patients"]
            cell = Cell(MISSING, reason=_few(audit)) if size is None else Cell(count(size))
            rows.append(Row(str(group["name"]), (Cell(group["range"] or MISSING), cell), title))
        few = one["missing"] is None
        missing = Cell(MISSING, reason=_few(audit)) if few else Cell(count(one["missing"]))
        rows.append(Row("missing", (Cell(MISSING), missing), title))
    notes = [f"{one['name']}: left out: {one['reason']}." for one in audit.meta["excluded"]]
    notes += [f"{one['name']}: {one['note']}." for one in audit.dimensions if one["note"]]
    over = str(audit.meta["settings"]["quantiles_over"])
    over = audit.who if over == "patients" else over
    return Table(
        "fairness-dimensions",
        f"Groups compared; continuous attributes are cut at quartiles over {over}",
        "Group",
        (Column("range", "Values", numeric=False), Column("patients", audit.who.capitalize())),
        tuple(rows),
        notes=tuple(notes),
    )


def _gaps(audit: Audit, metric: str, labels: Mapping[str, str]) -> Table:
    rows = []
    for one in audit.dimensions:
        for run in audit.runs:
            gap = audit.gap(run, one["name"], metric, GAP)
            if gap is None:
                continue
            said = verdict(gap.p, gap.p_max)
            cells = (
                _number(gap.value),
                _number(gap.expected),
                _signed(gap.excess),
                Cell(p_value(gap.p), value=gap.p),
                Cell(p_value(gap.p_max), value=gap.p_max),
                Cell(by_chance(gap.p).replace(" such samples", "").removeprefix("in ") or MISSING),
                Cell(said),
            )
            rows.append(Row(labels[run], cells, dimension_title(one)))
    settings = audit.meta["settings"]
    return Table(
        _id("gaps", metric),
        f"Gaps in {named(metric)} between groups, beside what chance alone gives",
        "Run",
        (
            Column("gap", "Gap", "mean distance of group scores from the whole"),
            Column("by_chance", "By chance", "mean gap when the attribute is permuted"),
            Column("excess", "Excess", "gap less what chance gives"),
            Column("p", "p", "of this gap by itself"),
            Column("p_max", "p, all", "over all dimensions and runs (max-T)"),
            Column("how_often", "How often", "chance gives a gap as large", numeric=False),
            Column("verdict", "Verdict", "at 0.05 over this table", numeric=False),
        ),
        tuple(rows),
        footnotes=_ways(audit, metric, (GAP,)),
        notes=(
            f"{settings['permutations']:,} permutations of each attribute among the units it was "
            f"assigned to; family: {settings['family']}.",
        ),
    )


def _more(audit: Audit, metric: str, labels: Mapping[str, str]) -> Table:
    rows = []
    for one in audit.dimensions:
        for run in audit.runs:
            name = one["name"]
            if audit.gap(run, name, metric, GAP) is None:
                continue

            def of(measure: str, run: str = run, name: str = name) -> Gap | None:
                return audit.gap(run, name, metric, measure)

            repeated, widest, ratio, sd = (
                of(m) for m in ("equality_difference_repeats", "max_min_gap", "ratio",
                                "between_group_sd")
            )  # fmt: skip
            cells = (
                _repeated(repeated),
                _number(widest.value if widest else None),
                _number(ratio.value if ratio else None),
                _worst(audit, run, name, metric),
                _number(sd.value if sd else None),
                _tested(of(STANDARD)),
                _trend(of("trend"), str(one["kind"])),
            )
            rows.append(Row(labels[run], cells, dimension_title(one)))
    return Table(
        _id("more", metric),
        f"More of the gaps in {named(metric)}",
        "Run",
        (
            Column("mean_of_gaps", "Mean of repeats' gaps", "± sd over repeats"),
            Column("max_min", "Highest less lowest"),
            Column("ratio", "Lowest / highest"),
            Column("worst", "Worst group", numeric=False),
            Column("sd_net", "SD between groups", "net of sampling noise"),
            Column("same_mix", "Gap, same mix", f"standardised over {audit.strata}"),
            Column("trend", "Per quarter", "change to the next quarter", figures=True),
        ),
        tuple(rows),
        notes=(
            "The mean of the repeats' gaps is what EchoQA's Table 4 shows. It is never below the "
            "gap of the mean, and the more so the noisier the answers; compare excesses, not gaps.",
        ),
        footnotes=_ways(audit, metric, _MORE),
    )


def _groups(audit: Audit, metric: str, labels: Mapping[str, str]) -> Table:
    rows = []
    for one in audit.dimensions:
        groups = [*one["groups"], {"name": "missing", "range": ""}]
        for group in groups:
            found = [audit.of_group(run, one["name"], metric, group["name"]) for run in audit.runs]
            if not any(found):
                continue
            sizes = [f.n for f in found if f is not None and f.value is not None]
            cells = [Cell(count(max(sizes)) if sizes else MISSING)]
            for run, figure in zip(audit.runs, found, strict=True):
                away = audit.of_group(run, one["name"], f"{metric}_deviation", group["name"])
                cells.append(_score(figure, away, _few(audit)))
            rows.append(Row(group_title(group), tuple(cells), dimension_title(one)))
    columns = [Column("items", "Answers")]
    columns += [Column(f"run_{n + 1}", labels[run], figures=True)
                for n, run in enumerate(audit.runs)]  # fmt: skip
    return Table(
        _id("groups", metric),
        f"{named(metric)} by group",
        "Group",
        tuple(columns),
        tuple(rows),
        notes=(
            "In brackets the 95 % interval of the score. After Δ: how far the group lies from all "
            "known groups together, with intervals that hold for all of a dimension at once.",
        ),
        footnotes=_lettered(
            dict.fromkeys(
                figure.signature
                for figure in audit.scores
                if figure.metric in (metric, f"{metric}_deviation") and figure.value is not None
            )
        ),
    )


def _front(audit: Audit, metric: str, labels: Mapping[str, str]) -> Table | None:
    points = [p for p in audit.meta["pareto"] if p["metric"] == metric]
    names = list(dict.fromkeys(str(p["dimension"]) for p in points))
    if len(audit.runs) < 2 or not names:
        return None
    wanted = names[-1]  # over all dimensions, where there are several
    rows = [
        Row(
            labels[str(p["run"])],
            (
                _number(float(p["performance"])),
                _signed(float(p["bias"])),
                Cell("yes" if p["front"] else "no"),
            ),
        )
        for p in points
        if p["dimension"] == wanted
    ]
    return Table(
        _id("front", metric),
        f"Performance against bias, {named(metric)}, {wanted}",
        "Run",
        (
            Column("performance", named(metric), "over everybody"),
            Column("bias", "Excess gap", "gap less what chance gives"),
            Column("front", "On the front", "no run is better on one and as good on the other",
                   numeric=False),
        ),
        tuple(rows),
        notes=(f"The front describes these runs on these {audit.who}; it tests nothing.",),
    )  # fmt: skip


def _number(value: float | None) -> Cell:
    if value is None:
        return Cell(MISSING, reason="no answer that it could be of")
    return Cell(decimals(value), value=value)


def _signed(value: float | None) -> Cell:
    return Cell(signed(value), value=value)


def _repeated(gap: Gap | None) -> Cell:
    if gap is None or gap.value is None:
        return Cell(MISSING, reason="no answer that it could be of")
    spread = f"± {decimals(gap.sd)}" if gap.sd is not None else "asked once"
    return Cell(decimals(gap.value), "", spread, value=gap.value)


def _tested(gap: Gap | None) -> Cell:
    if gap is None or gap.value is None:
        return Cell(MISSING, reason="no answer that it could be of")
    return Cell(decimals(gap.value), f"p, all {p_value(gap.p_max)}", value=gap.value)


def _trend(gap: Gap | None, kind: str) -> Cell:
    if gap is None or gap.value is None:
        return Cell(MISSING, reason="the groups stand in no order" if kind != "quartiles" else "")
    bounds = f"[{signed(gap.low)}, {signed(gap.high)}]" if gap.low is not None else ""
    text = f"{bounds} p, all {p_value(gap.p_max)}".strip()
    return Cell(signed(gap.value), text, value=gap.value, low=gap.low, high=gap.high)


def _worst(audit: Audit, run: str, dimension: str, metric: str) -> Cell:
    for one in audit.scores:
        if (one.run, one.dimension, one.metric) == (run, dimension, f"{metric}_worst_group"):
            return Cell(f"{one.group}: {decimals(one.value)}")
    return Cell(MISSING, reason="no answer that it could be of")


def _score(figure: GroupScore | None, away: GroupScore | None, few: str) -> Cell:
    if figure is None or figure.value is None:
        withheld = figure is not None and figure.n == 0
        return Cell(MISSING, reason=few if withheld else "no answer that it could be of")
    delta = ""
    if away is not None and away.value is not None:
        delta = f"Δ {signed(away.value)} [{signed(away.low)}, {signed(away.high)}]"
    return Cell(
        decimals(figure.value), interval(figure.low, figure.high), delta,
        value=figure.value, low=figure.low, high=figure.high,
    )  # fmt: skip


def _ways(audit: Audit, metric: str, measures: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """How these measures of a metric were made."""
    found = dict.fromkeys(
        gap.signature
        for measure in measures
        for gap in audit.gaps
        if (gap.metric, gap.measure) == (metric, measure) and gap.value is not None
    )
    return _lettered(found)


def _lettered(found: Mapping[str, None]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (chr(ord("a") + at) if at < 26 else str(at + 1), text) for at, text in enumerate(found)
    )
