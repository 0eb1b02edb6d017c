"""What every build of banks can be told of how their keys are read; what `bank-tf` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.options import Options, SourceOptions, option

__all__ = ["NEAR", "AnswerKeyOptions", "BankTfOptions"]

NEAR = 0.8
"""The share of common words that makes two questions nearly the same."""


@dataclass(frozen=True, kw_only=True)
class AnswerKeyOptions(Options):
    """Where the numbers of a bank's options begin."""

    answer_base: int | None = option(
        None,
        low=0,
        high=1,
        help="Where numbers of options begin, if the file itself does not tell.",
    )


@dataclass(frozen=True, kw_only=True)
class BankTfOptions(AnswerKeyOptions, SourceOptions):
    """Everything that it can be told."""

    topic: str = option("ecg", metavar="T", help="Which questions: ecg.")
