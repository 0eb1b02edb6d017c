"""Five votes and what they decide. No majority is one outcome, the class "Others" another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clinqa.core.records import Reason
from clinqa.packs.specialties import Specialties

__all__ = ["VOTERS", "Vote", "VoteTally", "tally"]

VOTERS = 5


@dataclass(frozen=True, slots=True)
class Vote:
    """What one voter said: its label (None: no vote), and its reply as it came."""

    voter: str
    label: str | None
    raw: str
    why: str = ""  # why there is no vote: empty, none, ambiguous, or a model's error

    def as_struct(self) -> dict[str, str | None]:
        return {"voter": self.voter, "label": self.label, "raw": self.raw}


@dataclass(frozen=True, slots=True)
class VoteTally:
    """`label` and how many voted for it; None where no label has more votes than every other."""

    label: str | None
    count: int

    def decided(self, quorum: int) -> str | None:
        """The label, if so many voted for it."""
        return self.label if self.label is not None and self.count >= quorum else None

    def reason(self, quorum: int, others: str) -> Reason | None:
        """Why it is no item; None if it is one."""
        label = self.decided(quorum)
        if label is None:
            return Reason.NO_MAJORITY
        return Reason.OTHERS if label == others else None


def tally(labels: Sequence[str | None], pack: Specialties | None = None) -> VoteTally:
    """Count votes; with a pack, names in any spelling are resolved first.

    >>> tally(["Cardiology", "Cardiology", "Neurology", "Neurology", "Others"])
    VoteTally(label=None, count=2)
    """
    if pack is not None:
        labels = [None if one is None else pack.resolve(one) for one in labels]
    counts: Mapping[str, int] = Counter(one for one in labels if one is not None)
    if not counts:
        return VoteTally(None, 0)
    most = max(counts.values())
    first = [label for label, count in counts.items() if count == most]
    return VoteTally(first[0] if len(first) == 1 else None, most)
