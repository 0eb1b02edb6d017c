"""The table that a cross-specialty study stands on: who answered which question rightly, when.

One row a model, question and order of its options. It comes from runs, or from anywhere else as
CSV or Parquet with these columns; `group`, `arm` and `train_items` may be left out.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from clinqa.core.errors import SourceError
from clinqa.core.finished import Finished
from clinqa.core.inputs import scan_parquet
from clinqa.core.small_tables import delimiter_of, text_of
from clinqa.kinds.facets.judges import ByOrder

__all__ = ["ALL", "NONE", "RIGHT", "AskedOf", "read_table", "rows_of_run"]

#: What a row was trained on if not on one specialty: on all of the study's, or not at all.
ALL, NONE = "all", "none"

RIGHT = pa.schema(
    [
        ("arm", pa.string()),
        ("trained_on", pa.string()),
        # of the training; null for the model as it is
        ("seed", pa.int32()),
        ("train_items", pa.int32()),
        ("item_id", pa.string()),
        # near-duplicates are one group
        ("group", pa.string()),
        ("specialty", pa.string()),
        ("order", pa.int32()),
        # null where the model failed: the question is then left out for all
        ("right", pa.bool_()),
    ]
)

_NEEDED = ("trained_on", "seed", "item_id", "specialty", "order", "right")
_WORDS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@dataclass(frozen=True, slots=True)
class AskedOf:
    """Which model a run is of."""

    arms: Sequence[str]
    trained_on: str
    seed: int | None
    train_items: int | None


def rows_of_run(
    run: Finished, items: Mapping[str, Mapping[str, Any]], by_order: ByOrder, asked: AskedOf
) -> list[pa.Table]:
    """The rows of one run, a table an arm; `items` by id, `by_order` of their kind's `judges`."""
    columns: dict[str, list[Any]] = {name: [] for name in RIGHT.names}
    for item_id, order, right in by_order(run, items):
        item = items[item_id]
        values = (
            "", asked.trained_on, asked.seed, asked.train_items, item_id, item["group"],
            item["category"], order, right,
        )  # fmt: skip
        for name, value in zip(RIGHT.names, values, strict=True):
            columns[name].append(value)
    table = pa.table(columns, schema=RIGHT)
    return [
        table.set_column(0, "arm", pa.array([arm] * table.num_rows, pa.string()))
        for arm in asked.arms
    ]


_HEAD = 1 << 16  # letters by which the delimiter of a file is told


def read_table(path: Path) -> pl.DataFrame:
    """A table from a file, with all columns of RIGHT; SourceError for what lacks some."""
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            found = scan_parquet(path).collect()
        else:
            text, _ = text_of(path, path.read_bytes())
            mark = delimiter_of(text[:_HEAD])
            data = io.BytesIO(text.encode())
            found = pl.read_csv(data, infer_schema=False, separator=mark)
            called = {name.strip().casefold(): name for name in found.columns}
            own = [name for name in RIGHT.names if name not in found.columns and name in called]
            found = found.rename({called[name]: name for name in own})
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SourceError(f"{path}: cannot be read as CSV or Parquet") from error
    lacking = [name for name in _NEEDED if name not in found.columns]
    if lacking:
        raise SourceError(f"{path}: lacks the column {', '.join(lacking)}; it has a row a model, "
                          "question and order")  # fmt: skip
    if found.is_empty():
        raise SourceError(f"{path}: holds no rows")
    return _typed(path, found)


def _typed(path: Path, found: pl.DataFrame) -> pl.DataFrame:
    """The columns as RIGHT has them; where one is left out, what it then means."""
    defaults = {"arm": pl.lit("full"), "group": pl.col("item_id"), "train_items": pl.lit(None)}
    found = found.with_columns(
        [value.alias(name) for name, value in defaults.items() if name not in found.columns]
    )
    right = found["right"]
    if right.dtype != pl.Boolean:
        words = right.cast(pl.String).str.strip_chars().str.to_lowercase()
        made = words.replace_strict(_WORDS, default=None, return_dtype=pl.Boolean)
        odd = (made.is_null() & words.is_not_null() & (words != "")).sum()
        if odd:
            raise SourceError(f"{path}: {odd:,} cells of the column right are neither true nor "
                              "false (nor empty)")  # fmt: skip
        found = found.with_columns(made.alias("right"))
    nested = [name for name in RIGHT.names if found[name].dtype.is_nested()]
    if nested:
        raise SourceError(f"{path}: lists in the column {', '.join(nested)}")
    text_of = {name: pl.col(name).cast(pl.String).str.strip_chars() for name in RIGHT.names}
    texts = [text_of[name] for name in ("trained_on", "item_id", "specialty")]
    texts.append(text_of["arm"].fill_null(""))
    group = pl.coalesce(text_of["group"].replace("", None), text_of["item_id"])
    try:
        # a column with empty cells is one of decimal numbers in pandas: 0.0 is a seed
        numbers = [
            text_of[name]
            .str.replace(r"\.0+$", "")
            .replace(["", "NaN"], None)
            .cast(pl.Int32, strict=True)
            for name in ("seed", "train_items", "order")
        ]
        found = found.with_columns(*texts, group.alias("group"), *numbers).select(RIGHT.names)
    except pl.exceptions.PolarsError as error:
        raise SourceError(f"{path}: seed, order and train_items are whole numbers") from error
    empty = [
        name
        for name in ("trained_on", "item_id", "specialty", "order")
        if found[name].is_null().any() or (found[name].cast(pl.String) == "").any()
    ]
    if empty:
        raise SourceError(f"{path}: empty cells in {', '.join(empty)}")
    return found
