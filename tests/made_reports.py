"""Small made reports turned into the tables the writer takes, for the tests of this folder.

A report is (study id, patient, sentences); each sentence labels one abnormality, named by its
first word, and becomes one item.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from clinqa.builders.reports.writer import BatchTables, DatasetWriter, WriteResult
from clinqa.core.ids import item_id, stable_hash
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import open_out
from clinqa.core.records import DataClass, Reason, Reject
from clinqa.core.stage import Workplace
from clinqa.dataset.card import Card
from clinqa.dataset.publish import write_card
from clinqa.kinds.long_form.columns import COLUMNS, LABELS, LONG_FORM, STATEMENTS
from clinqa.kinds.long_form.statements import folded, template_key

Report = tuple[str, str, tuple[str, ...]]

_ITEMS = pa.schema(
    [f for f in LONG_FORM if f.name not in ("statement_seen", "nearest_in_train")]
    + [pa.field("study", pa.int32()), pa.field("statement_key", pa.uint64())]
)
_LABELS = pa.schema([*LABELS, pa.field("study", pa.int32())])
_STUDIES = pa.schema(
    [
        ("study_id", pa.string()),
        ("group", pa.string()),
        ("digest", pa.binary(16)),
        ("row", pa.int64()),
        ("part", pa.string()),
    ]
)
_OCCURRENCES = pa.schema([("study", pa.int32()), ("statement", pa.int32())])


def text_of(report: Report) -> str:
    return " ".join(report[2])


def source_table(reports: Sequence[Report]) -> pa.Table:
    return pa.table(
        {
            "study_id": [r[0] for r in reports],
            "part": ["text"] * len(reports),
            "text": [text_of(r) for r in reports],
        }
    )


class Maker:
    """Turns reports into batches, numbering distinct sentences as they come."""

    def __init__(self) -> None:
        self.statements: dict[str, int] = {}
        self.read: dict[str, tuple[str, int]] = {}

    def batch(self, reports: Sequence[Report], first_row: int = 1) -> BatchTables:
        studies, items, labels, occurrences, rejects = [], [], [], [], []
        templates: dict[int, str] = {}
        for place, report in enumerate(reports):
            study_id, group, sentences = report
            text = text_of(report)
            row = first_row + place
            digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
            studies.append((study_id, group, digest, row, "text"))
            if not sentences:
                rejects.append(Reject("label", Reason.NO_FINDINGS, study_id, "text", None, row))
            start = 0
            for sentence in sentences:
                span = [("text", None, start, start + len(sentence), sentence)]
                start += len(sentence) + 1
                name = sentence.split()[0]
                level = len(sentence) % 4
                question = f"What about {name}?"
                identity = item_id("long_form", study_id, "text", None, question, sentence)
                key = template_key(folded(sentence))
                templates[key] = folded(sentence)
                self.read[sentence] = (name, level)
                number = self.statements.setdefault(sentence, len(self.statements))
                occurrences.append((place, number))
                label = (study_id, group, name, level, "lexicon", True, False, "baseline")
                labels.append((*label, "findings", False, span, place))
                item = (identity, "long_form", group, question, text, sentence, name, study_id)
                items.append((*item, span, "lexicon", "LV", level, "finding", place, key))
        return BatchTables(
            _table(studies, _STUDIES),
            _table(items, _ITEMS),
            _table(labels, _LABELS),
            _table(occurrences, _OCCURRENCES),
            rejects,
            templates,
        )

    def table(self) -> pa.Table:
        names = list(self.statements)
        return pa.table(
            {
                "structure": pa.array(["LV"] * len(names), pa.string()),
                "text": pa.array(names, pa.string()),
                "labels": pa.array(
                    [
                        [
                            {
                                "abnormality": self.read[name][0],
                                "level": self.read[name][1],
                                "explicit": True,
                                "hedged": False,
                                "phase": "baseline",
                            }
                        ]
                        for name in names
                    ],
                    STATEMENTS.field("labels").type,
                ),
                "method": pa.array(["lexicon"] * len(names), pa.string()),
            }
        )


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        if field.name == "spans":
            names = ("part", "page", "start", "end", "text")
            column = [[dict(zip(names, s, strict=True)) for s in spans] for spans in column]
        arrays.append(pa.array(list(column), field.type))
    return pa.table(arrays, schema=schema)


REPORTS: tuple[Report, ...] = tuple(
    (
        f"s{i}",
        f"p{i // 2}",
        (
            f"chamber is of size {i % 5}.",
            f"valve leaks {'a bit' if i % 3 else 'not at all'}.",
            f"wall {'moves' * (i + 1)}.",
        ),
    )
    for i in range(40)
)


def write(
    partial: Path,
    reports: Sequence[Report] = REPORTS,
    *,
    batch: int = 7,
    seed: int = 1,
    sample: int | None = None,
    private: bool = False,
) -> WriteResult:
    maker = Maker()
    writer = DatasetWriter(partial, seed=seed, sample_subjects=sample, private=private)
    for first in range(0, len(reports), batch):
        writer.add(maker.batch(reports[first : first + batch], first + 1))
    return writer.finish(maker.table())


def build(
    out: Path,
    reports: Sequence[Report] = REPORTS,
    *,
    batch: int = 7,
    seed: int = 1,
    data_class: str = "restricted",
    fresh: bool = False,
) -> Manifest | None:
    """A whole build; None when the folder was already done."""
    private = data_class in ("restricted", "phi")
    identity = {"seed": seed, "inputs": [{"sha256": str(stable_hash(*sorted(reports)))}]}
    with open_out(out, identity, fresh=fresh, private=private) as folder:
        if folder.done is not None:
            return None
        result = write(folder.partial, reports, batch=batch, seed=seed, private=private)
        manifest = Manifest(
            verb="build echo",
            data_class=data_class,
            identity=identity,
            clinqa="0",
            finished="2026-01-01T00:00:00Z",
        )
        card = Card(
            title="Made reports",
            summary="Questions about made reports.",
            owner="their maker",
            items={name: split.items for name, split in result.splits.items()},
            glance=[],
            sections=[("How it was made", "Each sentence labels what its first word names.\n")],
            rejects=result.rejects,
            reasons={},
            columns={},
            limits=[],
            checked="that all of it agrees",
        )
        manifest = replace(manifest, counts=result.counts)
        place = Workplace(folder, DataClass(data_class))
        write_card(place, card, COLUMNS, manifest, result.rows)
        return folder.commit(manifest, result.rows)


def rows(folder: Path) -> list[dict[str, object]]:
    """All rows of a folder's data in an order of their own, the split among the columns."""
    import pyarrow.parquet as pq

    found = []
    for path in sorted((folder / "data").glob("*.parquet")):
        split = path.name.split("-")[0]
        found += [{"split": split, **row} for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted(found, key=lambda row: str(row["id"]))
