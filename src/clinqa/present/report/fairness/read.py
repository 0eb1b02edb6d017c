"""An AUDIT folder read and checked: gaps that could be scores do not come through.

A mean absolute deviation can't be larger than the highest group score less the lowest. A table of
gaps into which scores were pasted breaks that, and is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import CheckFailed, SourceError
from clinqa.core.manifest import Manifest, sha256_file

__all__ = ["Audit", "Gap", "GroupScore", "is_audit", "read_audit"]

AUDIT, MANIFEST, VERB = "audit.json", "manifest.json", "audit"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A score or deviation of one group; no value where it is withheld."""

    run: str
    metric: str
    dimension: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    signature: str


@dataclass(frozen=True, slots=True)
class Gap:
    """One measure of disparity, beside its null where it has one."""

    run: str
    dimension: str
    metric: str
    measure: str
    value: float | None
    expected: float | None
    excess: float | None
    null_low: float | None
    null_high: float | None
    p: float | None
    p_max: float | None
    low: float | None
    high: float | None
    sd: float | None
    repeats: int
    n: int
    clusters: int
    units: int
    signature: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything the page says of an audit; nothing here is of one patient."""

    scores: tuple[GroupScore, ...]
    gaps: tuple[Gap, ...]
    meta: Mapping[str, Any]
    manifest: Manifest

    @property
    def metrics(self) -> list[str]:
        """The audited metrics, in order."""
        return list(dict.fromkeys(gap.metric for gap in self.gaps))

    @property
    def dimensions(self) -> list[Mapping[str, Any]]:
        """What was compared, with groups and ranges."""
        return list(self.meta["dimensions"])

    @property
    def runs(self) -> list[str]:
        """The ids of the runs, in order."""
        return [str(run["run"]) for run in self.meta["runs"]]

    @property
    def who(self) -> str:
        """Whose attributes were audited: patients or documents."""
        return str(self.meta["settings"].get("who", "patients"))

    @property
    def strata(self) -> str:
        """Within what the standardised gap compares."""
        return str(self.meta["settings"].get("strata", "abnormality × level"))

    def labels(self) -> dict[str, str]:
        """What each run is called; by its folder where two would be called alike."""
        plain = {str(r["run"]): f"{r['model']}, {r['shots']}-shot" for r in self.meta["runs"]}
        names = {str(r["run"]): str(r["name"]) for r in self.meta["runs"]}
        said = list(plain.values())
        return {
            run: label if said.count(label) == 1 and len(label) <= 48 else names[run]
            for run, label in plain.items()
        }

    def gap(self, run: str, dimension: str, metric: str, measure: str) -> Gap | None:
        """One measure."""
        for gap in self.gaps:
            if (gap.run, gap.dimension, gap.metric, gap.measure) == (
                run, dimension, metric, measure,
            ):  # fmt: skip
                return gap
        return None

    def of_group(self, run: str, dimension: str, metric: str, group: str) -> GroupScore | None:
        """The score (or deviation) of a group."""
        for one in self.scores:
            if (one.run, one.dimension, one.metric, one.group) == (
                run, dimension, metric, group,
            ):  # fmt: skip
                return one
        return None

    def lower_is_better(self, metric: str) -> bool:
        """Is a low figure the good one?"""
        return any(m["metric"] == metric and m["lower"] for m in self.meta["metrics"])


def is_audit(folder: Path) -> bool:
    """Did clinqa audit make this folder?"""
    path = folder / MANIFEST
    return path.is_file() and Manifest.read(path).verb == VERB


def read_audit(folder: Path) -> Audit:
    """The audit in a folder; an error unless it is as clinqa audit wrote it."""
    manifest = Manifest.read(folder / MANIFEST)
    path = folder / AUDIT
    stated = {record.name: record.sha256 for record in manifest.outputs}
    if not path.is_file() or sha256_file(path) != stated.get(AUDIT):
        raise CheckFailed(f"{path}: not as it was made (SHA-256); audit again")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        scores = tuple(_score(entry) for entry in data["figures"])
        gaps = tuple(_gap(entry) for entry in data["gaps"])
        meta = data["meta"]
        for key in ("runs", "dimensions", "metrics", "settings", "excluded", "pareto"):
            meta[key]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path}: lacks or garbles a key; audit again") from error
    _check_gaps(path, gaps)
    return Audit(scores, gaps, meta, manifest)


def _check_gaps(path: Path, gaps: Iterable[Gap]) -> None:
    widest: dict[tuple[str, str, str], float] = {}
    by_measure: dict[str, Sequence[Gap]] = {}
    for gap in gaps:
        by_measure[gap.measure] = [*by_measure.get(gap.measure, []), gap]
        if not gap.signature.startswith(f"gap|{gap.measure}|"):
            raise CheckFailed(f"{path}: a figure that is no gap stands among the gaps; audit again")
    for gap in by_measure.get("max_min_gap", []):
        if gap.value is not None:
            widest[gap.run, gap.dimension, gap.metric] = gap.value
    for gap in by_measure.get("equality_difference", []):
        limit = widest.get((gap.run, gap.dimension, gap.metric))
        if gap.value is not None and limit is not None and gap.value > limit + _ROUNDING:
            raise CheckFailed(
                f"{path}: a mean deviation is larger than the highest score less the lowest: it is "
                "no gap (a score, perhaps); audit again"
            )


def _score(entry: Mapping[str, Any]) -> GroupScore:
    subset = entry["subset"]
    return GroupScore(
        run=str(entry["run"]),
        metric=str(entry["metric"]),
        dimension=str(subset.get("dimension", "")),
        group=str(subset.get("group", "")),
        value=_number(entry["value"]),
        low=_number(entry["low"]),
        high=_number(entry["high"]),
        n=int(entry["n"]),
        clusters=int(entry["clusters"]),
        signature=str(entry["signature"]),
    )


def _gap(entry: Mapping[str, Any]) -> Gap:
    numbers: dict[str, Any] = {
        name: _number(entry[name])
        for name in ("value", "expected", "excess", "null_low", "null_high", "p", "p_max", "low",
                     "high", "sd")
    }  # fmt: skip
    made: dict[str, Any] = {
        name: str(entry[name]) for name in ("run", "dimension", "metric", "measure", "signature")
    }
    counts: dict[str, Any] = {name: int(entry[name]) for name in ("n", "clusters", "units")}
    return Gap(**made, **numbers, **counts, repeats=len(entry["repeats"]))


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
