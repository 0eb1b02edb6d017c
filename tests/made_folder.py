"""A dataset folder written by hand, by the schemas and the manifest alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.schema import REJECTS
from clinqa.kinds.long_form.columns import LABELS, LONG_FORM, STATEMENTS


@dataclass(frozen=True)
class Label:
    study: str
    abnormality: str
    level: int
    text: str = "A statement."
    method: str = "lexicon"
    explicit: bool = True
    hedged: bool = False
    phase: str = "baseline"
    prosthesis: bool = False


@dataclass(frozen=True)
class Statement:
    text: str
    labels: tuple[tuple[str, int], ...] = ()
    count: int = 1
    method: str = "grammar"
    structure: str = "MV"
    explicit: bool = True
    hedged: bool = False
    phase: str = "baseline"


def write_folder(
    folder: Path,
    labels: Sequence[Label],
    *,
    statements: Iterable[Statement] = (),
    splits: dict[str, str] | None = None,
    rejects: Iterable[tuple[str, str, str]] = (),
    counts: StageCounts | None = None,
    data_class: str = "public",
    profile: str = "default",
    inputs: str = "0" * 64,
    pack: str = "echo",
) -> Path:
    """Items are made of the labels: one each, -50 excluded; studies are their own groups."""
    (folder / "data").mkdir(parents=True)
    rows = {"train": [], "validation": [], "test": []}
    for one in labels:
        if one.level == -50 or one.phase != "baseline":
            continue
        question = f"What of {one.abnormality}?"
        split = (splits or {}).get(one.study, "train")
        rows[split].append({
            "id": item_id("long_form", one.study, "TEXT", None, question, one.text),
            "kind": "long_form", "group": f"p-{one.study}", "question": question,
            "context": "The findings.", "answer": one.text, "category": one.abnormality,
            "source_id": one.study, "spans": [_span(one.text)], "method": one.method,
            "structure": "MV", "level": one.level, "question_type": "finding",
            "statement_seen": split == "train" or one.method == "lexicon",
        })  # fmt: skip
    for split, found in rows.items():
        path = folder / "data" / f"{split}-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(found, schema=LONG_FORM), path)
    label_rows = [
        {
            "study_id": one.study, "group": f"p-{one.study}", "abnormality": one.abnormality,
            "level": one.level, "method": one.method, "explicit": one.explicit,
            "hedged": one.hedged, "phase": one.phase, "section": "MITRAL VALVE",
            "prosthesis": one.prosthesis, "spans": [_span(one.text)],
        }
        for one in labels
    ]  # fmt: skip
    statement_rows = [
        {
            "structure": one.structure, "text": one.text, "count": one.count,
            "studies": one.count, "method": one.method,
            "labels": [
                {"abnormality": name, "level": level, "explicit": one.explicit,
                 "hedged": one.hedged, "phase": one.phase}
                for name, level in one.labels
            ],
        }
        for one in statements
    ]  # fmt: skip
    reject_rows = [
        {"stage": stage, "reason": reason, "source_id": study} for stage, reason, study in rejects
    ]
    for name, made, schema in (
        ("labels", label_rows, LABELS),
        ("statements", statement_rows, STATEMENTS),
        ("rejects", reject_rows, REJECTS),
    ):
        pq.write_table(pa.Table.from_pylist(made, schema=schema), folder / f"{name}.parquet")
    kept = len({one.study for one in labels})
    manifest = Manifest(
        verb="build echo",
        data_class=data_class,
        identity={"profile": profile, "pack": pack},
        clinqa="0",
        configuration={"profile": profile, "pack": pack},
        seeds={"seed": 1},
        inputs=[FileRecord("reports.csv", inputs, 1)],
        outputs=[
            FileRecord.of(path, path.relative_to(folder).as_posix())
            for path in sorted(folder.rglob("*.parquet"))
        ],
        counts={"studies": counts or StageCounts(read=kept, kept=kept)},
    )
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def _span(text: str) -> dict[str, object]:
    return {"part": "TEXT", "page": None, "start": 0, "end": len(text), "text": text}
