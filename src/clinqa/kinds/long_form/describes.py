"""A dataset of reports told: EchoQA's Figure 1 as a flow, Table 2, levels, coverage, discord."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.origin import made_up
from clinqa.core.records import is_private
from clinqa.core.visible import visible
from clinqa.kinds.facets.describes import (
    BarRow,
    Cell,
    Describes,
    Description,
    FlowPicture,
    FlowStep,
    Holding,
    Listed,
    Steps,
    Titled,
    Worded,
    percent,
    tallied,
    tally_of,
    under,
)
from clinqa.kinds.long_form.discord import DiscordTable, discord_examples, load_discord
from clinqa.kinds.long_form.levels import LEVEL_STYLES, LEVELS, plain_name
from clinqa.kinds.long_form.moves import changed, compare
from clinqa.kinds.long_form.summary import Values, reconciles, summarise

__all__ = ["DESCRIBES", "moved_pieces", "summary_picture", "summary_pieces"]

Pieces = Iterator[Titled | Worded | Listed | Steps]

_SHORT = {style.level: style.short for style in LEVEL_STYLES}
_LEGEND = (
    "-50 contradictory, -3 inadequate, -2 abnormal without degree, -1 low, "
    "0 normal or absent, 1 mild, 2 moderate, 3 severe"
)


def _describe(held: Holding, examples: int, pack_dir: Path | None) -> Description:
    pack = _pack_of(held.manifest, pack_dir)
    table = _discord_table(pack)
    summary = summarise(held, table)
    quoted = [*_quoted(held, table, examples)] if examples and table is not None else []
    return Description(
        summary,
        [*summary_pieces(summary)],
        lambda: summary_picture(summary, _names(pack)),
        quoted,
    )


def _compare(held: Holding, other: Holding) -> Description:
    moves, rows = compare(held, other)
    header = ("study_id", "abnormality", "before", "after")
    return Description(moves, [*moved_pieces(moves)], moved=(header, rows.iter_rows()))


def _pack_of(manifest: Manifest, pack_dir: Path | None) -> Path | None:
    """The folder of a dataset's pack: the one given, or ours of the name in the manifest."""
    from clinqa.packs.loader import pack_folder

    if pack_dir is not None:
        return pack_dir
    name = manifest.told("pack")
    # the name is a word of the manifest: it may choose a pack of ours, and no other file
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        return None
    try:
        return pack_folder(name)
    except ConfigError:  # built with a pack of somebody else's
        return None


def _discord_table(pack: Path | None) -> DiscordTable | None:
    """The table of the pack a dataset was built with; None where it has none."""
    path = pack / "discord.yaml" if pack else None
    return load_discord(path) if path and path.is_file() else None


def _names(pack: Path | None) -> dict[str, str]:
    """What the pack calls its abnormalities, for a picture."""
    from clinqa.packs.loader import load_pack

    if pack is None:
        return {}
    return {key: spec.name for key, spec in load_pack(pack).abnormalities.items()}


def _quoted(held: Holding, table: DiscordTable, limit: int) -> Iterator[str]:
    """Statements in discord, under a banner where the reports are private."""
    data_class = held.data_class
    yield ""
    if is_private(data_class):
        yield "=" * 72
        yield f"What follows is text of {data_class.value} reports. Keep it where the reports"
        yield "may be: do not paste, publish or send it."
        yield "=" * 72
    yield "Statements in discord"
    for study, measurement, level, text in discord_examples(held, table, limit):
        told = visible(" ".join(part.strip() for part in text.splitlines() if part.strip()))
        yield f"  {visible(study)}  {visible(measurement)}, labelled {level}: {told}"


