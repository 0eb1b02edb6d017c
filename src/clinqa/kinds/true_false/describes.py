"""A folder of statement pairs in numbers: the funnel, rejects, topics and modes by document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clinqa.core.records import SPLITS
from clinqa.core.wording import many
from clinqa.kinds.facets.describes import (
    BarPicture,
    BarRow,
    Describes,
    Description,
    FlowStep,
    Holding,
    Listed,
    Steps,
    Titled,
    Worded,
    added_up,
    basics,
    most_first,
    percent,
    tallied,
    tally_of,
    under,
)

__all__ = ["DESCRIBES", "funnel_picture", "summarise_pairs"]

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
_NAMED = 3
Rows = Sequence[Mapping[str, Any]]


def _describe(held: Holding, examples: int, _: Path | None) -> Description:
    """The whole; with examples, as many places a reason are quoted from the pages."""
    values = summarise_pairs(held, examples)
    return Description(values, [*_pieces(held, values)], lambda: funnel_picture(values))


def summarise_pairs(held: Holding, examples: int = 0) -> dict[str, Any]:
    """Everything `show` says of a dataset of statement pairs, by name."""
    manifest = held.manifest
    columns = ["group", "category", "source_id", "pair_id"]
    items = {split: held.items(split, columns).to_pylist() for split in SPLITS}
    # of statements from banks there are no pages
    pages, documents, rejects = (
        table.to_pylist() if table is not None else []
        for name in ("pages", "documents", "rejects")
        for table in [held.table(f"{name}.parquet")]
    )
    details = manifest.details
    topics = details.get("topics")
    names = topics if isinstance(topics, dict) else {}
    rows = [row for own in items.values() for row in own]
    values, _ = basics(held)
    return values | {
        "generator": str(manifest.configuration.get("generator", "")),
        "funnel": dict(details.get("funnel", {})),
        "sums": {stage: counts.sum for stage, counts in manifest.counts.items()},
        "splits": {
            split: {
                "groups": len({row["group"] for row in own}),
                "pairs": len({row["pair_id"] for row in own}),
                "items": len(own),
            }
            for split, own in items.items()
        },
        "topics": _pairs_by_topic(rows, names),
        "edits": dict(details.get("edits", {})),
        "denials": dict(details.get("denials", {})),
        "probe": dict(details.get("probe", {})),
        "across": float(details.get("across_splits", 0.0)),
        "documents": _documents(documents, pages, rows, names),
        "rejects": _rejects(rejects, pages, examples),
    }


def _pairs_by_topic(rows: Rows, names: Mapping[str, str]) -> dict[str, int]:
    pairs = {row["pair_id"]: row["category"] for row in rows}
    return dict(Counter(names.get(value, value) for value in pairs.values()).most_common())


def _documents(
    documents: Rows, pages: Rows, rows: Rows, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Each document with its pages by mode and its pairs by topic; names are for the screen."""
    modes: dict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        modes[page["md5"]][page["mode"]] += 1
    own: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        own[row["source_id"]].append(row)
    made = []
    for one in documents:
        topics = _pairs_by_topic(own[one["md5"]], names)
        told = {key: one[key] for key in ("md5", "name", "outcome", "pages")}
        counted = {"modes": dict(modes[one["md5"]]), "pairs": sum(topics.values())}
        made.append({**told, **counted, "topics": topics})
    return sorted(made, key=lambda row: (-row["pairs"], row["md5"], row["name"]))


def _rejects(rejects: Rows, pages: Rows, examples: int) -> list[dict[str, Any]]:
    """Each reason of a stage: how often, and where a few of them stand."""
    texts = {(row["md5"], row["page"]): row["text"] for row in pages} if examples else {}
    by_reason: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rejects:
        by_reason[row["stage"], row["reason"]].append(row)
    made = [
        {
            "stage": stage,
            "reason": reason,
            "count": len(rows),
            "examples": [_example(row, texts) for row in rows[: examples or _NAMED]],
        }
        for (stage, reason), rows in by_reason.items()
    ]
    return sorted(made, key=lambda row: (-row["count"], row["stage"], row["reason"]))


