"""Whether a dataset of statement pairs is what it claims: pairs, texts, counts, the probe."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from clinqa.core.manifest import Manifest
from clinqa.core.schema import TRUE_FALSE
from clinqa.dataset.probe import Probe, probe
from clinqa.dataset.problems import Findings, Problem
from clinqa.dataset.reader import row_groups
from clinqa.dataset.splits import SPLITS
from clinqa.sources.pdf import PdfOptions, PdfReader

__all__ = ["BANK_VERB", "is_pairs", "pair_problems", "pdf_problems", "probe_of", "reject_problems"]

PAGES = "pages.parquet"
BANK_VERB = "build bank-tf"
_COLUMNS = (
    *("id", "group", "question", "answer", "source_id", "spans", "label", "pair_id"),
    "source_text",
)
_FUNNEL = ("drafts", "verified", "merged", "paired", "deduplicated", "pairs")


def is_pairs(manifest: Manifest) -> bool:
    """Whether a folder holds statement pairs, of pages or of a bank's questions."""
    return manifest.verb == BANK_VERB or any(record.name == PAGES for record in manifest.outputs)


def pair_problems(
    folder: Path, manifest: Manifest, split_files: Mapping[str, Sequence[str]], readable: set[str]
) -> list[Problem]:
    """Everything in which the pairs contradict themselves, their pages or the manifest."""
    items = _items(folder, split_files)
    problems = [*_pairs(items), *_counts(manifest)]
    if PAGES in readable:
        problems += _spans(folder, items)
    written = manifest.details.get("probe")
    found = _probe(items).as_json()
    if isinstance(written, dict) and any(
        written.get(name) != found[name] for name in ("accuracy", "n", "clusters")
    ):
        where = "the manifest's shortcut probe"
        problems.append(Problem("probe", where, "not what the statements give"))
    return problems


def probe_of(folder: Path, manifest: Manifest) -> Probe:
    """The shortcut probe of a dataset, run again."""
    names = [one.name for one in manifest.outputs]
    files = {s: [n for n in names if n.startswith(f"data/{s}-")] for s in SPLITS}
    return _probe(_items(folder, files))


def _probe(items: Mapping[str, pa.Table]) -> Probe:
    table = pa.concat_tables(items.values())
    return probe(
        table["question"].to_pylist(), table["label"].to_pylist(), table["pair_id"].to_pylist()
    )


def _items(folder: Path, split_files: Mapping[str, Sequence[str]]) -> dict[str, pa.Table]:
    made = {}
    for split, names in split_files.items():
        tables = [table for name in names for table in row_groups(folder / name, list(_COLUMNS))]
        plain = [_plain(table) for table in tables]
        made[split] = pa.concat_tables(plain) if plain else _EMPTY
    return made


def _plain(table: pa.Table) -> pa.Table:
    """Dictionaries as strings, so that files can be put together."""
    return table.cast(
        pa.schema(
            [
                pa.field(f.name, pa.string()) if pa.types.is_dictionary(f.type) else f
                for f in table.schema
            ]
        )
    )


_EMPTY = pa.schema([TRUE_FALSE.field(name) for name in _COLUMNS]).empty_table()


def _pairs(items: Mapping[str, pa.Table]) -> list[Problem]:
    """Each pair: two items, one label each, one source text, one group, one split."""
    whole = Findings("pairs", "data", "pair without exactly one True and one False item")
    source = Findings("pairs", "data", "pair of two source texts")
    apart = Findings("pairs", "data", "pair whose two statements are one")
    label = Findings("pairs", "data", "label that is not the answer, item")
    problems = []
    where: dict[str, set[str]] = defaultdict(set)
    for split, table in items.items():
        pairs: dict[str, list[dict[str, object]]] = defaultdict(list)
        for row in table.to_pylist():
            pairs[str(row["pair_id"])].append(row)
            where[str(row["pair_id"])].add(split)
            if str(row["label"]) != row["answer"]:
                label.add(str(row["id"]))
        for name, rows in sorted(pairs.items()):
            if sorted(str(row["label"]) for row in rows) != ["False", "True"]:
                whole.add(name)
                continue
            one, other = rows
            same = ("source_text", "group", "source_id", "spans")
            if any(one.get(column) != other.get(column) for column in same):
                source.add(name)
            if one["question"] == other["question"]:
                apart.add(name)
        true = sum(bool(value) for value in table["label"].to_pylist())
        if 2 * true != table.num_rows:
            text = f"{true} of {table.num_rows} items are True, not half"
            problems.append(Problem("pairs", f"data/{split}", text))
    divided = Findings("groups", "data", "pair in two splits")
    for name, splits in sorted(where.items()):
        if len(splits) > 1:
            divided.add(name)
    for findings in (whole, source, apart, label, divided):
        problems += findings.problems()
    return problems


