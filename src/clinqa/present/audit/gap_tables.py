"""The audit's tables: who was compared, gaps beside chance, more of each gap, scores of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clinqa.core.figures import Figure
from clinqa.core.wording import MISSING, count, decimals, p_value, signed
from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow, bracketed
from clinqa.present.audit.read import GAP, Audit, AuditedMetric, AuditGap
from clinqa.present.audit.says import STANDARD, by_chance
from clinqa.stats.verdicts import gap_verdict

__all__ = [
    "MISSING_GROUP",
    "dimensions",
    "front",
    "front_points",
    "gaps",
    "group_title",
    "groups",
    "more_of_gaps",
]

_MORE = (
    "equality_difference_repeats", "max_min_gap", "ratio", "between_group_sd", STANDARD, "trend",
)  # fmt: skip
_UNITS = {
    "patient": "attribute of patients",
    "tract": "attribute of census tracts",
    "document": "attribute of documents",
}
MISSING_GROUP: Mapping[str, Any] = {"name": "missing", "range": ""}


def _dimension_title(dimension: Mapping[str, Any]) -> str:
    """A dimension with the unit it was assigned to."""
    return f"{dimension['name']} ({_UNITS.get(str(dimension['unit']), '')})"


def group_title(group: Mapping[str, Any]) -> str:
    """A group with the values it holds."""
    return f"{group['name']}, {group['range']}" if group["range"] else str(group["name"])


def _few(audit: Audit) -> str:
    return f"fewer than {audit.meta['settings']['min_patients']} {audit.who}: withheld"


def _size(n: int | None, audit: Audit) -> GridCell:
    return GridCell(MISSING, reason=_few(audit)) if n is None else GridCell(count(n))


def dimensions(audit: Audit) -> Grid:
    rows = []
    for one in audit.dimensions:
        title = _dimension_title(one)
        for group in one["groups"]:
            cells = GridCell(group["range"] or MISSING), _size(group["patients"], audit)
            rows.append(GridRow(str(group["name"]), cells, title))
        stands = GridCell(_stands(one) or MISSING)
        rows.append(GridRow("missing", (stands, _size(one["missing"], audit)), title))
    notes = [f"{one['name']}: left out: {one['reason']}." for one in audit.meta["excluded"]]
    notes += [f"{one['name']}: {one['note']}." for one in audit.dimensions if one["note"]]
    over = str(audit.meta["settings"]["quantiles_over"])
    over = audit.who if over == "patients" else over
    return Grid(
        "fairness-dimensions",
        f"Groups compared; continuous attributes are cut at quartiles over {over}",
        "Group",
        (
            GridColumn("range", "Values", numeric=False),
            GridColumn("patients", audit.who.capitalize()),
        ),
        tuple(rows),
        notes=tuple(notes),
    )


def _stands(dimension: Mapping[str, Any]) -> str:
    """What stands in the table for those of whom nothing is known, with how many patients."""
    told = dimension.get("unknown") or ()
    return "; ".join(
        f"{one['stands']}: {'few' if one['withheld'] else count(one['patients'])}" for one in told
    )


def gaps(of: AuditedMetric) -> Grid:
    """Each gap beside what chance alone gives."""
    rows = []
    for one, run, gap in _with_gaps(of):
        often = by_chance(gap.p).replace(" such samples", "").removeprefix("in ")
        cells = (
            _number(gap.value),
            _number(gap.expected),
            GridCell(signed(gap.excess), value=gap.excess),
            GridCell(p_value(gap.p), value=gap.p),
            GridCell(p_value(gap.p_max), value=gap.p_max),
            GridCell(often or MISSING),
            GridCell(gap_verdict(gap.p, gap.p_max)),
        )
        rows.append(GridRow(of.labels[run], cells, _dimension_title(one)))
    settings = of.audit.meta["settings"]
    return Grid(
        f"fairness-gaps-{of.key}",
        f"Gaps in {of.name} between groups, beside what chance alone gives",
        "Run",
        (
            GridColumn("gap", "Gap", "mean distance of group scores from the whole"),
            GridColumn("by_chance", "By chance", "mean gap when the attribute is permuted"),
            GridColumn("excess", "Excess", "gap less what chance gives"),
            GridColumn("p", "p", "of this gap by itself"),
            GridColumn("p_max", "p, all", "over all dimensions and runs (max-T)"),
            GridColumn("how_often", "How often", "chance gives a gap as large", numeric=False),
            GridColumn("verdict", "Verdict", "at 0.05 over this table", numeric=False),
        ),
        tuple(rows),
        (
            f"{settings['permutations']:,} permutations of each attribute among the units it was "
            f"assigned to; family: {settings['family']}.",
        ),
        _ways(of, (GAP,)),
        meanings=True,
    )


def _with_gaps(of: AuditedMetric) -> Iterator[tuple[Mapping[str, Any], str, AuditGap]]:
    for one in of.audit.dimensions:
        for run in of.audit.runs:
            gap = of.gap(run, one)
            if gap is not None:
                yield one, run, gap


def more_of_gaps(of: AuditedMetric) -> Grid:
    """What else is known of each gap."""
    rows = []
    for one, run, gap in _with_gaps(of):
        repeated, widest, ratio, sd, same, trend = (of.gap(run, one, m) for m in _MORE)
        spread = "asked once"
        if repeated is not None and repeated.sd is not None:
            spread = f"± {decimals(repeated.sd)}"
        worst = of.audit.worst(gap)
        cells = (
            _value(repeated, spread=spread),
            _value(widest),
            _value(ratio),
            GridCell(f"{worst.subset['group']}: {decimals(worst.value)}")
            if worst
            else _number(None),
            _value(sd)
            if sd is not None and sd.value is not None
            else GridCell(
                MISSING, reason="a group is a single unit: how noisy its score is, is not known"
            ),
            _value(same, f"p, all {p_value(same.p_max)}" if same else ""),
            _trend(trend, str(one["kind"])),
        )
        rows.append(GridRow(of.labels[run], cells, _dimension_title(one)))
    return Grid(
        f"fairness-more-{of.key}",
        f"More of the gaps in {of.name}",
        "Run",
        (
            GridColumn("mean_of_gaps", "Mean of repeats' gaps", "± sd over repeats"),
            GridColumn("max_min", "Highest less lowest"),
            GridColumn("ratio", "Lowest / highest"),
            GridColumn("worst", "Worst group", numeric=False),
            GridColumn("sd_net", "SD between groups", "net of sampling noise"),
            GridColumn("same_mix", "Gap, same mix", f"standardised over {of.audit.strata}"),
            GridColumn("trend", "Per quarter", "change to the next quarter", figures=True),
        ),
        tuple(rows),
        (
            "The mean of the repeats' gaps is what EchoQA's Table 4 shows. It is never below the "
            "gap of the mean, and the more so the noisier the answers; compare excesses, not gaps.",
        ),
        _ways(of, _MORE),
        meanings=True,
    )


def groups(of: AuditedMetric) -> Grid:
    """The score of each group in each run."""
    audit, deviation = of.audit, f"{of.metric}_deviation"
    rows = []
    for one in audit.dimensions:
        for group in [*one["groups"], MISSING_GROUP]:
            which = one["name"], of.metric, group["name"]
            found = [audit.of_group(run, *which) for run in audit.runs]
            if not any(found):
                continue
            sizes = [f.n for f in found if f is not None and f.value is not None]
            cells = [GridCell(count(max(sizes)) if sizes else MISSING)]
            for run, figure in zip(audit.runs, found, strict=True):
                away = audit.of_group(run, one["name"], deviation, group["name"])
                cells.append(_score(figure, away, _few(audit)))
            rows.append(GridRow(group_title(group), tuple(cells), _dimension_title(one)))
    columns = [GridColumn("items", "Answers")]
    columns += [GridColumn(f"run_{n}", of.labels[run], figures=True)
                for n, run in enumerate(audit.runs, 1)]  # fmt: skip
    ways = [
        figure.signature
        for figure in audit.scores
        if figure.metric in (of.metric, deviation) and figure.value is not None
    ]
    return Grid(
        f"fairness-groups-{of.key}",
        f"{of.name} by group",
        "Group",
        tuple(columns),
        tuple(rows),
        (
            "In brackets the 95 % interval of the score. After Δ: how far the group lies from all "
            "known groups together, with intervals that hold for all of a dimension at once.",
        ),
        _lettered(ways),
    )


def front(of: AuditedMetric) -> Grid | None:
    """Performance against bias."""
    wanted, points = front_points(of)
    rows = [
        GridRow(
            of.labels[str(p["run"])],
            (
                _number(float(p["performance"])),
                GridCell(signed(float(p["bias"])), value=float(p["bias"])),
                GridCell("yes" if p["front"] else "no"),
            ),
        )
        for p in points
    ]
    return Grid(
        f"fairness-front-{of.key}",
        f"Performance against bias, {of.name}, {wanted}",
        "Run",
        (
            GridColumn("performance", of.name, "over everybody"),
            GridColumn("bias", "Excess gap", "gap less what chance gives"),
            GridColumn("front", "On the front", "no run is better on one and as good on the other",
                       numeric=False),
        ),
        tuple(rows),
        (f"The front describes these runs on these {of.audit.who}; it tests nothing.",),
        meanings=True,
    ) if rows else None  # fmt: skip


def front_points(of: AuditedMetric) -> tuple[str, list[Mapping[str, Any]]]:
    """The dimension of the front (over all of them, where there are several) and its runs."""
    points = [p for p in of.audit.meta["pareto"] if p["metric"] == of.metric]
    if len(of.audit.runs) < 2 or not points:
        return "", []
    wanted = list(dict.fromkeys(str(p["dimension"]) for p in points))[-1]
    return wanted, [p for p in points if p["dimension"] == wanted]


def _number(value: float | None, interval: str = "", spread: str = "") -> GridCell:
    if value is None:
        return GridCell(MISSING, reason="no answer that it could be of")
    return GridCell(decimals(value), interval, spread, value=value)


def _value(gap: AuditGap | None, interval: str = "", spread: str = "") -> GridCell:
    return _number(gap.value if gap else None, interval, spread)


def _trend(gap: AuditGap | None, kind: str) -> GridCell:
    if gap is None or gap.value is None:
        return GridCell(
            MISSING, reason="the groups stand in no order" if kind != "quartiles" else ""
        )
    bounds = f"[{signed(gap.low)}, {signed(gap.high)}]" if gap.low is not None else ""
    text = f"{bounds} p, all {p_value(gap.p_max)}".strip()
    return GridCell(signed(gap.value), text, value=gap.value, low=gap.low, high=gap.high)


def _score(figure: Figure | None, away: Figure | None, few: str) -> GridCell:
    if figure is None or figure.value is None:
        withheld = figure is not None and figure.n == 0
        return GridCell(MISSING, reason=few if withheld else "no answer that it could be of")
    delta = ""
    if away is not None and away.value is not None:
        delta = f"Δ {signed(away.value)} [{signed(away.low)}, {signed(away.high)}]"
    # the interval of the score before what is said of the group beside the others
    own = bracketed(figure)
    return replace(own, interval=delta, spread=own.interval) if delta else own


def _ways(of: AuditedMetric, measures: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """How these measures of a metric were made."""
    return _lettered(
        gap.signature
        for measure in measures
        for gap in of.audit.gaps
        if (gap.metric, gap.measure) == (of.metric, measure) and gap.value is not None
    )


def _lettered(found: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (chr(ord("a") + at) if at < 26 else str(at + 1), text)
        for at, text in enumerate(dict.fromkeys(found))
    )
