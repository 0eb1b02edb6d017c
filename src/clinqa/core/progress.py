"""How a room tells how far it is; what is shown of it is up to the caller."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "silent"]


class Progress(Protocol):
    """Told how far a stage is; `fraction` where the total is not known beforehand.

    `note` is a word beside it: a loss, say; never text of a record.
    """

    def __call__(
        self,
        stage: str,
        done: int,
        total: int | None = None,
        *,
        fraction: float | None = None,
        note: str = "",
    ) -> None: ...


def silent(
    stage: str,
    done: int,
    total: int | None = None,
    *,
    fraction: float | None = None,
    note: str = "",
) -> None:
    """Progress that nobody sees."""
