"""Check a dataset folder against its own manifest and, when given, its source.

Everything is found before anything is reported, so that one run names all that broke. Items are
named by their id, never by their text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import UInt64s
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.hashing import sha256_file
from clinqa.core.inputs import open_parquet
from clinqa.core.kept_logs import is_kept_log
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import MANIFEST, PARTIAL, files_under
from clinqa.core.problems import Findings, Problem
from clinqa.core.records import SPLITS
from clinqa.core.schema import REJECTS
from clinqa.dataset.itemids import id_numbers, remade_ids
from clinqa.dataset.reader import kind_of, row_groups
from clinqa.dataset.spans import SourceTexts, texts_of
from clinqa.kinds.facets.columns import Checked, Columns
from clinqa.sources.pdf import DOCUMENTS, PAGES, PdfOptions, PdfReader
from clinqa.sources.reports.inputs import UNREADABLE, input_records

__all__ = ["Problem", "told_beside", "verify"]

_ITEM_COLUMNS = ("id", "kind", "group", "question", "answer", "source_id", "spans")
_DOCUMENTS, _REJECTS = "documents.parquet", "rejects.parquet"
_SCHEMAS = {_REJECTS: REJECTS, "pages.parquet": PAGES, _DOCUMENTS: DOCUMENTS}
_NO_KIND = Columns(items=pa.schema([]))


def verify(folder: Path, sources: Iterable[Path | pa.Table] | None = None) -> list[Problem]:
    """All problems of a dataset folder; empty if everything checked holds.

    `sources` are the inputs it was built from, or tables of study_id, part and text; with them
    every span of every item and label must be the source's text, up to whitespace, and files must
    be those that were read, byte for byte.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; give the --out of a build")
    problems: list[Problem] = []
    try:
        Manifest.read(folder / MANIFEST)
    except CheckFailed:
        problems.append(Problem("manifest", MANIFEST, "was edited: the seal is another's"))
    except ConfigError as error:
        if not (folder / MANIFEST).exists():
            text = "missing, so the folder is not complete; run its build again to finish it"
            return [Problem("manifest", MANIFEST, text)]
        return [Problem("manifest", MANIFEST, str(error))]
    try:
        manifest = Manifest.read(folder / MANIFEST, edited=True)
    except ConfigError as error:
        return [*problems, Problem("manifest", MANIFEST, str(error))]
    problems += [*_manifest_problems(folder, manifest), *_file_problems(folder, manifest)]
    facet = _columns(folder)
    given = None if sources is None else list(sources)
    if given is not None:
        problems += _source_problems([one for one in given if isinstance(one, Path)], manifest)
    texts = None if given is None or not facet.spans else texts_of(given, manifest)
    checked = _checked(folder, manifest, list(_readable(folder, manifest, problems, facet)))
    if facet is _NO_KIND and any(checked.splits.values()):
        problems.append(Problem("kind", "data", "items of no kind that is known: not checked"))
    problems += _item_problems(checked, texts if "data" in facet.spans else None)
    problems += facet.checks(checked)
    problems += _total_problems(folder, checked, facet)
    if texts is not None:
        for name in sorted((facet.spans.keys() - {"data"}) & checked.readable):
            problems += _span_problems(checked, name, facet.spans[name], texts)
    return problems


def told_beside(folder: Path) -> tuple[Mapping[str, Any], str]:
    """What the kind of a dataset has to say of it once all holds: values, and a line."""
    manifest, facet = Manifest.read(folder / MANIFEST), _columns(folder)
    if facet.told is None:
        return {}, ""
    return facet.told(_checked(folder, manifest, [record.name for record in manifest.outputs]))


def _columns(folder: Path) -> Columns:
    kind = kind_of(folder)
    return kind.facet("columns") if kind else _NO_KIND