def summary_pieces(summary: Values, cases: int = 10) -> Pieces:
    """All that is said of a summary; at most `cases` study ids a measurement in discord."""
    said = [f"data class {summary['data_class']}" if summary["data_class"] else ""]
    said += [made_up(summary.get("origin", "")).lower()]
    said += [f"profile {summary['profile']}" if summary["profile"] else ""]
    about = ", ".join(word for word in said if word)
    yield Worded(((summary["folder"], "bold"), (f"  {about}" if about else "", "")))
    yield from under("Flow", Steps([*_flow(summary)]))
    yield from under("Splits", _splits(summary))
    if summary["abnormalities"]:
        yield from under("Items by abnormality and split", _items(summary))
        yield from under("Studies by abnormality and level", _levels(summary))
        yield Worded.dim(_LEGEND)
        if _two_valued(summary):
            yield Worded.dim("* has no degrees: 1 means present")
        yield from under(
            "Coverage and method",
            Listed(
                (
                    *("abnormality", "studies", "covered", "lexicon", "grammar", "inferred"),
                    *("hedged", "prosth."),
                ),
                [_coverage(row) for row in summary["abnormalities"]],
            ),
        )
    if len(summary["question_types"]) > 1:
        yield from tallied("Items by kind of question", summary["question_types"])
    if len(summary["phases"]) > 1:
        yield from tallied("Labels by phase", summary["phases"])
    if summary["rejects"]:
        yield from under(
            "Rejects by stage and reason", tally_of(summary["rejects"]), _rejected(summary)
        )
    yield Titled("Numbers against words")
    yield from _discord(summary, cases)


def _reasons(reasons: Mapping[str, int]) -> str:
    return " · ".join(f"{visible(name)} {n:,}" for name, n in reasons.items() if n)


def _flow(summary: Values) -> Iterator[FlowStep]:
    flow = summary["flow"]
    yield FlowStep("notes read", flow["read"], strong=True)
    yield FlowStep(
        "├─ out of scope", flow["out_of_scope"], _reasons(flow["out_of_scope_by_reason"])
    )
    same = "same study, same text" if flow["duplicates"] else ""
    yield FlowStep("├─ duplicates", flow["duplicates"], same)
    yield FlowStep("├─ rejected", flow["rejected"], _reasons(flow["rejected_by_reason"]))
    sums = {True: "the parts add up", False: "THE PARTS DO NOT ADD UP", None: ""}
    yield FlowStep("└─ studies kept", flow["kept"], sums[reconciles(flow)], strong=True)
    read_by = _by(summary["statement_methods"], flow["occurrences"])
    distinct = f"{flow['statements']:,} distinct; decided by {read_by}"
    yield FlowStep("   statements", flow["occurrences"], distinct)
    by = _by(summary["methods"], flow["labels"])
    others = {name: n for name, n in summary["phases"].items() if name != "baseline"}
    beside = f"; beside them {_reasons(others)} in labels.parquet" if others else ""
    yield FlowStep("   labels", flow["labels"], f"by {by}{beside}" if by else "")
    lost = _reasons(flow["items_left_out"])
    yield FlowStep("   items", flow["items"], f"left out: {lost}" if lost else "", strong=True)


def _by(methods: Mapping[str, int], whole: int) -> str:
    return ", ".join(f"{name} {percent(n, whole)}" for name, n in methods.items())


def _splits(summary: Values) -> Listed:
    total = sum(split["items"] for split in summary["splits"])
    rows = []
    for one in summary["splits"]:
        seen = "" if one["name"] == "train" else percent(one["seen"], one["items"])
        share = percent(one["items"], total)
        rows.append((one["name"], one["patients"], one["studies"], one["items"], share, seen))
    return Listed(("split", "patients", "studies", "items", "share", "seen in train"), rows)


def _items(summary: Values) -> Listed:
    names = [split["name"] for split in summary["splits"]]
    totals = [sum(row["items"].values()) for row in summary["abnormalities"]]
    everything = sum(totals)
    rows: list[tuple[Cell, ...]] = []
    for row, total in zip(summary["abnormalities"], totals, strict=True):
        counts = (row["items"].get(name, 0) for name in names)
        rows.append((row["abnormality"], *counts, total, percent(total, everything)))
    sums = [sum(row["items"].get(name, 0) for row in summary["abnormalities"]) for name in names]
    return Listed(
        ("abnormality", *names, "total", "share"),
        rows,
        total=("all", *sums, everything, percent(1.0)),
        bars=totals,
        wide=True,
    )


