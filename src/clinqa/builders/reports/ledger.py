"""What becomes of every study that was read: kept, rejected, a duplicate, or not sampled.

The outcome depends on what was read, never on the order in which it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa

from clinqa.core.alike_ids import told_alike
from clinqa.core.arrays import Int8s, Ints
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.dataset.splits import SPLITS, sample_groups, split_groups
from clinqa.kinds.long_form.columns import ITEM_REASONS

__all__ = ["NOT_SAMPLED", "OUT", "Fate", "Ledger"]

NOT_SAMPLED = "not_sampled"
OUT = -1
"""In `Fate.split`: a study that is not in the dataset."""

_KEPT, _REJECTED, _DUPLICATE, _NOT_SAMPLED = range(4)
_BOOKS = pa.schema(
    [
        ("study_id", pa.string()),
        ("group", pa.string()),
        ("digest", pa.binary(16)),
        ("row", pa.int64()),
        ("part", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Fate:
    """`split[i]` is the split of study i, or OUT; `state_counts` are per study position."""

    split: Int8s
    state: Int8s
    rejects: list[Reject]
    counts: StageCounts
    groups: Mapping[str, int]
    """The number of groups in train, validation and test."""
    studies: Mapping[str, int]
    alike: Sequence[str] = ()
    """What is to be said of ids that are alike."""

    def items_in_state(self, per_study: Ints) -> dict[str, int]:
        """How many of something studies have, by what became of the study."""
        sums = np.bincount(self.state, weights=per_study, minlength=4).astype(np.int64)
        return dict(zip(("kept", "rejected", "duplicates", "out_of_scope"), sums, strict=True))


class Ledger:
    """Collects studies and rejects batch by batch; `settle` decides."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._of_study: dict[int, list[Reject]] = {}
        self._beside: list[Reject] = []
        self._out_of_scope: Counter[str] = Counter()
        self.size = 0

    def add(self, studies: pa.Table, rejects: Iterable[Reject]) -> int:
        """Enter a batch; gives the position of its first study among all studies."""
        base = self.size
        self._tables.append(_ledger_columns(studies))
        self.size += studies.num_rows
        self._enter_rejects(studies, list(rejects), base)
        return base

    def out_of_scope(self, reason: str, count: int) -> None:
        """Count records that were read and are not what the dataset is about."""
        self._out_of_scope[reason] += count

    def _enter_rejects(self, studies: pa.Table, rejects: Sequence[Reject], base: int) -> None:
        if not rejects:
            return
        # A reject belongs to the study of its id and row in its own batch. An empty row that
        # repeats a study's id elsewhere is a record of its own.
        at: dict[tuple[str, int | None], int] = {}
        names = studies["study_id"].to_pylist()
        for position, (name, row) in enumerate(zip(names, studies["row"].to_pylist(), strict=True)):
            at.setdefault((name, row), base + position)
            at.setdefault((name, None), base + position)
        for reject in rejects:
            position_or_none = at.get((reject.source_id, reject.row))
            if position_or_none is None:
                self._beside.append(reject)
            else:
                self._of_study.setdefault(position_or_none, []).append(reject)

    def settle(self, seed: int, sample_subjects: int | None, cuts: Sequence[float]) -> Fate:
        """Decide over everything entered. Raises CheckFailed if the counts do not reconcile."""
        table = pa.concat_tables([_BOOKS.empty_table(), *self._tables])
        state = np.zeros(self.size, dtype=np.int8)
        rejects = [*self._beside, *_conflict_rejects(table, _find_repeats(table, state))]
        for position in sorted(self._of_study):
            if state[position] != _KEPT:
                continue  # a duplicate, whose twin has the same rejects, or a conflict
            ending = [r for r in self._of_study[position] if r.reason not in ITEM_REASONS]
            if ending:
                state[position] = _REJECTED
                rejects.append(ending[0])
        groups = table["group"].combine_chunks().dictionary_encode()
        codes = groups.indices.to_numpy()
        names: list[str] = groups.dictionary.to_pylist()
        kept_codes = np.unique(codes[state == _KEPT])
        kept_names = [names[code] for code in kept_codes]
        if sample_subjects is not None:
            chosen = sample_groups(kept_names, seed, sample_subjects)
            chosen_code = np.fromiter((n in chosen for n in names), bool, count=len(names))
            state[(state == _KEPT) & ~chosen_code[codes]] = _NOT_SAMPLED
            kept_names = [name for name in kept_names if name in chosen]
        places = split_groups(kept_names, seed, cuts)
        split_of_code = np.fromiter((places.get(n, OUT) for n in names), np.int8, count=len(names))
        split = np.where(state == _KEPT, split_of_code[codes], np.int8(OUT)).astype(np.int8)
        rejects += [
            reject
            for position, own in sorted(self._of_study.items())
            if state[position] == _KEPT
            for reject in own
        ]
        return Fate(
            split,
            state,
            rejects,
            self._counts(state, rejects),
            _by_split(places.values()),
            _by_split(split[split != OUT].tolist()),
            _alike(table, names),
        )

    def _counts(self, state: Int8s, rejects: Sequence[Reject]) -> StageCounts:
        by_state = np.bincount(state, minlength=4)
        beside = sum(reject.reason not in ITEM_REASONS for reject in self._beside)
        scopes = self._out_of_scope + Counter({NOT_SAMPLED: int(by_state[_NOT_SAMPLED])})
        counts = StageCounts(
            read=self.size + beside + sum(self._out_of_scope.values()),
            kept=int(by_state[_KEPT]),
            rejected=int(by_state[_REJECTED]) + beside,
            duplicates=int(by_state[_DUPLICATE]),
            out_of_scope=sum(scopes.values()),
            # Counted from the rows that will be written, so that they are part of the check.
            rejected_by_reason=Counter(
                r.reason.value for r in rejects if r.reason not in ITEM_REASONS
            ),
            out_of_scope_by_reason=scopes,
        )
        counts.check("studies")
        return counts


