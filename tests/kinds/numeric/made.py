"""A dataset of numbers, written as a builder of another package would."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.records import SPLITS
from clinqa.core.schema import REJECTS
from kinds.numeric.columns import NUMERIC


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
    """A complete folder: two thirds train, the rest test."""
    (folder / "data").mkdir(parents=True)
    own = {"train": range(2 * items // 3), "test": range(2 * items // 3, items)}
    tables = {
        f"data/{split}-00000-of-00001.parquet": pa.Table.from_pylist(
            [row(number) for number in own.get(split, ())], schema=NUMERIC
        )
        for split in SPLITS
    }
    tables["rejects.parquet"] = REJECTS.empty_table()
    for name, table in tables.items():
        pq.write_table(table, folder / name, store_schema=False)
    manifest = Manifest(
        verb="build numbers", data_class="public", identity={"made": items}, clinqa="0",
        outputs=[
            FileRecord.of(folder / name, name, table.num_rows) for name, table in tables.items()
        ],
        counts={"items": StageCounts(read=items, kept=items)},
    )  # fmt: skip
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder
