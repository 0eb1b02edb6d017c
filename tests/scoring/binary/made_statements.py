"""A dataset of made pairs, and runs of scripted models on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.builders.pairs import PairRow, write_pairs
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.dataset.reader import Dataset, open_dataset

Reply = Callable[[int, bool], str]


def dataset(folder: Path, pairs: int = 40, documents: int = 5) -> Dataset:
    """Pairs about four topics from a few documents; no text of it is real."""
    rows = [
        PairRow(
            id=f"pair-{n:03}", group=f"group-{n:03}", source_id=f"document-{n % documents}",
            part="page", page=1, start=10 * n, end=10 * n + 5, source_text="text",
            category=("rhythm", "conduction", "disease", "recording")[n % 4], mode="text",
            method="rules", true=f"Made statement number {n:03} is so.",
            false=f"Made statement number {n:03} is not so.",
        )
        for n in range(pairs)
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    written = write_pairs(folder, rows, [], seed=1, private=False)
    files = [
        FileRecord(name, sha256_file(folder / name), (folder / name).stat().st_size, n)
        for name, n in written.rows.items()
    ]
    manifest = Manifest(
        verb="build ecg", data_class="public", identity={"made": pairs}, clinqa="0",
        configuration={"pack": "ecg"}, seeds={"seed": 1}, outputs=files, counts=written.counts,
        details={"topics": {"rhythm": "Rate and rhythm"}},
    )  # fmt: skip
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return open_dataset(folder)


def repeated(folder: Path, data: Dataset, right: Callable[[int, bool, int], bool]) -> Path:
    """A run of three repeats: is `right(pair number, is it True, repeat)` what it knows?"""
    script = folder.parent / f"{folder.name}.jsonl"
    lines = []
    for row in data.items("train", ["id", "question", "label"]).to_pylist():
        number = int(row["question"].split()[3])
        for repeat in range(3):
            knows = right(number, row["label"], repeat)
            lines.append({"item": row["id"], "repeat": repeat,
                          "output": str(row["label"] if knows else not row["label"])})  # fmt: skip
    script.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    options = PredictOptions(
        model=f"scripted:{script}", split="train", repeats=3, vary="sampling", temperature=1.0
    )
    predict(data.folder, folder, options)
    return folder


def run(
    folder: Path, data: Dataset, reply: Reply, *, split: str = "train", model: str = ""
) -> Path:
    """What `reply(pair number, is it True)` says to each statement, through predict itself."""
    script = folder.parent / f"{folder.name}.jsonl"
    script.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for row in data.items(split, ["question", "label"]).to_pylist():
        number = int(row["question"].split()[3])
        lines.append({"match": row["question"], "output": reply(number, row["label"]),
                      "finish_reason": "stop"})  # fmt: skip
    script.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    predict(data.folder, folder, PredictOptions(model=f"scripted:{script}", split=split))
    return folder