def _alike(table: pa.Table, groups: Sequence[str]) -> list[str]:
    """Ids of studies, and of patients where they are not those of the studies."""
    studies = set(table["study_id"].unique().to_pylist())
    return told_alike("", patients=(one for one in groups if one not in studies), studies=studies)


def _ledger_columns(studies: pa.Table) -> pa.Table:
    if "part" not in studies.column_names:
        studies = studies.append_column("part", pa.nulls(studies.num_rows, pa.string()))
    return studies.select(_BOOKS.names).cast(_BOOKS)


def _find_repeats(table: pa.Table, state: Int8s) -> list[list[int]]:
    """Mark duplicates and conflicts in `state`; gives, for each conflict, one study a version.

    Which of several equal studies is kept: the one whose text column's name sorts first.
    """
    codes = table["study_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    repeated = np.flatnonzero(np.bincount(codes, minlength=1)[codes] > 1)
    if not len(repeated):
        return []
    rows = table.take(pa.array(repeated))
    keys = sorted(
        zip(
            codes[repeated].tolist(),
            rows["digest"].to_pylist(),
            rows["group"].to_pylist(),
            [part or "" for part in rows["part"].to_pylist()],
            repeated.tolist(),
            strict=True,
        )
    )
    conflicts = []
    for _, same_id in groupby(keys, key=lambda key: key[0]):
        versions = [
            [key[4] for key in version]
            for _, version in groupby(same_id, key=lambda key: (key[1], key[2]))
        ]
        for version in versions:
            state[version[1:]] = _DUPLICATE
        if len(versions) > 1:
            first = [version[0] for version in versions]
            state[first] = _REJECTED
            conflicts.append(first)
    return conflicts


def _conflict_rejects(table: pa.Table, conflicts: Sequence[Sequence[int]]) -> list[Reject]:
    rejects = []
    for versions in conflicts:
        rows = table.take(pa.array(versions)).to_pylist()
        texts, groups = (len({row[name] for row in rows}) for name in ("digest", "group"))
        what = f"{texts} texts" if texts > 1 else "one text"
        whose = f" of {groups} patients" if groups > 1 else ""
        for row in rows:
            place = (row["study_id"], row["part"] or "", None, row["row"])
            detail = f"{what}{whose} under this id"
            rejects.append(Reject("dataset", Reason.CONFLICTING_STUDY_ID, *place, detail))
    return rejects


def _by_split(places: Iterable[int]) -> dict[str, int]:
    tally = Counter(places)
    return {name: tally[i] for i, name in enumerate(SPLITS)}