def _levels(summary: Values) -> Listed:
    marked = _two_valued(summary)
    rows = [[row["levels"][level] for level in LEVELS] for row in summary["abnormalities"]]
    names = [
        row["abnormality"] + "*" * (row["abnormality"] in marked)
        for row in summary["abnormalities"]
    ]
    return Listed(
        ("abnormality", *(f"{_SHORT[level]}\n{level}" for level in LEVELS)),
        [(name, *row) for name, row in zip(names, rows, strict=True)],
        total=("all", *(sum(column) for column in zip(*rows, strict=True))),
        fit=0,
        looks={(at, 1): "red" for at, row in enumerate(rows) if row[0]},
    )


def _two_valued(summary: Values) -> set[str]:
    return {row["abnormality"] for row in summary["abnormalities"]} & set(summary["two_valued"])


def _rejected(summary: Values) -> str:
    """Why these are more rows than the flow has rejected records."""
    rows, records = sum(summary["rejects"].values()), summary["flow"]["rejected"]
    if records is None or rows <= records:
        return ""
    return f"{records:,} rejected records, {rows - records:,} single labels of kept studies"


def _coverage(row: Values) -> tuple[Cell, ...]:
    read = (row["methods"].get("lexicon", 0), row["methods"].get("grammar", 0), row["inferred"])
    shares = (percent(n, row["studies"]) for n in read)
    covered = percent(row["coverage"])
    return (row["abnormality"], row["studies"], covered, *shares, row["hedged"], row["prosthesis"])


def _discord(summary: Values, cases: int) -> Pieces:
    if not summary["discord"]:
        yield Worded.dim("no number of a known measurement stands in a labelled statement")
        return
    yield Listed(
        ("measurement", "stated", "discord", "share", "same sentence"),
        [
            (
                *(f"{row['measurement']} / {row['abnormality']}", row["stated"], row["discord"]),
                *(percent(row["discord"], row["stated"]), row["same_statement"]),
            )
            for row in summary["discord"]
        ],
    )
    by_measurement: dict[str, list[Values]] = {}
    for case in summary["discord_cases"]:
        by_measurement.setdefault(case["measurement"], []).append(case)
    for measurement, found in by_measurement.items():
        listed = ", ".join(f"{one['study_id']} ({one['level']})" for one in found[:cases])
        more = f" and {len(found) - cases:,} more (--json lists all)" if len(found) > cases else ""
        yield Worded(((f"{measurement}: study (label) ", "dim"), (listed, ""), (more, "dim")))


def moved_pieces(moves: Values) -> Pieces:
    """Two builds side by side: the studies, a line an abnormality, a matrix of each that moved."""
    sides = (("A", moves["a"], moves["profile_a"]), ("B", moves["b"], moves["profile_b"]))
    for mark, folder, profile in sides:
        about = f"  profile {profile}" if profile else ""
        yield Worded(((f"{mark}  ", "bold"), (folder, ""), (about, "dim")))
    yield Titled("Studies")
    found = (
        ("in both", moves["shared"]),
        ("in A only", moves["only_a"]),
        ("in B only", moves["only_b"]),
    )
    yield Steps([FlowStep(name, n) for name, n in found])
    rows = moves["abnormalities"]
    if rows:
        yield Titled("Labels")
        counted = ("same", "moved", "added", "removed")
        yield Listed(
            ("abnormality", *counted, "agree", "κ", "κ both"),
            [_change(row) for row in rows],
            total=("all", *(sum(r[name] for r in rows) for name in counted), "", "", ""),
            looks={(at, -1): "dim" for at, row in enumerate(rows) if not changed(row)},
        )
        yield Worded.dim(
            "κ: Cohen's kappa over the shared studies, no label being a level of its own; "
            "κ both: over the studies that both builds label. – where it is undefined"
        )
    for row in rows:
        if changed(row):
            yield from under(
                row["abnormality"], _matrix(row), "A down, B across; the diagonal did not move"
            )
    if not moves["changed"]:
        yield Worded((("", ""),))
        yield Worded((("no label differs", ""),))