def _example(row: Mapping[str, Any], texts: Mapping[tuple[object, object], str]) -> str:
    """Where it stands; with texts also the beginning of what stands there."""
    place = str(row["source_id"])[:8]
    if row["page"] is not None:
        place += f" p.{row['page']}"
    start = row["row"]
    text = texts.get((row["source_id"], row["page"]))
    if text and isinstance(start, int):
        return f"{place}: {' '.join(text[start : start + 160].split())}"
    return f"{place} ({row['detail']})" if row["detail"] and texts else place


def _pieces(held: Holding, values: Mapping[str, Any]) -> Iterator[Titled | Worded | Listed | Steps]:
    yield basics(held, f"generator {values['generator']}")[1]
    funnel = [(name, n) for name, n in values["funnel"].items() if name in STEPS]
    if funnel:  # a bank's questions go through none
        yield from under(
            "Funnel",
            Steps(
                [FlowStep(STEPS[name], n, bar=None if name == "pages" else n) for name, n in funnel]
            ),
        )
    yield added_up(values["reconciles"])
    total = sum(split["items"] for split in values["splits"].values())
    yield from under(
        "Splits",
        Listed(
            ("split", "groups", "pairs", "items", "share"),
            [
                (name, *own.values(), percent(own["items"], total))
                for name, own in values["splits"].items()
            ],
        ),
    )
    yield Worded.dim(f"highest similarity of source texts across splits: {values['across']:.2f}")
    yield Titled("Shortcut probe")
    yield from _probe(values["probe"], values["denials"])
    yield from under("Pairs by topic", tally_of(most_first(values["topics"]), "pairs"))
    yield from tallied("Pairs by edit", most_first(values["edits"]), "pairs")
    if values["documents"]:
        yield from under(
            "Documents: pages by mode, pairs",
            Listed(
                ("document", "outcome", "pages", *_MODES, "pairs"),
                [
                    (
                        *(f"{row['md5'][:8]} {row['name']}", row["outcome"], row["pages"]),
                        *(row["modes"].get(mode, 0) for mode in _MODES),
                        row["pairs"],
                    )
                    for row in values["documents"]
                ],
            ),
        )
    if values["rejects"]:
        yield from under(
            "Rejects by stage and reason",
            Listed(
                ("stage: reason", "count", "for instance"),
                [
                    (f"{row['stage']}: {row['reason']}", row["count"], tuple(row["examples"]))
                    for row in values["rejects"]
                ],
                prose=True,
            ),
        )


def _probe(found: Mapping[str, Any], denials: Mapping[str, float]) -> Iterator[Worded]:
    value = found.get("accuracy")
    if not isinstance(value, float):
        yield Worded.dim("not run: too few pairs")
        return
    told = f"labels told from the wording alone: accuracy {value:.3f} ({found['low']:.3f} to "
    told += f"{found['high']:.3f}; {found['clusters']:,} pairs)"
    yield Worded(((told, ""), ("; chance is 0.5", "dim")))
    shares = (percent(denials.get(one)) for one in ("true", "false"))
    yield Worded((("statements that deny: {} of True, {} of False".format(*shares), ""),))


def funnel_picture(values: Mapping[str, Any]) -> BarPicture:
    """The funnel from pages to pairs: what each step leaves; of a bank's pairs their topics."""
    pages = values["funnel"].get("pages")
    rows, before = [], 0
    for name, n in values["funnel"].items():
        if name in STEPS and name != "pages":
            lost = f"  −{before - n:,}" if before > n else ""
            rows.append(BarRow(STEPS[name], (("", n),), f"{n:,}{lost}"))
            before = n
    if not rows:  # of a bank's questions, which go through no steps
        rows = [BarRow(topic, (("", n),), f"{n:,}") for topic, n in values["topics"].items()]
        return BarPicture("Pairs by topic", rows)
    title = (
        "What each step leaves"
        if not pages
        else f"From {many(pages, 'page')} to {many(before, 'pair')}"
    )
    return BarPicture(title, rows)


DESCRIBES = Describes(_describe, quotes="text of documents")
