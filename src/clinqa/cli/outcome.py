"""What a verb hands back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from clinqa.cli.terminal import ProgressLine
from clinqa.core.errors import SourceError
from clinqa.core.origin import made_up, meaning_of
from clinqa.core.visible import visible

if TYPE_CHECKING:
    from clinqa.core.stage import StageOptions, StageResult

__all__ = ["Outcome", "counted", "staged"]


@dataclass(slots=True)
class Outcome:
    """The end of a verb: what a person reads (`text`) and what a program reads (the rest).

    `exit` is not 0 where a check failed; `error` is then the one line that names what broke.
    `text` goes to stdout, and never with `--json`; what does not print is written out, and
    terminal colours too unless the verb says that it drew them.
    """

    verb: str
    out: PathLike[str] | str | None = None
    counts: Mapping[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    text: str = ""
    exit: int = 0
    error: str | None = None
    coloured: bool = False

    def record(self) -> dict[str, object]:
        """The object that `--json` writes."""
        return {
            "ok": self.exit == 0,
            "exit": self.exit,
            "verb": self.verb,
            "out": None if self.out is None else str(self.out),
            "counts": plain(self.counts),
            "warnings": list(self.warnings),
            "error": self.error,
        }


def counted(what: str) -> Callable[[Mapping[str, object], Path], list[str]]:
    """The counts, a line each, and where `what` lies."""

    def told(counts: Mapping[str, object], out: Path) -> list[str]:
        lines = [
            f"{name.replace('_', ' '):<20}{value:>12,}"
            for name, value in counts.items()
            if isinstance(value, int)
        ]
        return [*lines, f"{what} in {visible(str(out))}"]

    return told


def staged(
    verb: str,
    out: Path,
    options: StageOptions,
    work: Callable[[ProgressLine], StageResult],
    last: str | Callable[[Mapping[str, object], Path], list[str]] = "",
) -> Outcome:
    """The end of a stage: what it told and, unless it was a dry run, the `last` lines.

    `work` is given the line that shows how far it is. `last` makes lines of the counts, or says
    what lies in `out`.
    """
    with ProgressLine() as progress:
        result = work(progress)
    told = list(result.lines)
    if not options.dry_run:
        if result.manifest is not None and (made := made_up(result.manifest.origin)):
            told.append(f"{made}. {meaning_of(result.manifest.origin)}")
        told += [f"{last} in {out}"] if isinstance(last, str) else last(result.counts, out)
    ended = Outcome(verb, out, result.counts, result.warnings, text="\n".join(told))
    if result.empty:
        ended.exit = SourceError.exit_code
        ended.error = (
            f"{visible(str(out))}: a dataset without an item: nothing of the input was kept"
        )
    return ended


def plain(value: object) -> object:
    """The value in types JSON knows; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    item = getattr(value, "item", None)  # a numpy number
    return plain(item()) if callable(item) else str(value)
