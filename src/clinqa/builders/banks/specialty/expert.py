"""Questions with an expert's labels: the classifier learns from them, votes are held to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.builders.banks.gather import alikes, content_order
from clinqa.core.errors import SourceError
from clinqa.core.records import Reject
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankItem, BankOptions, open_banks
from clinqa.sources.banks.bank_item import matching_text

__all__ = ["Expert", "match", "read_expert"]


@dataclass(frozen=True, slots=True)
class Expert:
    """Labelled questions in an order of their content. `gold` is the union of all annotators."""

    items: list[BankItem]
    gold: list[frozenset[str]]
    labels: list[str]  # what most annotators gave; of equals the one given first
    groups: list[str]  # near-duplicates together: the id of the first of them
    unknown: int  # records whose label is no specialty
    banks: frozenset[str]

    @property
    def classes(self) -> list[str]:
        """All labels that occur, in the order of the alphabet."""
        return sorted(set(self.labels))


def read_expert(
    paths: Sequence[Path], pack: Specialties, options: BankOptions | None = None, seed: int = 0
) -> Expert:
    """The labelled questions of these files; the same question in two files counts once.

    A file is one annotator or several: what they say of one question is put together.
    """
    files, problems = open_banks(paths, options)
    if problems:
        raise SourceError(f"the expert's file cannot be read: {'; '.join(problems)}")
    found: dict[str, BankItem] = {}
    said: dict[str, list[str]] = {}
    unknown = 0
    for file in files:
        if "specialty" not in file.layout.roles:
            raise SourceError(f"{file.path.name}: no column specialty, so it holds no labels")
        for item in file.items():
            if isinstance(item, Reject):
                continue
            resolved = [pack.resolve(one) for one in item.specialties]
            labels = [one for one in resolved if one is not None and one != pack.others]
            unknown += not labels
            if labels:
                key = matching_text(item.question)
                found.setdefault(key, item)
                said.setdefault(key, []).extend(labels)
    if not found:
        raise SourceError("the expert's file names no specialty that the pack knows")
    items = list(found.values())
    items = [items[at] for at in content_order(items, seed)]
    labels_of = [said[matching_text(item.question)] for item in items]
    cluster = alikes(items).cluster
    return Expert(
        items=items,
        gold=[frozenset(labels) for labels in labels_of],
        labels=[Counter(labels).most_common(1)[0][0] for labels in labels_of],
        groups=[items[own if own >= 0 else at].source_id for at, own in enumerate(cluster)],
        unknown=unknown,
        banks=frozenset(item.bank for item in items),
    )


def match(items: Sequence[BankItem], expert: Expert) -> dict[int, int]:
    """Which of the items the expert labelled: place among items → place in the expert's file.

    By id, else by the text of the question, stray quotes and case aside.
    """
    by_id = {item.source_id: at for at, item in enumerate(expert.items)}
    by_text = {matching_text(item.question): at for at, item in enumerate(expert.items)}
    found = {}
    for place, item in enumerate(items):
        at = by_id.get(item.source_id, by_text.get(matching_text(item.question)))
        if at is not None:
            found[place] = at
    return found
