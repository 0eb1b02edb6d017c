"""An export as a folder of its own, with a manifest that names the dataset it came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, StageCounts
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import DataClass
from clinqa.core.stage import Known, Made, Stage, StageResult, Workplace, run_stage
from clinqa.dataset.export.chat import chat
from clinqa.dataset.export.inspect import inspect
from clinqa.dataset.export.lm_eval import lm_eval
from clinqa.dataset.export.splits import SplitItems
from clinqa.dataset.export_options import ExportOptions
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.exports import Exports
from clinqa.kinds.registry import can

__all__ = ["FORMATS", "VERB", "export"]

VERB = "export"
Format = Callable[[SplitItems, Exports, str], dict[str, str]]

FORMATS: Mapping[str, Format] = {"chat": chat, "lm-eval": lm_eval, "inspect": inspect}


def export(folder: Path, out: Path, options: ExportOptions) -> StageResult:
    """Write the dataset in `folder` as another tool takes it; its data class goes along."""
    options.check()
    dataset = open_dataset(folder)
    kind = dataset.kind
    if not kind.has("exports"):
        raise ConfigError(
            f"{folder}: export takes items of kind {can('exports')}, and these are {kind.name}"
        )
    facet: Exports = kind.facet("exports")
    splits = {split: _items(dataset, facet, split) for split in SPLITS}
    source = dataset.manifest

    def made(place: Workplace) -> Made:
        name = re.sub(r"\W+", "_", str(source.configuration.get("pack", "dataset"))).lower()
        for file, text in sorted(FORMATS[options.to](splits, facet, name).items()):
            place.write(file, text)
        total = sum(map(len, splits.values()))
        return Made(
            counts={"items": StageCounts(read=total, kept=total)},
            rows={f"{split}.jsonl": len(items) for split, items in splits.items()},
        )

    return run_stage(
        Stage(
            verb=VERB,
            holds="this export",
            out=out,
            options=options,
            data_class=DataClass(source.data_class),
            known=lambda: Known(
                {"to": options.to}, [FileRecord.of(folder / MANIFEST)], {"of": source.fingerprint}
            ),
            work=made,
            told=lambda done: {"items": done.counts["items"].kept, "files": len(done.outputs)},
        )
    )


def _items(dataset: Dataset, facet: Exports, split: str) -> Sequence[Mapping[str, Any]]:
    columns = ("id", "category", "source_id", *facet.columns)
    rows: list[Mapping[str, Any]] = dataset.items(split, columns).to_pylist()
    return rows
