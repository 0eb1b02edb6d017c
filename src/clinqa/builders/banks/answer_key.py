"""What every build of banks can be told of how their keys are read."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.options import Options, option

__all__ = ["AnswerKeyOptions"]


@dataclass(frozen=True, kw_only=True)
class AnswerKeyOptions(Options):
    """Where the numbers of a bank's options begin."""

    answer_base: int | None = option(
        None,
        low=0,
        high=1,
        help="Where numbers of options begin, if the file itself does not tell.",
    )
