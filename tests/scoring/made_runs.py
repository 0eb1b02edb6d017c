"""Datasets built from made reports, and RUN folders written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.builders.reports.pipeline import BuildOptions, build_reports
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import DataClass
from clinqa.core.schema import PREDICTIONS
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.simulate.echo import simulate

Item = dict[str, Any]
Reply = Callable[[Item, int], str | None]


def build(folder: Path, studies: int = 80, seed: int = 1) -> Dataset:
    """A dataset with all kinds of questions."""
    reports = folder / "reports.csv"
    simulate(studies, seed, reports)
    asked = BuildOptions(questions="full", workers=1, data_class=DataClass.RESTRICTED)
    build_reports([reports], folder / "dataset", asked)
    return open_dataset(folder / "dataset")


def items(dataset: Dataset, split: str = "test") -> list[Item]:
    rows: list[Item] = dataset.items(split).sort_by("id").to_pylist()
    return rows


def write_run(
    folder: Path,
    dataset: Dataset,
    reply: Reply,
    *,
    model: str = "scripted:made",
    shots: int = 0,
    repeats: int = 1,
    vary: str = "none",
    split: str = "test",
    limit: int | None = None,
    fingerprint: str | None = None,
    statuses: Sequence[str] = (),
    data_class: str | None = None,
) -> Path:
    """A run whose answers are `reply(item, repeat)`; None is an empty answer. `statuses` are given
    to the first answers instead."""
    rows = []
    for item in items(dataset, split)[:limit]:
        for repeat in range(repeats):
            answer = reply(item, repeat)
            status = "answered" if answer is not None else "empty"
            if len(rows) < len(statuses):
                status = statuses[len(rows)]
            rows.append(
                {
                    "item_id": item["id"],
                    "model": model,
                    "shots": shots,
                    "repeat": repeat,
                    "variant": 0,
                    "prompt_sha256": "0" * 64,
                    "output": answer or "",
                    "finish_reason": "stop",
                    "answer": answer if status == "answered" else None,
                    "answer_status": status,
                    "input_tokens": 10,
                    "output_tokens": 2,
                    "seconds": 0.01,
                    "error": "",
                }
            )
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, PREDICTIONS), folder / "predictions.parquet")
    predictions = folder / "predictions.parquet"
    configuration = {
        "dataset": fingerprint or dataset.manifest.fingerprint,
        "split": split,
        "model": model,
        "shots": shots,
        "repeats": repeats,
        "vary": vary,
        "seed": 0,
        "sampling": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 128, "stop": []},
    }
    manifest = Manifest(
        verb="predict",
        data_class=data_class or dataset.manifest.data_class,
        identity={**configuration, "run": folder.name},
        clinqa="0",
        configuration=configuration,
        outputs=[
            FileRecord(predictions.name, sha256_file(predictions), predictions.stat().st_size)
        ],
        seconds=1.0,
        details={"input_tokens": 10 * len(rows), "output_tokens": 2, "model_seconds": 0.5},
    )
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def seal(run: Path) -> Path:
    """Write a run's manifest once more, with its predictions as they lie there."""
    path, file = run / "manifest.json", run / "predictions.parquet"
    outputs = [FileRecord(file.name, sha256_file(file), file.stat().st_size)]
    text = replace(Manifest.read(path), outputs=outputs).to_json()
    path.write_text(text, encoding="utf-8")
    return run


def reference(item: Item, repeat: int) -> str:
    """The right answer, word for word."""
    answer: str = item["answer"]
    return answer
