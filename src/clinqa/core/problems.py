"""What a check of a dataset finds. Items are named by their id, never by their text."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Findings", "Problem"]

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it must be."""

    check: str
    """hash, missing, extra, schema, kind, unreadable, rows, totals, groups, ids, spans, manifest,
    source, labels, context, seen, statements"""
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.check}: {self.where}: {self.detail}"


@dataclass(slots=True)
class Findings:
    """Problems of one kind in one place, the first few by name and the rest by number."""

    check: str
    where: str
    what: str
    names: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, name: str) -> None:
        """One more."""
        self.total += 1
        if len(self.names) < _NAMED:
            self.names.append(name)

    def problems(self) -> list[Problem]:
        """One problem, or none."""
        if not self.total:
            return []
        more = f" and {self.total - len(self.names)} more" if self.total > len(self.names) else ""
        named = f": {', '.join(self.names)}{more}" if self.names else ""
        return [Problem(self.check, self.where, f"{self.what}{named}")]
