"""A dataset of made questions, and models that pick by place or by content."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asking.made_dataset import Made, install, said
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.hashing import sha256_file
from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.multiple_choice.columns import MULTIPLE_CHOICE
from clinqa.models.protocol import Output, Prompt

Pick = Callable[[Prompt], str]


def row(number: int, options: Sequence[str], gold: int, **told: Any) -> dict[str, Any]:
    """One item; no text of it is real."""
    question = f"Made question number {number:03}?"
    return {
        "id": item_id("multiple_choice", f"made:{number}", "", None, question, options[gold]),
        "kind": "multiple_choice", "group": f"g{number:03}", "question": question, "context": "",
        "answer": options[gold], "category": ("Cardiology", "Neurology")[number % 2],
        "source_id": f"made:{number}", "spans": [], "method": "metadata", "options": list(options),
        "answer_index": gold, "specialties": [], "votes": [], "needs_image": False,
        "garbled": False, **told,
    }  # fmt: skip


def rows(count: int, first: int = 0, size: int = 4) -> list[dict[str, Any]]:
    """Items with options of their own, the right one anywhere."""
    return [
        row(n, [f"thing {n:03} {place}" for place in "pqrstuvwxy"[:size]], n % size)
        for n in range(first, first + count)
    ]


def dataset(
    folder: Path,
    test: Sequence[dict[str, Any]] | None = None,
    train: Sequence[dict[str, Any]] | None = None,
) -> Dataset:
    """A complete folder."""
    (folder / "data").mkdir(parents=True)
    splits = {
        "train": rows(20, 500) if train is None else train,
        "validation": [],
        "test": rows(24) if test is None else test,
    }
    files = []
    for split, items in splits.items():
        name = f"data/{split}-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(list(items), schema=MULTIPLE_CHOICE), folder / name)
        size = (folder / name).stat().st_size
        files.append(FileRecord(name, sha256_file(folder / name), size, len(items)))
    manifest = Manifest(
        verb="build specialty", data_class="public", clinqa="0", outputs=files,
        identity={"made": [record.sha256 for record in files]},
    )  # fmt: skip
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return open_dataset(folder)


class Weighing(Made):
    """A model that also weighs letters: the one it would pick most, others by their place."""

    def __init__(self, pick: Pick) -> None:
        super().__init__(lambda prompt: said(pick(prompt)))
        self._pick = pick

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        return [
            [-0.1 if word == _letter(self._pick(prompt)) else -2.0 - ord(word) / 100]
            for prompt, word in pairs
        ]


def _letter(text: str) -> str:
    return next(word for word in re.findall(r"[A-Z]+", text)[::-1] if len(word) == 1)


def first(prompt: Prompt) -> str:
    """Whoever stands first."""
    return f"A) {prompt.own[0]}"


def content(prompt: Prompt) -> str:
    """The same content wherever it stands: right on half of the items."""
    wanted = min(prompt.own)
    return f"The answer is {'ABCDEFGHIJ'[prompt.own.index(wanted)]}."


def run(
    monkeypatch: pytest.MonkeyPatch, data: Dataset, name: str, pick: Pick | Made, **told: Any
) -> Path:
    """A RUN folder beside the dataset."""
    model = pick if isinstance(pick, Made) else Made(lambda prompt: said(pick(prompt)))
    install(monkeypatch, model)
    out = data.folder.parent / name
    predict(data.folder, out, PredictOptions(**{"model": "made:model", **told}))
    return out


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    found: list[dict[str, Any]] = pq.ParquetFile(folder / f"{name}.parquet").read().to_pylist()
    return found


__all__ = ["Made", "Output", "Weighing", "content", "dataset", "first", "row", "rows", "run",
           "table"]  # fmt: skip