def _checked(folder: Path, manifest: Manifest, readable: Sequence[str]) -> Checked:
    return Checked(
        manifest,
        {split: [n for n in readable if n.startswith(f"data/{split}-")] for split in SPLITS},
        frozenset(readable),
        lambda name, columns: row_groups(folder / name, columns),
    )


def _manifest_problems(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    written = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if written.get("fingerprint") != manifest.fingerprint:
        yield Problem("manifest", MANIFEST, "the fingerprint is not that of the identity in it")
    for stage, counts in manifest.counts.items():
        for text in counts.problems():
            yield Problem("totals", f"{MANIFEST}, stage {stage}", text)
    # what stands in the identity has a hash over it; everything that repeats it must agree
    identity = manifest.identity
    said = {**manifest.configuration, "data_class": manifest.data_class}
    said |= {"clinqa": manifest.clinqa, "verb": manifest.verb, "origin": manifest.origin}
    for name in sorted(said.keys() & identity.keys()):
        if said[name] != identity[name]:
            yield Problem("manifest", MANIFEST, f"{name} is not that of the identity")
    for name, seed in sorted(manifest.seeds.items()):
        if name in identity and identity[name] != seed:
            yield Problem("manifest", MANIFEST, f"seeds: {name} is not that of the identity")
    read = identity.get("inputs")
    if isinstance(read, list) and all(isinstance(one, str) for one in read):
        if sorted(read) != sorted(record.sha256 for record in manifest.inputs):
            yield Problem("manifest", MANIFEST, "inputs: not the hashes of the identity")


def _source_problems(paths: Sequence[Path], manifest: Manifest) -> Iterator[Problem]:
    """Files or documents that were not read, and those that were read and are not given."""
    read = {record.sha256: record.name for record in manifest.inputs}
    if any(record.name == _DOCUMENTS for record in manifest.outputs):
        one, all_given = "document", "documents"
        with PdfReader(PdfOptions()) as reader:
            given = {found.md5: found.names[0] for found in reader.plan(paths)}
    elif paths and read:
        one, all_given = "file", "sources"
        given = {record.sha256: record.name for record in input_records(paths)}
    else:
        return
    for identity in sorted(given.keys() - read.keys()):
        yield Problem("source", given[identity], f"not the bytes of any {one} that was read")
    for identity in sorted(read.keys() - given.keys() - {UNREADABLE}):
        yield Problem("source", read[identity], f"was read and is not among the {all_given} given")


def _file_problems(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    listed = {record.name: record for record in manifest.outputs}
    found = files_under(folder)
    for name in sorted(listed.keys() - found):
        yield Problem("missing", name, "in the manifest, not in the folder")
    for name in sorted(found - listed.keys() - {MANIFEST}):
        if is_kept_log(name):
            continue
        # Of hidden names at the top (.git, .cache of the hub, our own .partial) none is data.
        if not name.startswith(".") or name.startswith(f"{PARTIAL}/data"):
            yield Problem("extra", name, "in the folder, not in the manifest")
    for name in sorted(listed.keys() & found):
        path, record = folder / name, listed[name]
        if path.is_symlink():
            yield Problem("extra", name, "a symlink where a file was written")
        elif path.stat().st_size != record.bytes:
            yield Problem("hash", name, f"{path.stat().st_size} bytes, {record.bytes} were written")
        elif sha256_file(path) != record.sha256:
            yield Problem("hash", name, "not the bytes that were written")
    for split in SPLITS:
        if not any(name.startswith(f"data/{split}-") for name in listed):
            yield Problem("missing", f"data/{split}-*.parquet", "no file of this split")


def _readable(
    folder: Path, manifest: Manifest, problems: list[Problem], facet: Columns
) -> Iterator[str]:
    """The Parquet files that can be read to their end and have the right columns and rows."""
    schemas = {**_SCHEMAS, **facet.tables}
    for record in manifest.outputs:
        name, path = record.name, folder / record.name
        if not name.endswith(".parquet") or not path.is_file():
            continue
        schema = facet.items if name.startswith("data/") else schemas.get(name)
        try:
            with open_parquet(path) as file:
                if schema and not file.schema_arrow.equals(schema):
                    problems.append(Problem("schema", name, "columns or types differ"))
                    continue
                if record.rows is not None and file.metadata.num_rows != record.rows:
                    text = f"{file.metadata.num_rows} rows, the manifest says {record.rows}"
                    problems.append(Problem("rows", name, text))
            for group in row_groups(path):
                group.validate(full=True)
        except (OSError, pa.ArrowException) as error:
            problems.append(Problem("unreadable", name, type(error).__name__))
            continue
        yield name


def _item_problems(checked: Checked, texts: SourceTexts | None) -> list[Problem]:
    problems: list[Problem] = []
    numbers: list[UInt64s] = []
    groups: dict[str, set[str]] = {split: set() for split in SPLITS}
    for split, names in checked.splits.items():
        for name in names:
            wrong = Findings("ids", name, "id is not the hash of the item")
            spans = Findings("spans", name, "span is not the source's text, item")
            for table in checked.read(name, _ITEM_COLUMNS):
                groups[split].update(table["group"].unique().to_pylist())
                try:
                    numbers.append(id_numbers(table["id"]))
                except CheckFailed as error:
                    problems.append(Problem("ids", name, str(error)))
                ids = table["id"].to_pylist()
                for written, made in zip(ids, remade_ids(table), strict=True):
                    if written != made:
                        wrong.add(str(written))
                if texts is not None:
                    for row in texts.wrong_rows(table["source_id"], table["spans"]):
                        spans.add(ids[row])
            problems += [*wrong.problems(), *spans.problems()]
    problems += _group_problems(groups)
    if numbers:
        distinct, times = np.unique(np.concatenate(numbers), return_counts=True)
        twice = Findings("ids", "data", "id occurs more than once")
        for number in distinct[times > 1].tolist():
            twice.add(f"{number:016x}")
        problems += twice.problems()
    return problems


def _group_problems(groups: dict[str, set[str]]) -> Iterator[Problem]:
    for i, one in enumerate(SPLITS):
        for other in SPLITS[i + 1 :]:
            # A group is a patient's id: how many, not which, goes to the terminal.
            if shared := groups[one] & groups[other]:
                yield Problem("groups", f"{one} and {other}", f"{len(shared)} groups are in both")


def _total_problems(folder: Path, checked: Checked, facet: Columns) -> Iterator[Problem]:
    """Items and rejects against what the stages say of them."""
    counts = checked.manifest.counts
    rows = sum(
        open_parquet(folder / name).metadata.num_rows
        for names in checked.splits.values()
        for name in names
    )
    items = counts.get("items")
    if items is None:
        yield Problem("totals", MANIFEST, "no counts of stage items")
    elif items.kept != rows:
        yield Problem("totals", "data", f"{rows} items, the manifest says {items.kept} kept")
    stages = [counts[stage] for stage in facet.counted or counts if stage in counts]
    if not stages or _REJECTS not in checked.readable:
        return
    said, found = Counter[str](), Counter[str]()
    for stage in stages:
        said.update(stage.rejected_by_reason)
    found.update(row["reason"] for row in checked.rows(_REJECTS, ["reason"]))
    for reason in sorted((found.keys() | said.keys()) - facet.beside):
        if found[reason] != said[reason]:
            text = f"{found[reason]} rows, the manifest says {said[reason]}"
            yield Problem("totals", f"{_REJECTS}, {reason}", text)


def _span_problems(
    checked: Checked, name: str, column: str, texts: SourceTexts
) -> Iterator[Problem]:
    wrong = Findings("spans", name, "span is not the source's text, row")
    before = 0
    for table in checked.read(name, [column, "spans"]):
        for row in texts.wrong_rows(table[column], table["spans"]):
            wrong.add(str(before + row + 1))
        before += table.num_rows
    yield from wrong.problems()
