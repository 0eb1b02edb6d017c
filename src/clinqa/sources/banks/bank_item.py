"""One multiple-choice question as a bank gives it."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.ids import SEPARATOR, stable_hash

__all__ = ["BankItem", "content_id", "matching_text", "without_stray_quote"]


@dataclass(frozen=True, slots=True)
class BankItem:
    """A question, its options and the right one; texts as the bank has them.

    `split` is the bank's own (train, validation, test) or empty. `subject`, `topic` and
    `specialties` are what the bank says of the question, unresolved. `row` is for messages only.
    """

    bank: str
    item_id: str
    split: str
    question: str
    options: tuple[str, ...]
    answer_index: int
    subject: str = ""
    topic: str = ""
    specialties: tuple[str, ...] = ()
    row: int = 0

    @property
    def source_id(self) -> str:
        """Bank and id: what the item is known by in a dataset."""
        return f"{self.bank}:{self.item_id}"

    @property
    def answer(self) -> str:
        """The text of the right option."""
        return self.options[self.answer_index]


def content_id(question: str, options: tuple[str, ...]) -> str:
    """An id for a question that has none: of its content, never of its place."""
    return f"{stable_hash(question, SEPARATOR.join(options)):016x}"


def without_stray_quote(text: str) -> str:
    """The text without one unbalanced double quote at its end.

    The released S-MedQA files add one to some of MedQA's questions, which breaks exact joins.

    >>> without_stray_quote('Which drug?"'), without_stray_quote('He says "no"')
    ('Which drug?', 'He says "no"')
    """
    bare = text.rstrip()
    return bare[:-1].rstrip() if bare.endswith('"') and bare.count('"') % 2 else bare


def matching_text(text: str) -> str:
    """A question for comparing: no stray quote, one case, single blanks."""
    return " ".join(without_stray_quote(text).casefold().split())
