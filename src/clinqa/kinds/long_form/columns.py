"""The tables of long-form questions on reports: items, labels, statements; what holds of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from clinqa.core.problems import Problem
from clinqa.core.records import Reason
from clinqa.core.schema import SPAN, items_schema
from clinqa.kinds.facets.columns import Checked, Columns
from clinqa.reading.pieces import STATEMENTS

__all__ = ["COLUMNS", "ITEM_REASONS", "LABELS", "LONG_FORM", "STATEMENTS"]

ITEM_REASONS = frozenset({Reason.CONFLICTING_LEVELS, Reason.NO_LABEL})
"""Reasons that cost a study one label or item; every other reason costs the whole record."""

LONG_FORM = items_schema(
    ("structure", pa.string()),
    ("level", pa.int8()),
    ("question_type", pa.string()),
    # does the deciding statement of this item also decide an item of the train split?
    ("statement_seen", pa.bool_()),
    # how like it is to the nearest of train, 0 to 1 (`kinds.long_form.statements`)
    ("nearest_in_train", pa.float32()),
)

LABELS = pa.schema(
    [
        ("study_id", pa.string()),
        ("group", pa.string()),
        ("abnormality", pa.string()),
        ("level", pa.int8()),
        ("method", pa.string()),
        ("explicit", pa.bool_()),
        ("hedged", pa.bool_()),
        ("phase", pa.string()),
        ("section", pa.string()),
        ("prosthesis", pa.bool_()),
        ("spans", pa.list_(SPAN)),
    ]
)

_STRINGS = pa.schema([("study", pa.string()), ("group", pa.string())])


def _checks(checked: Checked) -> Iterator[Problem]:
    from clinqa.kinds.long_form.contents import content_problems

    studies = checked.manifest.counts.get("studies")
    kept = studies.kept if studies else None
    one_context = checked.manifest.configuration.get("context") == "findings"
    yield from content_problems(checked, kept, one_context=one_context)
    if kept is not None:
        yield from _study_problems(checked, kept)


def _study_problems(checked: Checked, kept: int) -> Iterator[Problem]:
    """No more studies than were kept, and the same group for a study wherever it stands."""
    files = [(name, "source_id") for names in checked.splits.values() for name in names]
    files += [("labels.parquet", "study_id")] if "labels.parquet" in checked.readable else []
    pairs = [
        table.rename_columns({column: "study"}).group_by(["study", "group"]).aggregate([])
        for name, column in files
        for table in checked.read(name, [column, "group"])
    ]
    if not pairs:
        return
    all_pairs = pa.concat_tables([pair.select(["study", "group"]).cast(_STRINGS) for pair in pairs])
    distinct = all_pairs.group_by(["study", "group"]).aggregate([])
    studies = len(distinct["study"].unique())
    # every study that is kept has a label
    if studies > kept or (studies < kept and "labels.parquet" in checked.readable):
        yield Problem("totals", "data", f"{studies} studies, the manifest says {kept} kept")
    if distinct.num_rows != studies:
        text = f"{distinct.num_rows - studies} studies stand under more than one group"
        yield Problem("groups", "data and labels.parquet", text)


def _told(checked: Checked) -> tuple[Mapping[str, Any], str]:
    """The abnormalities that are learnt and never tested: nothing can be said of them."""
    asked = {
        split: {
            name
            for table in checked.items(split, ["category"])
            for name in table["category"].unique().to_pylist()
        }
        for split in ("train", "test")
    }
    untested = sorted(asked["train"] - asked["test"])
    if not untested or not asked["test"]:  # a dataset without test is not for testing
        return {}, ""
    return {"untested": untested}, f"warning: in train, but not in test: {', '.join(untested)}"


COLUMNS = Columns(
    items=LONG_FORM,
    tables={"labels.parquet": LABELS, "statements.parquet": STATEMENTS},
    meanings={
        "structure": "Anatomical structure the answer is about",
        "level": "Level of the abnormality (see README.md)",
        "question_type": "finding, adequacy, presence, severity or unmentioned",
        "statement_seen": "Whether the statement that decides this item also decides an item of "
        "train; case, numbers, units and spelling aside",
        "nearest_in_train": "How like that statement is to the nearest of train, 0 to 1",
        "study_id": "Id of the study as given",
        "abnormality": "Abnormality that is labelled",
        "explicit": "Whether the report says so itself (true) or it was inferred (false)",
        "hedged": "Whether the report hedges (possible, cannot exclude)",
        "phase": "baseline, or a phase after an intervention",
        "section": "Section of the report the finding stands in",
        "prosthesis": "Whether the finding is about a prosthesis",
    },
    checks=_checks,
    told=_told,
    spans={"data": "source_id", "labels.parquet": "study_id"},
    counted=("studies",),
    beside=ITEM_REASONS,
)
