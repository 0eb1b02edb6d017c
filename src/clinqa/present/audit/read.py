"""An AUDIT folder read and checked: gaps that could be scores do not come through.

A mean absolute deviation can't be larger than the highest group score less the lowest. A table of
gaps into which scores were pasted breaks that, and is refused.
Records of a JSON file that may have been edited are read so that each value has its field's type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from clinqa.core.errors import CheckFailed, SourceError
from clinqa.core.figures import Figure, GapPair, signed
from clinqa.core.finished import Finished, FolderKind, mark_of, open_finished
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import MANIFEST

__all__ = ["GAP", "Audit", "AuditGap", "AuditedMetric", "is_audit", "read_audit", "record_of"]

_Record = TypeVar("_Record")


def _number(value: Any) -> float | None:
    """A finite number or None: JSON has no NaN, and a page that prints one is wrong."""
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else None


def _words(value: Any) -> dict[str, str]:
    return {str(key): str(one) for key, one in (value or {}).items()}


_READ: Mapping[Any, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": _number,
    "Mapping[str, str]": _words,
}


def record_of(kind: type[_Record], entry: Mapping[str, Any]) -> _Record:
    """The record; KeyError, TypeError, ValueError or AttributeError where the entry holds none.

    >>> from clinqa.core.figures import PairedTest
    >>> test = {"a": "x", "b": "y", "metric": "f1", "difference": 1, "low": 0, "high": 2, "p": 0.1}
    >>> record_of(PairedTest, test).difference
    1.0
    """
    made = {}
    for field in fields(kind):  # type: ignore[arg-type]  # of dataclasses
        if field.name in entry or (field.default, field.default_factory) == (MISSING, MISSING):
            made[field.name] = _READ[field.type](entry[field.name])
    return kind(**made)


AUDIT, VERB = "audit.json", "audit"
GAP = "equality_difference"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class AuditGap:
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

    scores: tuple[Figure, ...]
    gaps: tuple[AuditGap, ...]
    meta: Mapping[str, Any]
    finished: Finished
    gap_pairs: tuple[GapPair, ...] = ()

    @property
    def manifest(self) -> Manifest:
        """What the folder says of itself."""
        return self.finished.manifest

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
        return str(self.meta["settings"].get("strata", "what was asked"))

    def labels(self) -> dict[str, str]:
        """What each run is called; by its folder where two would be called alike."""
        plain = {str(r["run"]): f"{r['model']}, {r['shots']}-shot" for r in self.meta["runs"]}
        names = {str(r["run"]): str(r["name"]) for r in self.meta["runs"]}
        said = list(plain.values())
        return {
            run: label if said.count(label) == 1 and len(label) <= 48 else names[run]
            for run, label in plain.items()
        }

    def gap(self, run: str, dimension: str, metric: str, measure: str = GAP) -> AuditGap | None:
        """One measure."""
        wanted = run, dimension, metric, measure
        found = (g for g in self.gaps if (g.run, g.dimension, g.metric, g.measure) == wanted)
        return next(found, None)

    def gaps_of(self, metric: str) -> list[AuditGap]:
        """The gaps of a metric."""
        return [gap for gap in self.gaps if (gap.metric, gap.measure) == (metric, GAP)]

    def of_group(self, run: str, dimension: str, metric: str, group: str) -> Figure | None:
        """The score (or deviation) of a group; no value where it is withheld."""
        subset = {"dimension": dimension, "group": group}
        found = (s for s in self.scores if (s.run, s.metric, s.subset) == (run, metric, subset))
        return next(found, None)

    def worst(self, gap: AuditGap) -> Figure | None:
        """The group for which a run fares worst."""
        wanted = gap.run, f"{gap.metric}_worst_group", gap.dimension
        found = (s for s in self.scores if (s.run, s.metric, s.subset.get("dimension")) == wanted)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class AuditedMetric:
    """One metric of an audit: its name, and what its runs are called and look like."""

    audit: Audit
    metric: str
    name: str
    labels: Mapping[str, str]
    looks: Mapping[str, str]

    @property
    def key(self) -> str:
        """The metric as part of an id."""
        return self.metric.replace("_", "-")

    def gap(self, run: str, dimension: Mapping[str, Any], measure: str = GAP) -> AuditGap | None:
        """A measure of it."""
        return self.audit.gap(run, str(dimension["name"]), self.metric, measure)


def is_audit(folder: Path) -> bool:
    """Did clinqa audit make this folder?"""
    path = folder / MANIFEST
    return path.is_file() and Manifest.read(path).verb == VERB


_KIND = FolderKind("audit", "clinqa audit", "audit again", (VERB,))


def read_audit(folder: Path, *, accept: bool = False) -> Audit:
    """The audit in a folder; an error unless it is as clinqa audit wrote it."""
    finished, path = open_finished(folder, _KIND, accept=accept), folder / AUDIT
    data = finished.json(AUDIT, SourceError)
    try:
        scores = tuple(record_of(Figure, entry) for entry in data["figures"])
        gaps = tuple(
            record_of(AuditGap, {**entry, "repeats": len(entry["repeats"])})
            for entry in data["gaps"]
        )
        pairs = tuple(record_of(GapPair, entry) for entry in data.get("gap_pairs", ()))
        meta = data["meta"]
        for key in ("runs", "dimensions", "metrics", "settings", "excluded", "pareto"):
            meta[key]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path}: lacks or garbles a key; audit again") from error
    _check_gaps(path, gaps)
    mark = mark_of(list(finished.changed.values()))
    return Audit(
        tuple(signed(one, mark) for one in scores),
        tuple(signed(one, mark) for one in gaps),
        meta,
        finished,
        tuple(signed(one, mark) for one in pairs),
    )


def _check_gaps(path: Path, gaps: Sequence[AuditGap]) -> None:
    if not all(gap.signature.startswith(f"gap|{gap.measure}|") for gap in gaps):
        raise CheckFailed(f"{path}: a figure that is no gap stands among the gaps; audit again")
    values = {(gap.run, gap.dimension, gap.metric, gap.measure): gap.value for gap in gaps}
    for (run, dimension, metric, measure), value in values.items():
        widest = run, dimension, metric, "max_min_gap"
        limit = values.get(widest) if measure == GAP else None
        if value is not None and limit is not None and value > limit + _ROUNDING:
            raise CheckFailed(
                f"{path}: a mean deviation is larger than the highest score less the lowest: it is "
                "no gap (a score, perhaps); audit again"
            )
