"""From files of banks to distinct questions: what repeats, what contradicts, what is alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pyarrow as pa

from clinqa.builders.banks.bank_options import NEAR
from clinqa.core.alike_ids import told_alike
from clinqa.core.ids import stable_hash
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.dataset.near_duplicates import clusters, near_duplicates
from clinqa.dataset.splits import SPLITS, split_groups
from clinqa.sources.banks import BankFile, BankItem
from clinqa.sources.banks.bank_item import matching_text

__all__ = [
    "NEAR_COLUMNS",
    "Alikes",
    "Gathered",
    "alikes",
    "content_order",
    "gather",
    "groups_and_splits",
]

STAGE = "gather"
_HELD_OUT = {"": 0, "train": 1, "validation": 2, "test": 3}
#: Questions with their options are alike from this share of common words on.

NEAR_COLUMNS = pa.schema(
    [
        ("source_id", pa.string()),
        ("split", pa.string()),
        ("other", pa.string()),
        ("other_split", pa.string()),
        ("similarity", pa.float64()),
        ("same_answer", pa.bool_()),
    ]
)


@dataclass(slots=True)
class Gathered:
    """The distinct questions in the order of their ids, and what became of the others."""

    items: list[BankItem]
    rejects: list[Reject]
    read: int
    duplicates: int
    beyond_limit: int = 0
    broken: list[str] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)  # what is to be said of ids that are alike

    def counts(self, off_topic: int = 0) -> StageCounts:
        """What became of all records, of which so many are not what the dataset is about."""
        aside = {"limit": self.beyond_limit, "off_topic": off_topic}
        return StageCounts(
            read=self.read + self.beyond_limit,
            kept=len(self.items) - off_topic,
            rejected=len(self.rejects),
            duplicates=self.duplicates,
            out_of_scope=sum(aside.values()),
            rejected_by_reason=Counter(one.reason.value for one in self.rejects),
            out_of_scope_by_reason={name: n for name, n in aside.items() if n},
        )


def gather(files: Sequence[BankFile], limit: int | None = None) -> Gathered:
    """Read the files. The same question under the same id is kept once: where it stands in two
    splits, the one held out (test, then validation) is kept, so that it cannot leak.

    One id over different questions of different splits counts within its split alone; within one
    split it says that the ids are none, and all of them are rejected.
    """
    rejects: list[Reject] = []
    by_id: dict[str, dict[tuple[object, ...], BankItem]] = defaultdict(dict)
    read = duplicates = beyond = 0
    broken = []
    for file in files:
        left = None if limit is None else max(0, limit - read)
        for made in file.items(left):
            read += 1
            if isinstance(made, Reject):
                rejects.append(made)
                if made.reason == Reason.BROKEN_FILE:
                    broken.append(f"{file.path.name} {made.detail}")
                continue
            what = (matching_text(made.question), made.options, made.answer_index)
            own = by_id[made.source_id]
            other = own.get(what)
            duplicates += other is not None
            if other is None or _HELD_OUT[made.split] > _HELD_OUT[other.split]:
                own[what] = made
        if limit is not None:
            beyond += max(0, file.records - (left or 0))
    items: list[BankItem] = []
    for source_id, versions in sorted(by_id.items()):
        told = list(versions.values())
        if len(told) > 1 and len({one.split for one in told}) == len(told):
            items += [replace(one, item_id=f"{one.split}/{one.item_id}") for one in told]
        elif len(told) > 1:
            rejects += [
                Reject(STAGE, Reason.CONFLICTING_ITEM_ID, source_id, row=one.row) for one in told
            ]
        else:
            items += told
    items.sort(key=lambda item: item.source_id)
    names = (next(iter(one.values())) for one in by_id.values())
    alike = told_alike("", questions=((one.bank, one.item_id) for one in names))
    return Gathered(items, rejects, read, duplicates, beyond, broken, alike)


@dataclass(frozen=True, slots=True)
class Alikes:
    """Near-duplicates: the cluster of each question by its first member, and the pairs."""

    cluster: Sequence[int]
    table: pa.Table
    across: Mapping[tuple[str, str], int]
    """Pairs between two places ("bank split"), those within one place too."""

    @property
    def leaks(self) -> int:
        """Pairs whose two questions stand in different splits."""
        splits, others = self.table["split"].to_pylist(), self.table["other_split"].to_pylist()
        return sum(a != b and bool(a) and bool(b) for a, b in zip(splits, others, strict=True))


def alikes(items: Sequence[BankItem], threshold: float = NEAR) -> Alikes:
    """Near-duplicates over all banks and splits; copies of one question are told once each."""
    texts = [f"{matching_text(item.question)} {' '.join(item.options)}" for item in items]
    found = near_duplicates(texts, threshold)
    first: dict[int, int] = {}
    members: dict[int, list[int]] = defaultdict(list)
    for place, own in enumerate(found.set_of.tolist()):
        if own >= 0:
            first.setdefault(own, place)
            members[own].append(place)
    pairs = [(a, b, 1.0) for own in members.values() for a, b in pairwise(own)]
    for left, right, similarity in zip(
        found.left.tolist(), found.right.tolist(), found.similarity.tolist(), strict=True
    ):
        a, b = sorted((first[left], first[right]))
        pairs.append((a, b, similarity))
    across: Counter[tuple[str, str]] = Counter()
    rows = []
    for a, b, similarity in sorted(pairs):
        one, other = items[a], items[b]
        places = sorted((f"{one.bank} {one.split}".strip(), f"{other.bank} {other.split}".strip()))
        across[(places[0], places[1])] += 1
        same = matching_text(one.answer) == matching_text(other.answer)
        rows.append((one.source_id, one.split, other.source_id, other.split, similarity, same))
    columns = list(zip(*rows, strict=True)) or [()] * len(NEAR_COLUMNS)
    table = pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, NEAR_COLUMNS, strict=True)],
        schema=NEAR_COLUMNS,
    )
    return Alikes(clusters(found).tolist(), table, dict(across))


def groups_and_splits(
    items: Sequence[BankItem], cluster: Sequence[int], seed: int
) -> tuple[list[str], list[str]]:
    """The group and the split of each question.

    A bank's own split is kept. Questions without one go where what is like them is, else by the
    seed, a cluster at a time. A group is a cluster within one split, so that it never crosses.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for place, own in enumerate(cluster):
        members[own].append(place)
    names = {own: min(items[at].source_id for at in places) for own, places in members.items()}
    free = [
        names[own] for own, places in members.items() if not any(items[at].split for at in places)
    ]
    drawn = split_groups(free, seed)
    groups, splits = [""] * len(items), [""] * len(items)
    for own, places in members.items():
        told = Counter(items[at].split for at in places if items[at].split)
        if told:
            most = max(told.values())
            rest = next(split for split in SPLITS if told[split] == most)
        else:
            rest = SPLITS[drawn[names[own]]]
        for at in places:
            splits[at] = items[at].split or rest
            groups[at] = f"{splits[at]}:{names[own]}"
    return groups, splits


def content_order(items: Sequence[BankItem], seed: int) -> list[int]:
    """The questions in an order of their content alone."""
    keys = [(stable_hash(seed, "order", i.source_id, i.question), i.source_id) for i in items]
    return sorted(range(len(items)), key=keys.__getitem__)
