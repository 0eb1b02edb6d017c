"""Check a dataset folder against its own manifest and, when given, its source.

Everything is found before anything is reported, so that one run names all that broke. Items are
named by their id, never by their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST, PARTIAL, files_under
from clinqa.core.records import DataClass
from clinqa.core.schema import (
    DOCUMENTS,
    LABELS,
    LONG_FORM,
    MULTIPLE_CHOICE,
    PAGES,
    REJECTS,
    STATEMENTS,
    TRUE_FALSE,
)
from clinqa.dataset.contents import content_problems
from clinqa.dataset.itemids import id_numbers, remade_ids
from clinqa.dataset.ledger import ITEM_REASONS
from clinqa.dataset.problems import Findings, Problem
from clinqa.dataset.reader import row_groups
from clinqa.dataset.spans import SourceTexts, texts_of
from clinqa.dataset.splits import SPLITS
from clinqa.dataset.verify_choices import choice_problems, is_choices
from clinqa.dataset.verify_pairs import (
    BANK_VERB,
    is_pairs,
    pair_problems,
    pdf_problems,
    reject_problems,
)
from clinqa.sources.reports.inputs import UNREADABLE, input_records

__all__ = ["Problem", "verify"]

_ITEM_COLUMNS = ("id", "kind", "group", "question", "answer", "source_id", "spans")


def verify(folder: Path, sources: Iterable[Path | pa.Table] | None = None) -> list[Problem]:
    """All problems of a dataset folder; empty if everything checked holds.

    `sources` are the inputs it was built from, or tables of study_id, part and text; with them
    every span of every item and label must be the source's text, up to whitespace, and files must
    be those that were read, byte for byte.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; give the --out of a build")
    try:
        manifest = Manifest.read(folder / MANIFEST)
    except ConfigError as error:
        if not (folder / MANIFEST).exists():
            text = "missing, so the folder is not complete; run its build again to finish it"
            return [Problem("manifest", MANIFEST, text)]
        return [Problem("manifest", MANIFEST, str(error))]
    problems = [*_manifest_problems(folder, manifest), *_file_problems(folder, manifest)]
    given = None if sources is None else list(sources)
    if is_pairs(manifest):
        return [*problems, *_pair_problems(folder, manifest, given)]
    if is_choices(manifest):
        return [*problems, *_choice_problems(folder, manifest, given)]
    if given is not None:
        problems += _source_problems([s for s in given if isinstance(s, Path)], manifest)
    texts = None if given is None else texts_of(given, manifest)
    readable = list(_readable(folder, manifest, problems))
    split_files = {s: [n for n in readable if n.startswith(f"data/{s}-")] for s in SPLITS}
    problems += _item_problems(folder, split_files, texts)
    studies = manifest.counts.get("studies")
    problems += content_problems(
        folder,
        split_files,
        readable,
        studies.kept if studies else None,
        one_context=manifest.configuration.get("context") == "findings",
    )
    problems += _total_problems(folder, manifest, readable)
    if texts is not None and "labels.parquet" in readable:
        problems += _label_span_problems(folder, texts)
    return problems


def _pair_problems(
    folder: Path, manifest: Manifest, given: Sequence[Path | pa.Table] | None
) -> Iterator[Problem]:
    """What is checked of statement pairs beside hashes and the manifest."""
    problems: list[Problem] = []
    readable = list(_readable(folder, manifest, problems, TRUE_FALSE))
    split_files = {s: [n for n in readable if n.startswith(f"data/{s}-")] for s in SPLITS}
    yield from problems
    yield from _item_problems(folder, split_files, None)
    yield from pair_problems(folder, manifest, split_files, set(readable))
    if "rejects.parquet" in readable:
        yield from reject_problems(folder, manifest)
    items = manifest.counts.get("items")
    rows = sum(
        pq.ParquetFile(folder / name).metadata.num_rows
        for names in split_files.values()
        for name in names
    )
    if items is None or items.kept != rows:
        said = "nothing" if items is None else f"{items.kept} kept"
        yield Problem("totals", "data", f"{rows} items, the manifest says {said}")
    paths = [one for one in given or () if isinstance(one, Path)]
    if given is not None and manifest.verb == BANK_VERB:
        yield from _source_problems(paths, manifest)
    elif given is not None:
        yield from pdf_problems(paths, manifest)


def _choice_problems(
    folder: Path, manifest: Manifest, given: Sequence[Path | pa.Table] | None
) -> Iterator[Problem]:
    """What is checked of multiple-choice questions beside hashes and the manifest."""
    problems: list[Problem] = []
    readable = list(_readable(folder, manifest, problems, MULTIPLE_CHOICE))
    split_files = {s: [n for n in readable if n.startswith(f"data/{s}-")] for s in SPLITS}
    yield from problems
    yield from _item_problems(folder, split_files, None)
    yield from choice_problems(folder, manifest, split_files, set(readable))
    if given is not None:
        yield from _source_problems([s for s in given if isinstance(s, Path)], manifest)