def _change(row: Values) -> tuple[Cell, ...]:
    kappas = ("–" if k is None else f"{k:.3f}" for k in (row["kappa"], row["kappa_labelled"]))
    counts = (row["same"], row["moved"], row["added"], row["removed"])
    return (row["abnormality"], *counts, percent(row["agreement"]), *kappas)


def _matrix(row: Values) -> Listed:
    cells = {(before, after): n for before, after, n in row["matrix"]}
    used = {level for pair in cells for level in pair}
    levels = [level for level in (*LEVELS, None) if level in used]
    names = ["none" if level is None else f"{_SHORT[level]} {level}" for level in levels]
    return Listed(
        ("A \\ B", *(name.replace(" ", "\n") for name in names)),
        [
            (name, *(cells.get((before, after), 0) for after in levels))
            for name, before in zip(names, levels, strict=True)
        ],
        fit=10,
        looks={(at, at + 1): "dim" for at in range(len(levels))},
    )


def summary_picture(summary: Values, names: Mapping[str, str]) -> FlowPicture:
    """How it came about, and the share of studies at each level; `names` are the pack's.

    The blank rest of a bar is studies that do not mention it, which is not "normal".
    """
    flow = summary["flow"]
    rows = sorted(summary["abnormalities"], key=lambda row: (row["studies"], row["abnormality"]))
    whole = flow["labels"] or 1
    by = ", ".join(f"{name} {n / whole:.0%}" for name, n in summary["methods"].items())
    looks = {str(style.level): style for style in LEVEL_STYLES}
    if _two_valued(summary):
        looks["1"] = replace(looks["1"], words=f"{looks['1'].words}, * present")
    return FlowPicture(
        title="From notes to items",
        steps=(
            ("Notes read", _many(flow["read"]), False),
            ("Studies kept", _many(flow["kept"]), True),
            ("Statements", f"{flow['occurrences']:,}\n{flow['statements']:,} distinct", False),
            ("Labels", f"{flow['labels']:,}\n{by}", False),
            ("Items", f"{flow['items']:,}", True),
        ),
        left_out=(
            (f"Out of scope: {_many(flow['out_of_scope'])}", _few(flow["out_of_scope_by_reason"])),
            (f"Duplicates: {_many(flow['duplicates'])}", ()),
            (f"Rejected: {_many(flow['rejected'])}", _few(flow["rejected_by_reason"])),
        ),
        splits=[
            (
                one["name"],
                (
                    f"{one['patients']:,} patients",
                    f"{one['studies']:,} studies",
                    f"{one['items']:,} items",
                ),
            )
            for one in summary["splits"]
        ],
        bars_title=f"Level by abnormality, share of {flow['kept']:,} studies"
        if flow["kept"]
        else "Level by abnormality",
        bars=[
            BarRow(
                (names.get(row["abnormality"]) or plain_name(row["abnormality"]))
                + "*" * (row["abnormality"] in summary["two_valued"]),
                tuple((str(s.level), row["levels"].get(s.level, 0)) for s in LEVEL_STYLES),
                f"{row['studies']:,}",
            )
            for row in rows
        ],
        whole=flow["kept"] or max((row["studies"] for row in rows), default=1) or 1,
        looks=looks,
        blank="not mentioned",
        noted="labelled",
        nothing="no labels",
    )


def _many(n: int | None) -> str:
    return "not stated" if n is None else f"{n:,}"


def _few(reasons: Mapping[str, int]) -> list[str]:
    shown = [f"{plain_name(name)} {n:,}" for name, n in list(reasons.items())[:2] if n]
    rest = sum(list(reasons.values())[2:])
    return [*shown, f"other {rest:,}"] if rest else shown


DESCRIBES = Describes(_describe, quotes="text of reports", compare=_compare)
