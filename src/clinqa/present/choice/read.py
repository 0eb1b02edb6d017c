"""Scores of multiple-choice items as the page needs them; what was edited since is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import SourceError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest
from clinqa.present.report.read import read_one

__all__ = ["READERS", "ChoiceRun", "Choices", "are_choices", "read_choices"]

LEFT_OUT = "unanswered: left out"
READERS: Mapping[str, str] = {
    "string": "string match",
    "first_token": "first token",
    "matcher": "trained matcher",
}
_GROUPS = ("biomedical", "general", "closed", "encoder", "baseline")


@dataclass(frozen=True, slots=True)
class ChoiceRun:
    """One run. `number` stands for it in charts; `look` is a class of the style."""

    id: str
    number: int
    label: str
    look: str
    about: Mapping[str, Any]

    @property
    def readers(self) -> Sequence[str]:
        """The ways in which it was read."""
        return [name for name in READERS if name in self.about["readers"]]


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything the page is made from; nothing here is text of a record."""

    runs: tuple[ChoiceRun, ...]
    figures: Mapping[tuple[str, str, str], Sequence[Figure]]  # run, metric, reader
    tests: tuple[PairedTest, ...]
    meta: Mapping[str, Any]
    manifest: Manifest
    data_class: str

    @property
    def reader(self) -> str:
        """The reading that decides the declared tests."""
        return str(self.meta["reader"])

    def reader_of(self, run: ChoiceRun) -> str:
        """The deciding reader, or the first that a run has."""
        return self.reader if self.reader in run.readers else run.readers[0]

    def figure(
        self, run: str, metric: str, reader: str, subset: Mapping[str, str] | None = None
    ) -> Figure | None:
        """A figure of one reading, unanswered prompts counted as wrong."""
        return self._figure(run, metric, reader, subset or {}, left_out=False)

    def accuracy_of_answered(self, run: str, reader: str) -> Figure | None:
        """The other convention: unanswered prompts left out."""
        return self._figure(run, "accuracy", reader, {}, left_out=True)

    def _figure(
        self, run: str, metric: str, reader: str, subset: Mapping[str, str], *, left_out: bool
    ) -> Figure | None:
        for figure in self.figures.get((run, metric, reader), ()):
            other = metric == "accuracy" and LEFT_OUT in figure.signature.split("|")
            if dict(figure.subset) == dict(subset) and other == left_out:
                return figure
        return None

    def subsets(self, metric: str, key: str) -> list[dict[str, str]]:
        """The subsets of a metric by one of their keys, each once and in the file's order."""
        found = {
            tuple(sorted(figure.subset.items()))
            for (_, name, _), figures in self.figures.items()
            if name == metric
            for figure in figures
            if key in figure.subset
        }
        return [dict(subset) for subset in sorted(found, key=_natural)]

    def label(self, run: str) -> str:
        """What a run is called."""
        return next((one.label for one in self.runs if one.id == run), run)


def _natural(subset: tuple[tuple[str, str], ...]) -> list[tuple[str, int, str]]:
    """Orders and numbers of options as numbers; what is fixed comes last."""
    return [(key, int(v) if v.isdigit() else 1 << 30, v) for key, v in subset]


def are_choices(folder: Path) -> bool:
    """Does a folder hold scores of multiple-choice items?"""
    try:
        meta = json.loads((folder / "scores.json").read_text(encoding="utf-8")).get("meta")
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(meta, dict) and meta.get("kind") == "multiple_choice"


def read_choices(folder: Path) -> Choices:
    """The scores of a SCORES folder."""
    read = read_one(folder)
    meta = read.meta
    try:
        runs = tuple(
            ChoiceRun(str(one["run"]), number, str(one["name"]), _look(one), one)
            for number, one in enumerate(meta["runs"], start=1)
        )
        meta["positions"], meta["agreement"], meta["matcher"], meta["dataset"]["options"]
        if not all(run.readers for run in runs) or str(meta["reader"]) not in READERS:
            raise KeyError("readers")
    except (KeyError, TypeError) as error:
        raise SourceError(f"{folder / 'scores.json'}: lacks a part; score again") from error
    figures: dict[tuple[str, str, str], list[Figure]] = {}
    for found in read.figures.values():
        for figure in found:
            parts = figure.signature.split("|")
            reader = parts[2] if len(parts) > 2 else ""
            figures.setdefault((figure.run, figure.metric, reader), []).append(figure)
    return Choices(runs, figures, read.tests, meta, read.manifests[0], read.data_class)


def _look(about: Mapping[str, Any]) -> str:
    group = about.get("group")
    return f"g-{group}" if group in _GROUPS else "g-none"
