"""A dataset of numbers, written as a builder of another package would."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa

from clinqa.core.ids import item_id
from clinqa.core.manifest import StageCounts
from clinqa.core.records import SPLITS, DataClass
from clinqa.core.stage import Known, Made, Stage, Workplace, run_stage
from clinqa.dataset.card import Card
from clinqa.dataset.publish import write_card
from clinqa.dataset.written import write_rejects, write_splits
from kinds.numeric.columns import COLUMNS, NUMERIC


def row(number: int) -> dict[str, object]:
    """One item: a heart rate; two of each patient follow each other."""
    value = 50.0 + 7 * number % 40
    question, answer = f"What is the heart rate at visit {number}?", f"{value}"
    return {
        "id": item_id("numeric", f"p{number}", "", None, question, answer),
        "kind": "numeric", "group": f"g{number // 2}", "question": question, "context": "",
        "answer": answer, "category": ("rate", "interval")[number % 2],
        "source_id": f"p{number}", "spans": [], "method": "rules", "value": value,
        "tolerance": 2.0,
    }  # fmt: skip


def dataset(folder: Path, items: int = 30) -> Path:
    """A complete folder with its card: two thirds train, the rest test."""
    run_stage(
        Stage(
            verb="build numbers",
            holds="this build",
            out=folder,
            options=SimpleNamespace(dry_run=False, fresh=False),
            data_class=DataClass.PUBLIC,
            known=lambda: Known({"items": items}),
            work=partial(_written, items),
            told=lambda manifest: {},
        )
    )
    return folder


def _written(items: int, place: Workplace) -> Made:
    own = {"train": range(2 * items // 3), "test": range(2 * items // 3, items)}
    tables = {
        split: [pa.Table.from_pylist([row(number) for number in numbers], schema=NUMERIC)]
        for split, numbers in own.items()
    }
    rows = write_splits(place.partial, tables, NUMERIC, private=place.private)
    rows |= write_rejects(place.partial, [], private=place.private)
    card = Card(
        title="Heart rates", summary="Each item asks for a number.", owner="nobody",
        items={split: len(own.get(split, ())) for split in SPLITS}, glance=[], sections=[],
        rejects={}, reasons={}, columns=COLUMNS.meanings, limits=[], checked="each number",
    )  # fmt: skip
    return Made(
        counts={"items": StageCounts(read=items, kept=items)},
        rows=rows,
        describe=lambda manifest: write_card(place, card, COLUMNS, manifest, rows),
    )
