"""What `clinqa build bank-tf` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.builders.banks.answer_key import AnswerKeyOptions
from clinqa.core.options import SourceOptions, option

__all__ = ["BankTfOptions"]


@dataclass(frozen=True, kw_only=True)
class BankTfOptions(AnswerKeyOptions, SourceOptions):
    """Everything that it can be told."""

    topic: str = option("ecg", metavar="T", help="Which questions: ecg.")