def _spans(folder: Path, items: Mapping[str, pa.Table]) -> list[Problem]:
    """Every source text stands on its page, at the place that is told."""
    texts: dict[tuple[str, str, int], str] = {}
    for name, part in ((PAGES, "page"), ("transcripts.parquet", "transcript")):
        if not (folder / name).is_file():
            continue
        for table in row_groups(folder / name, ["md5", "page", "text"]):
            for md5, page, text in zip(
                *(_plain(table)[column].to_pylist() for column in ("md5", "page", "text")),
                strict=True,
            ):
                texts[part, md5, page] = text
    wrong = Findings("spans", "data", "source text is not the page's text there, item")
    for table in items.values():
        for row in table.to_pylist():
            spans = row["spans"] or []
            said = str(row["source_text"]).split()
            fits = len(spans) == 1 and _stands(texts, row["source_id"], spans[0], said)
            if not fits:
                wrong.add(str(row["id"]))
    return wrong.problems()


def _stands(
    texts: Mapping[tuple[str, str, int], str],
    source: str,
    span: Mapping[str, object],
    said: list[str],
) -> bool:
    page, start, end = span["page"], span["start"], span["end"]
    if not (isinstance(page, int) and isinstance(start, int) and isinstance(end, int)):
        return False
    text = texts.get((str(span["part"]), source, page))
    if text is None or not 0 <= start < end <= len(text):
        return False
    return text[start:end].split() == said == str(span["text"]).split()


def _counts(manifest: Manifest) -> Iterable[Problem]:
    """Each stage reads what the one before it kept."""
    counts = manifest.counts
    chain = [("sentences", "drafts"), ("drafts", "pairs")]
    for before, after in chain:
        if before in counts and after in counts and counts[before].kept != counts[after].read:
            text = f"{counts[before].kept} kept, but {after} read {counts[after].read}"
            yield Problem("totals", f"manifest.json, stage {before}", text)
    if "pairs" in counts and "items" in counts and 2 * counts["pairs"].kept != counts["items"].read:
        text = f"{counts['pairs'].kept} pairs, but {counts['items'].read} items"
        yield Problem("totals", "manifest.json, stage items", text)
    funnel = manifest.details.get("funnel")
    if isinstance(funnel, dict):
        steps = [funnel[name] for name in _FUNNEL if isinstance(funnel.get(name), int)]
        if steps != sorted(steps, reverse=True):
            yield Problem("totals", "manifest.json, funnel", "a later step holds more")


def reject_problems(folder: Path, manifest: Manifest) -> Iterable[Problem]:
    """rejects.parquet against what the stages say they rejected."""
    said: Counter[str] = Counter()
    for counts in manifest.counts.values():
        said.update(counts.rejected_by_reason)
    found: Counter[str] = Counter()
    for table in row_groups(folder / "rejects.parquet", ["reason"]):
        found.update(table["reason"].to_pylist())
    for reason in sorted(said.keys() | found.keys()):
        if said[reason] != found[reason]:
            text = f"{found[reason]} rows, the manifest says {said[reason]}"
            yield Problem("totals", f"rejects.parquet, {reason}", text)


def pdf_problems(paths: Sequence[Path], manifest: Manifest) -> Iterable[Problem]:
    """Documents that were not read, and documents that were read and are not given."""
    with PdfReader(PdfOptions()) as reader:
        given = {one.md5: one.names for one in reader.plan(paths)}
    read = {record.sha256: record.name for record in manifest.inputs}
    for md5 in sorted(given.keys() - read.keys()):
        yield Problem("source", given[md5][0], "not the bytes of any document that was read")
    for md5 in sorted(read.keys() - given.keys()):
        yield Problem("source", read[md5], "was read and is not among the documents given")
