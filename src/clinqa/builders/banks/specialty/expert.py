"""Questions with an expert's labels: the classifier learns from them, votes are held to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clinqa.builders.banks.gather import alikes, content_order
from clinqa.core.cells import read_cell
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.records import Reject
from clinqa.core.small_tables import text_of
from clinqa.packs.specialties import Specialties, fold
from clinqa.sources.banks import BankItem, BankOptions, open_banks
from clinqa.sources.banks.bank_item import matching_text

__all__ = ["Expert", "match", "read_expert", "with_aliases"]


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


def with_aliases(pack: Specialties, path: Path | None) -> Specialties:
    """The pack with a house's own names of specialties: their name, a tab and ours, a line each.

    ConfigError, with the line, for a target that is no specialty, for a name that the pack has for
    another one or that stands twice with two meanings, and for a line of no two cells.
    """
    if path is None:
        return pack
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    lines = text_of(path, data, error=ConfigError)[0].splitlines()
    names = dict(pack.by_name)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        alias, _, target = (read_cell(cell.strip()) for cell in line.partition("\t"))
        label = pack.resolve(target)
        if not fold(alias) or not target or "\t" in target:
            raise ConfigError(f"{path}:{number}: a name, a tab and a specialty are expected")
        if label is None:
            raise ConfigError(f"{path}:{number}: the second cell is no specialty of the pack")
        if names.setdefault(fold(alias), label) != label:
            raise ConfigError(f"{path}:{number}: the name stands for {names[fold(alias)]} already")
    return replace(pack, by_name=names)


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
