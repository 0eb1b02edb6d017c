"""The dataset writer: tables come in batch by batch, a dataset's files come out.

Until `finish` nothing is known of duplicates, conflicts, splits or what train holds, so the
batches are put aside in `PARTIAL/spool`. `finish` settles every study and then streams the pieces
into Parquet, one piece in memory at a time. All rows of one study stay adjacent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.builders.reports.ledger import OUT, Fate, Ledger
from clinqa.builders.reports.nearness import DistinctKeys, Nearness, nearness
from clinqa.core.arrays import Int8s, Ints, UInt64s
from clinqa.core.errors import CheckFailed
from clinqa.core.manifest import StageCounts
from clinqa.core.outfolder import make_folder, writing
from clinqa.core.records import Reject
from clinqa.dataset.itemids import id_numbers
from clinqa.dataset.parquet import ShardedWriter, write_table
from clinqa.dataset.splits import DEFAULT_CUTS, SPLITS
from clinqa.dataset.spool import Spool, encode, encoded_schema
from clinqa.dataset.written import repeated, rows_by_name, write_rejects
from clinqa.kinds.long_form.columns import LABELS, LONG_FORM, STATEMENTS

__all__ = ["BatchTables", "DatasetWriter", "SplitCounts", "WriteResult"]

_SEEN, _NEAREST = "statement_seen", "nearest_in_train"
_MADE = (_SEEN, _NEAREST)  # of all items together
_ITEMS_IN = pa.schema(
    [
        *(f for f in LONG_FORM if f.name not in _MADE),
        pa.field("study", pa.int32()),
        pa.field("statement_key", pa.uint64()),
    ]
)
_DRAW = pa.field("draw", pa.uint64())
_ALL_DRAWN = 1 << 64
_WRITTEN = [name for name in LONG_FORM.names if name not in _MADE]
_LABELS_IN = pa.schema([*LABELS, pa.field("study", pa.int32())])
_OCCURRENCES = pa.schema([("study", pa.int32()), ("statement", pa.int32())])
_REPEATED = repeated(LONG_FORM)
_LABELS_REPEATED = repeated(LABELS)


@dataclass(frozen=True, slots=True)
class BatchTables:
    """What one batch of reports became. `study` columns are row numbers in `studies`.

    studies      study_id, group (never null), digest (16 bytes of the text's hash), row, and
                 `part` if the input can name several text columns
    items        LONG_FORM without what train says, and `study`, `statement_key` (uint64: which
                 template decided; null where none did); with `drawn_share` also `draw` (uint64,
                 random by content; null where the item stays in any case)
    labels       LABELS and `study`
    occurrences  `study`, `statement` (row number in the table of statements given to `finish`)
    templates    the folded statement of each `statement_key`
    """

    studies: pa.Table
    items: pa.Table
    labels: pa.Table
    occurrences: pa.Table
    rejects: Sequence[Reject] = ()
    templates: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """One split; `seen` counts items whose statement also decides an item of train."""

    groups: int
    studies: int
    items: int
    seen: int


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What was written, in numbers that reconcile, for manifest, card and Croissant."""

    counts: Mapping[str, StageCounts]
    """Of studies and items."""
    splits: Mapping[str, SplitCounts]
    rows: Mapping[str, int]
    """Rows of each Parquet file, by its name inside the folder."""
    levels: Mapping[tuple[str, int], int]
    """Items by (category, level); those without a level are not among them."""
    rejects: Mapping[str, int]
    """Rows of rejects.parquet by reason, of studies and of single labels."""
    alike: Sequence[str] = ()
    """What is to be said of ids that are alike."""


class DatasetWriter:
    """See the module. `partial` is an empty folder of this run (`OutFolder.partial`)."""

    def __init__(
        self,
        partial: Path,
        *,
        seed: int,
        sample_subjects: int | None = None,
        drawn_share: float | None = None,
        private: bool,
    ) -> None:
        self._partial, self._private = partial, private
        self._seed, self._sample = seed, sample_subjects
        self._share = drawn_share
        self._items_in = _ITEMS_IN if drawn_share is None else _ITEMS_IN.append(_DRAW)
        self._ledger = Ledger()
        self._templates: dict[int, str] = {}
        self._spools_at = partial / "spool"
        with writing(partial):
            make_folder(self._spools_at, private=True)
        self._items = Spool(self._spools_at, "items", private=private)
        self._labels = Spool(self._spools_at, "labels", private=private)
        self._occurrences = Spool(self._spools_at, "occurrences", private=private)

    def add(self, batch: BatchTables) -> None:
        """Put one batch aside."""
        base = self._ledger.add(batch.studies, batch.rejects)
        self._templates.update(batch.templates)
        with writing(self._partial):
            self._items.add(_shifted(encode(batch.items, self._items_in, _REPEATED), base))
            self._labels.add(_shifted(encode(batch.labels, _LABELS_IN, _LABELS_REPEATED), base))
            self._occurrences.add(_shifted(encode(batch.occurrences, _OCCURRENCES, ()), base))

    def out_of_scope(self, reason: str, count: int) -> None:
        """Count records the source read and left out (another category, a row in error)."""
        self._ledger.out_of_scope(reason, count)

    def finish(self, statements: pa.Table) -> WriteResult:
        """Decide, and write the dataset's Parquet files into `partial`.

        `statements` holds structure, text, labels, method; count and studies are added here, over
        the studies kept. Raises CheckFailed if any count does not reconcile.
        """
        fate = self._ledger.settle(self._seed, self._sample, DEFAULT_CUTS)
        with writing(self._partial):
            make_folder(self._partial / "data", private=self._private)
            return self._write(fate, statements)

    def _write(self, fate: Fate, statements: pa.Table) -> WriteResult:
        rows: dict[Path, int] = {}
        limit, undrawn = self._draw_limit(fate)
        train_keys, other_keys, repeats, per_study = self._survey(fate, limit)
        near = nearness(self._templates, train_keys, other_keys)
        with ThreadPoolExecutor(1, "clinqa-writer") as beside:
            labels = beside.submit(self._write_labels, fate)
            splits, levels, item_rows = self._write_items(fate, near, repeats, limit)
            rows |= item_rows
            rows |= self._write_statements(fate, statements)
            rows |= labels.result()
        items = _item_counts(fate, per_study, repeats, undrawn, splits)
        for spool in (self._items, self._labels, self._occurrences):
            spool.remove()
        self._spools_at.rmdir()
        named = rows_by_name(self._partial, rows)
        named |= write_rejects(self._partial, fate.rejects, private=self._private)
        return WriteResult(
            counts={"studies": fate.counts, "items": items},
            splits=splits,
            rows=named,
            levels=levels,
            rejects=Counter(r.reason.value for r in fate.rejects),
            alike=fate.alike,
        )

    def _draw_limit(self, fate: Fate) -> tuple[int, int]:
        """The draw below which an item stays, and how many kept studies' items do not: those
        with the lowest draws stay, until they are the share of all items that was asked for."""
        if self._share is None:
            return _ALL_DRAWN, 0
        others = 0
        found: list[UInt64s] = []
        for piece in self._items.read(["study", "draw"]):
            own = piece["draw"].filter(pa.array(fate.split[piece["study"].to_numpy()] != OUT))
            others += own.null_count
            found.append(own.drop_null().to_numpy())
        draws = np.concatenate(found) if found else np.empty(0, np.uint64)
        wanted = round(others * self._share / (1 - self._share))
        if wanted >= len(draws):
            return _ALL_DRAWN, 0
        limit = int(np.partition(draws, wanted)[wanted])
        return limit, int((draws >= limit).sum())

    def _survey(self, fate: Fate, limit: int) -> tuple[UInt64s, UInt64s, UInt64s, Ints]:
        """One pass over ids and keys: train's keys, the others', ids that occur twice, items a
        study."""
        per_study = np.zeros(self._ledger.size, dtype=np.int64)
        ids = np.empty(self._items.rows, dtype=np.uint64)
        used = 0
        keys = DistinctKeys(), DistinctKeys()
        columns = [
            name
            for name in ("id", "study", "statement_key", "draw")
            if name in self._items_in.names
        ]
        for piece in self._items.read(columns):
            study = piece["study"].to_numpy()
            per_study += np.bincount(study, minlength=len(per_study))
            split = _drawn(piece, fate.split[study], limit)
            own = id_numbers(piece["id"])[split != OUT]
            ids[used : used + len(own)] = own
            used += len(own)
            for kept, among in zip(keys, (split == 0, (split != 0) & (split != OUT)), strict=True):
                kept.add(piece["statement_key"].filter(pa.array(among)).drop_null().to_numpy())
        ids = ids[:used]
        ids.sort()
        repeats = np.unique(ids[1:][ids[1:] == ids[:-1]])
        train, others = (kept.distinct() for kept in keys)
        return train, np.setdiff1d(others, train), repeats, per_study

    def _write_items(
        self,
        fate: Fate,
        near: Nearness,
        repeats: UInt64s,
        limit: int,
    ) -> tuple[dict[str, SplitCounts], dict[tuple[str, int], int], dict[Path, int]]:
        schema = encoded_schema(LONG_FORM, _REPEATED)
        files = [
            ShardedWriter(self._partial / "data", name, schema, private=self._private)
            for name in SPLITS
        ]
        seen = Counter[str]()
        levels = Counter[tuple[str, int]]()
        met: set[int] = set()
        for piece in self._items.read():
            split = _drawn(piece, fate.split[piece["study"].to_numpy()], limit)
            if len(repeats):
                split = _without_repeats(piece["id"], split, repeats, met)
            table = piece.select(_WRITTEN)
            for told, column in zip(_MADE, near.of(piece["statement_key"]), strict=True):
                table = table.append_column(told, column)
            for number, (name, file) in enumerate(zip(SPLITS, files, strict=True)):
                part = table.filter(pa.array(split == number))
                seen[name] += pc.sum(part[_SEEN]).as_py() or 0
                levels.update(_level_counts(part))
                file.write(part)
        rows: dict[Path, int] = {}
        splits = {}
        for name, file in zip(SPLITS, files, strict=True):
            rows |= file.close()
            splits[name] = SplitCounts(fate.groups[name], fate.studies[name], file.rows, seen[name])
        return splits, dict(sorted(levels.items())), rows

    def _write_labels(self, fate: Fate) -> dict[Path, int]:
        schema = encoded_schema(LABELS, _LABELS_REPEATED)
        file = ShardedWriter(self._partial, "labels", schema, private=self._private, sharded=False)
        for piece in self._labels.read():
            keep = fate.split[piece["study"].to_numpy()] != OUT
            table = piece if keep.all() else piece.filter(pa.array(keep))
            file.write(table.drop_columns(["study"]))
        return file.close()

    def _write_statements(self, fate: Fate, statements: pa.Table) -> dict[Path, int]:
        size = statements.num_rows
        count = np.zeros(size, dtype=np.int64)
        studies = np.zeros(size, dtype=np.int64)
        for piece in self._occurrences.read():
            study, number = piece["study"].to_numpy(), piece["statement"].to_numpy()
            keep = fate.split[study] != OUT
            study, number = study[keep].astype(np.int64), number[keep]
            if len(number) and int(number.max()) >= size:
                raise CheckFailed("an occurrence names a statement that is not in the table")
            count += np.bincount(number, minlength=size)
            # A study's statements all come in one piece, so pairs are distinct within it.
            pairs = np.sort(study * size + number)
            pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
            studies += np.bincount(pairs % size, minlength=size) if size else 0
        table = statements.append_column("count", pa.array(count))
        table = table.append_column("studies", pa.array(studies)).filter(pa.array(count > 0))
        table = table.select(STATEMENTS.names).cast(STATEMENTS)
        order = [("structure", "ascending"), ("text", "ascending")]
        table = table.take(pc.sort_indices(table, sort_keys=order))
        return write_table(
            self._partial / "statements.parquet", table, STATEMENTS, private=self._private
        )


def _drawn(piece: pa.Table, split: Int8s, limit: int) -> Int8s:
    """The split of each item, those left out by their draw too."""
    if limit == _ALL_DRAWN:
        return split
    stays = pc.fill_null(pc.less(piece["draw"], pa.scalar(limit, pa.uint64())), True)
    return np.where(stays.to_numpy(), split, np.int8(OUT))


def _shifted(table: pa.Table, base: int) -> pa.Table:
    index = table.schema.get_field_index("study")
    return table.set_column(index, "study", pc.add(table["study"], pa.scalar(base, pa.int32())))


def _without_repeats(
    ids: pa.ChunkedArray,
    split: Int8s,
    repeats: UInt64s,
    met: set[int],
) -> Int8s:
    """Leave out all but the first of the items that share an id; `met` remembers across pieces."""
    split = split.copy()
    numbers = id_numbers(ids)
    for position in np.flatnonzero(np.isin(numbers, repeats) & (split != OUT)):
        number = int(numbers[position])
        if number in met:
            split[position] = OUT
        met.add(number)
    return split


def _level_counts(table: pa.Table) -> dict[tuple[str, int], int]:
    # Chunks may have different dictionaries, so the same category can come up twice.
    counted = Counter[tuple[str, int]]()
    for chunk in table.select(["category", "level"]).to_batches():
        grouped = pa.table(chunk).group_by(["category", "level"]).aggregate([([], "count_all")])
        for row in grouped.to_pylist():
            if row["level"] is not None:  # an item on what the report does not mention has none
                counted[(row["category"], row["level"])] += row["count_all"]
    return counted


def _item_counts(
    fate: Fate,
    per_study: Ints,
    repeats: UInt64s,
    undrawn: int,
    splits: Mapping[str, SplitCounts],
) -> StageCounts:
    """Items by what became of them; an item goes the way of its study."""
    by_state = fate.items_in_state(per_study)
    kept = sum(split.items for split in splits.values())
    repeated = int(by_state["kept"]) - undrawn - kept
    scopes = {"not_sampled": int(by_state["out_of_scope"]), "not_drawn": undrawn}
    if bool(repeated) != bool(len(repeats)):
        raise CheckFailed(f"items: {repeated} left out as repeated, {len(repeats)} repeated ids")
    counts = StageCounts(
        read=int(per_study.sum()),
        kept=kept,
        rejected=int(by_state["rejected"]),
        duplicates=int(by_state["duplicates"]) + repeated,
        out_of_scope=sum(scopes.values()),
        rejected_by_reason={"study_rejected": int(by_state["rejected"])}
        if by_state["rejected"]
        else {},
        out_of_scope_by_reason={reason: n for reason, n in scopes.items() if n},
    )
    counts.check("items")
    return counts
