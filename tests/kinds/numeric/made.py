"""A dataset of numbers, written as a builder of another package would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.records import SPLITS
from clinqa.dataset.card import Card
from clinqa.dataset.publish import write_card
from clinqa.dataset.written import write_rejects, write_splits
from kinds.numeric.columns import COLUMNS, NUMERIC


def row(number: int) -> dict[str, object]:
    """One item: a heart rate."""
    question, answer = f"What is the heart rate of patient {number}?", f"{50 + number}.0"
    return {
        "id": item_id("numeric", f"p{number}", "", None, question, answer),
        "kind": "numeric", "group": f"g{number}", "question": question, "context": "",
        "answer": answer, "category": ("rate", "interval")[number % 2],
        "source_id": f"p{number}", "spans": [], "method": "rules", "value": 50.0 + number,
        "tolerance": 2.0,
    }  # fmt: skip


def dataset(folder: Path, items: int = 30) -> Path:
    """A complete folder with its card: two thirds train, the rest test."""
    own = {"train": range(2 * items // 3), "test": range(2 * items // 3, items)}
    tables = {
        split: [pa.Table.from_pylist([row(number) for number in numbers], schema=NUMERIC)]
        for split, numbers in own.items()
    }
    folder.mkdir()
    rows = write_splits(folder, tables, NUMERIC, private=False)
    rows |= write_rejects(folder, [], private=False)
    card = Card(
        title="Heart rates", summary="Each item asks for a number.", owner="nobody",
        items={split: len(own.get(split, ())) for split in SPLITS}, glance=[], sections=[],
        rejects={}, reasons={}, columns=COLUMNS.meanings, limits=[], checked="each number",
    )  # fmt: skip
    manifest = Manifest(
        verb="build numbers", data_class="public", identity={"made": items}, clinqa="0",
        counts={"items": StageCounts(read=items, kept=items)}, finished="2026-01-01",
    )  # fmt: skip
    write_card(folder, card, COLUMNS, manifest, rows, private=False)
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    files = [FileRecord.of(folder / name, name, rows.get(name)) for name in sorted(names)]
    manifest = replace(manifest, outputs=files)
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder
