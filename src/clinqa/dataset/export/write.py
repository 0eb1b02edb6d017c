"""An export as a folder of its own, with a manifest that names the dataset it came from."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import clinqa
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, Manifest, StageCounts, sha256_file
from clinqa.core.outfolder import MANIFEST, open_out, write_durably, writing
from clinqa.core.records import DataClass
from clinqa.dataset.export.chat import chat
from clinqa.dataset.export.inspect import inspect
from clinqa.dataset.export.lm_eval import lm_eval
from clinqa.dataset.export.splits import SplitItems
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.exports import Exports
from clinqa.kinds.registry import can
from clinqa.privacy import is_private

__all__ = ["FORMATS", "VERB", "export"]

VERB = "export"
Format = Callable[[SplitItems, Exports, str], dict[str, str]]

FORMATS: Mapping[str, Format] = {"chat": chat, "lm-eval": lm_eval, "inspect": inspect}


def export(folder: Path, to: str, out: Path, *, fresh: bool = False) -> Manifest:
    """Write the dataset in `folder` as another tool takes it; its data class goes along."""
    if to not in FORMATS:
        raise ConfigError(f"--to must be one of {', '.join(FORMATS)}")
    dataset = open_dataset(folder)
    kind = dataset.kind
    if not kind.has("exports"):
        raise ConfigError(
            f"{folder}: export takes items of kind {can('exports')}, and these are {kind.name}"
        )
    facet: Exports = kind.facet("exports")
    splits = {split: _items(dataset, facet, split) for split in SPLITS}
    source = dataset.manifest
    name = re.sub(r"\W+", "_", str(source.configuration.get("pack", "dataset"))).lower()
    private = is_private(DataClass(source.data_class))
    identity = {"verb": VERB, "clinqa": clinqa.__version__, "to": to, "of": source.fingerprint}
    with open_out(out, identity, fresh=fresh, private=private) as opened:
        if opened.done is not None:
            return opened.done
        files = FORMATS[to](splits, facet, name)
        started = _now()
        with writing(out):
            for file, text in sorted(files.items()):
                write_durably(opened.partial / file, text.encode("utf-8"), private=private)
        total = sum(map(len, splits.values()))
        manifest = Manifest(
            verb=VERB,
            data_class=source.data_class,
            identity=identity,
            clinqa=clinqa.__version__,
            command=["clinqa", *sys.argv[1:]],
            configuration={"to": to},
            inputs=[_record(folder / MANIFEST)],
            counts={"items": StageCounts(read=total, kept=total)},
            started=started,
            finished=_now(),
        )
        rows = {f"{split}.jsonl": len(items) for split, items in splits.items()}
        return opened.commit(manifest, rows)


def _items(dataset: Dataset, facet: Exports, split: str) -> Sequence[Mapping[str, Any]]:
    columns = ("id", "category", "source_id", *facet.columns)
    rows: list[Mapping[str, Any]] = dataset.items(split, columns).to_pylist()
    return rows


def _record(path: Path) -> FileRecord:
    return FileRecord(path.name, sha256_file(path), path.stat().st_size)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
