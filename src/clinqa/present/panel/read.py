"""Scores of true_false items as the page needs them; what was edited since is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clinqa.core.errors import SourceError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest
from clinqa.present.report.fairness.read import Audit, read_audit
from clinqa.present.report.read import read_one, same_dataset, strictest

__all__ = [
    "BY_PAIR",
    "BY_SOURCE",
    "LEFT_OUT",
    "WRONG",
    "Panel",
    "PanelRun",
    "is_panel",
    "read_panel",
]

BY_PAIR, BY_SOURCE = "clusters: pair", "clusters: source"
WRONG, LEFT_OUT = "unanswered: wrong", "unanswered: left out"
_GROUPS = ("biomedical", "general", "closed", "encoder", "baseline")


@dataclass(frozen=True, slots=True)
class PanelRun:
    """One run or ensemble. `number` stands for it in charts; `look` is a class of the style."""

    id: str
    number: int
    label: str
    look: str
    about: Mapping[str, Any]

    @property
    def is_vote(self) -> bool:
        """Is it an ensemble?"""
        return "members" in self.about


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything the page is made from; nothing here is text of a record."""

    runs: tuple[PanelRun, ...]
    figures: Mapping[tuple[str, str], Sequence[Figure]]
    tests: tuple[PairedTest, ...]
    meta: Mapping[str, Any]
    manifest: Manifest
    data_class: str
    audit: Audit | None = None

    @property
    def panel(self) -> Mapping[str, Any]:
        """What only several runs together show."""
        found: Mapping[str, Any] = self.meta["panel"]
        return found

    def figure(
        self, run: str, metric: str, how: str = WRONG, unit: str = BY_PAIR, **subset: str
    ) -> Figure | None:
        """A figure of one convention and one kind of cluster."""
        for figure in self.figures.get((run, metric), ()):
            parts = figure.signature.split("|")
            if dict(figure.subset) == subset and unit in parts:
                if how in parts or metric.startswith("status_"):
                    return figure
        return None

    def label(self, run: str) -> str:
        """What a run is called; the reference by its own name."""
        return next((one.label for one in self.runs if one.id == run), run)


def is_panel(folder: Path) -> bool:
    """Does a folder hold scores of true_false items?"""
    path = folder / "scores.json"
    try:
        meta = json.loads(path.read_text(encoding="utf-8")).get("meta")
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(meta, dict) and meta.get("kind") == "true_false"


def read_panel(folder: Path, audited: Path | None = None) -> Panel:
    """The panel of a SCORES folder, with an AUDIT of its dataset; as private as the stricter."""
    panel = _read(folder)
    if audited is None:
        return panel
    audit = read_audit(audited)
    same_dataset(audited, panel.meta["dataset"], audit.meta["dataset"])
    data_class = strictest([panel.data_class, audit.manifest.data_class])
    return replace(panel, audit=audit, data_class=data_class)


def _read(folder: Path) -> Panel:
    read = read_one(folder)
    meta = read.meta
    try:
        described = list(meta["runs"])
        runs = tuple(
            PanelRun(str(one["run"]), number, str(one["name"]), _look(one), one)
            for number, one in enumerate(described, start=1)
        )
        meta["panel"]["plane"], meta["dataset"]["pairs"], meta["family"]["metric"]
    except (KeyError, TypeError) as error:
        raise SourceError(f"{folder / 'scores.json'}: lacks a part; score again") from error
    figures: dict[tuple[str, str], list[Figure]] = {}
    for (run, metric, _), found in read.figures.items():
        figures.setdefault((run, metric), []).extend(found)
    return Panel(runs, figures, read.tests, meta, read.manifests[0], read.data_class)


def _look(about: Mapping[str, Any]) -> str:
    if str(about["model"]).startswith("encoder:"):
        return "g-encoder"
    group = about.get("group")
    return f"g-{group}" if group in _GROUPS else "g-none"
