"""How the labels of two builds of the studies differ: made by `dataset`, drawn by `present`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["AbnormalityChange", "Comparison"]


@dataclass(frozen=True, slots=True)
class AbnormalityChange:
    """One abnormality over the shared studies.

    `matrix` is (before, after, studies); None there means no label.

    `agreement` and `kappa` take "no label" for a level of its own; the `_labelled` pair looks at
    the studies that both builds label. Kappa is None where one level fills both sides: chance
    agreement is then complete and kappa undefined.
    """

    abnormality: str
    same: int
    moved: int
    added: int
    removed: int
    agreement: float | None
    kappa: float | None
    agreement_labelled: float | None
    kappa_labelled: float | None
    matrix: tuple[tuple[int | None, int | None, int], ...]

    @property
    def changed(self) -> int:
        """Studies whose label moved, came or went."""
        return self.moved + self.added + self.removed


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two builds, A and B. `only_a` and `only_b` are studies that the other does not hold."""

    a: str
    b: str
    profile_a: str
    profile_b: str
    data_class: str
    shared: int
    only_a: int
    only_b: int
    abnormalities: tuple[AbnormalityChange, ...]
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> int:
        """Labels that moved, came or went, over all abnormalities."""
        return sum(row.changed for row in self.abnormalities)

    def as_json(self) -> dict[str, Any]:
        """One object for `--json`; a matrix is a list of [before, after, studies]."""
        return {**asdict(self), "changed": self.changed}