def _manifest_problems(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    written = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if written.get("fingerprint") != manifest.fingerprint:
        yield Problem("manifest", MANIFEST, "the fingerprint is not that of the identity in it")
    for stage, counts in manifest.counts.items():
        for text in counts.problems():
            yield Problem("totals", f"{MANIFEST}, stage {stage}", text)
    if manifest.data_class not in {one.value for one in DataClass}:
        yield Problem("manifest", MANIFEST, "no such data class")
    # what stands in the identity has a hash over it; everything that repeats it must agree
    identity = manifest.identity
    said = {**manifest.configuration, "data_class": manifest.data_class}
    said |= {"clinqa": manifest.clinqa, "verb": manifest.verb}
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
    """Files that were not read, and files that were read and are not given."""
    if not paths or not manifest.inputs:
        return
    given = {record.sha256: record.name for record in input_records(paths)}
    read = {record.sha256: record.name for record in manifest.inputs}
    for sha256 in sorted(given.keys() - read.keys()):
        yield Problem("source", given[sha256], "not the bytes of any file that was read")
    for sha256 in sorted(read.keys() - given.keys() - {UNREADABLE}):
        yield Problem("source", read[sha256], "was read and is not among the sources given")


def _file_problems(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    listed = {record.name: record for record in manifest.outputs}
    found = files_under(folder)
    for name in sorted(listed.keys() - found):
        yield Problem("missing", name, "in the manifest, not in the folder")
    for name in sorted(found - listed.keys() - {MANIFEST}):
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


_SCHEMAS = {
    "labels.parquet": LABELS,
    "statements.parquet": STATEMENTS,
    "rejects.parquet": REJECTS,
    "pages.parquet": PAGES,
    "documents.parquet": DOCUMENTS,
}


def _readable(
    folder: Path, manifest: Manifest, problems: list[Problem], items: pa.Schema = LONG_FORM
) -> Iterator[str]:
    """The Parquet files that can be read to their end and have the right columns and rows."""
    for record in manifest.outputs:
        name, path = record.name, folder / record.name
        if not name.endswith(".parquet") or not path.is_file():
            continue
        schema = items if name.startswith("data/") else _SCHEMAS.get(name)
        try:
            with pq.ParquetFile(path) as file:
                if schema is not None and not file.schema_arrow.equals(schema):
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


def _item_problems(
    folder: Path, split_files: dict[str, list[str]], texts: SourceTexts | None
) -> list[Problem]:
    problems: list[Problem] = []
    numbers: list[npt.NDArray[np.uint64]] = []
    groups: dict[str, set[str]] = {split: set() for split in SPLITS}
    for split, names in split_files.items():
        for name in names:
            wrong = Findings("ids", name, "id is not the hash of the item")
            spans = Findings("spans", name, "span is not the source's text, item")
            for table in row_groups(folder / name, _ITEM_COLUMNS):
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


def _total_problems(folder: Path, manifest: Manifest, readable: Sequence[str]) -> Iterator[Problem]:
    rows = {name: pq.ParquetFile(folder / name).metadata.num_rows for name in readable}
    items = manifest.counts.get("items")
    in_files = sum(n for name, n in rows.items() if name.startswith("data/"))
    if items is None:
        yield Problem("totals", MANIFEST, "no counts of stage items")
    elif items.kept != in_files:
        yield Problem("totals", "data", f"{in_files} items, the manifest says {items.kept} kept")
    studies = manifest.counts.get("studies")
    if studies is None:
        return
    if "rejects.parquet" in readable:
        reasons = pq.ParquetFile(folder / "rejects.parquet").read(["reason"])["reason"]
        tally = {v["values"]: v["counts"] for v in pc.value_counts(reasons).to_pylist()}
        found = {reason: n for reason, n in tally.items() if reason not in ITEM_REASONS}
        said = dict(studies.rejected_by_reason)
        for reason in sorted(found.keys() | said.keys()):
            if found.get(reason, 0) != said.get(reason, 0):
                text = f"{found.get(reason, 0)} rows, the manifest says {said.get(reason, 0)}"
                yield Problem("totals", f"rejects.parquet, {reason}", text)
    yield from _study_problems(folder, studies.kept, readable)


def _study_problems(folder: Path, kept: int, readable: Sequence[str]) -> Iterator[Problem]:
    """No more studies than were kept, and the same group for a study wherever it stands."""
    names = [(n, "source_id") for n in readable if n.startswith("data/")]
    names += [(n, "study_id") for n in readable if n == "labels.parquet"]
    pairs = []
    for name, column in names:
        for table in row_groups(folder / name, [column, "group"]):
            plain = table.rename_columns({column: "study"}).select(["study", "group"])
            pairs.append(plain.group_by(["study", "group"]).aggregate([]))
    if not pairs:
        return
    strings = pa.schema([("study", pa.string()), ("group", pa.string())])
    all_pairs = pa.concat_tables([pair.cast(strings) for pair in pairs])
    distinct = all_pairs.group_by(["study", "group"]).aggregate([])
    studies = len(distinct["study"].unique())
    # every study that is kept has a label
    if studies > kept or (studies < kept and "labels.parquet" in readable):
        yield Problem("totals", "data", f"{studies} studies, the manifest says {kept} kept")
    if distinct.num_rows != studies:
        text = f"{distinct.num_rows - studies} studies stand under more than one group"
        yield Problem("groups", "data and labels.parquet", text)


def _label_span_problems(folder: Path, texts: SourceTexts) -> list[Problem]:
    wrong = Findings("spans", "labels.parquet", "span is not the source's text, row")
    before = 0
    for table in row_groups(folder / "labels.parquet", ["study_id", "spans"]):
        for row in texts.wrong_rows(table["study_id"], table["spans"]):
            wrong.add(str(before + row + 1))
        before += table.num_rows
    return wrong.problems()
