"""A question with its official key as two statements: the right option, and a seeded wrong one.

The question is not reworded: whether an option is the answer is what the key decides, also where
a question asks for the exception. Options that speak of one another ("both A and B", "all of the
above") mean nothing alone, so such questions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinqa.builders.banks.flags import is_garbled, needs_image
from clinqa.builders.pairs import PairRow
from clinqa.core.ids import SEPARATOR, rng, stable_hash
from clinqa.core.records import Reason, Reject
from clinqa.sources.banks import BankItem

__all__ = ["STAGE", "pair_of", "refers", "statement"]

STAGE = "statements"
_LETTER = r"\(?[A-Ea-e]\)?"
_ROMAN, _DIGIT = r"\(?[ivx]+\)?", r"\(?[1-9]\)?"
_JOIN = r"\s*(?:,|&|\+|/|\b(?:and|or|nor)\b)\s*"
_NAMED = r"(?:(?:only|option|choice|answer|statement)s?\s+)*"
#: What is said of them: "only", "both", "are correct"
_SAID = r"\W*(?:(?:only|both|all|together|alone)|(?:are|is)\b.*)?"
_OTHERS = r"(?:above|below|these|following|options?|choices?|answers?|statements?|others?|them)"
_JUDGED = r"(?:true|false|correct|incorrect|right|wrong)"


def _list_of(one: str, join: str = _JOIN) -> str:
    more = rf"(?:{join}(?:and\s+|or\s+)?{_NAMED}{one})+"
    return rf"(?:both|either|neither)?\s*{_NAMED}{one}{more}{_SAID}"


_REFERS = re.compile(
    rf"^\W*(?:[A-E]\W+)?(?:both\b.*"
    rf"|(?:all|none|any|neither|either|some|two|three|more\s+than\s+\w+|everything|nothing)\s+"
    rf"(?:of\s+)?(?:the\s+|these\s+)*{_OTHERS}\b.*"
    rf"|(?:all|none|any|both|neither)\W*"
    rf"|(?:all|none|both|neither|everything)\s+(?:of\s+them\s+)?(?:is|are)\s+{_JUDGED}\W*"
    rf"|{_list_of(_LETTER)}|{_list_of(_ROMAN)}|{_list_of(_DIGIT, _JOIN.replace('/|', ''))}"
    rf"|(?:only|not|all\s+(?:except|but)|none\s+but)\s+{_NAMED}{_LETTER}{_SAID}"
    rf"|(?:options?|choices?|answers?|statements?)\s+(?:{_LETTER}|{_ROMAN}|{_DIGIT}){_SAID}"
    r"|(?:the\s+)?(?:first|second|third|former|latter)\s+(?:and|or)\s+(?:the\s+)?"
    r"(?:second|third|fourth|latter)\W*"
    r"|(?:same|as)\s+(?:as\s+)?(?:the\s+)?(?:above|option|in)\b.*"
    rf"|.*\b(?:of the above|of these options|the above options?|the aforementioned)\b.*)$",
    re.I | re.S,
)
#: Leads I, II and III stand beside others that are no numbers.
_LEADS = re.compile(r"\b(?:leads?|aV[RLF]|V[1-9])\b", re.I)


def refers(option: str) -> bool:
    """Does an option speak of other options?

    >>> refers("Both A and B"), refers("None of the above"), refers("a & c"), refers("1, 2 and 3")
    (True, True, True, True)
    >>> refers("Both ventricles contract"), refers("Atrial flutter"), refers("Leads II, III, aVF")
    (True, False, False)
    """
    return _LEADS.search(option) is None and _REFERS.match(option.strip()) is not None


def statement(question: str, option: str) -> str:
    """What is judged.

    >>> statement("Which lead  is it? ", "V1.")
    'To the question "Which lead is it?" the right answer is: V1'
    """
    asked, said = " ".join(question.split()), " ".join(option.split()).rstrip(".")
    return f'To the question "{asked}" the right answer is: {said}'


def pair_of(item: BankItem, group: str, category: str, seed: int) -> PairRow | Reject:
    """The two statements of a question, or why there are none."""
    if any(refers(option) for option in item.options):
        return _reject(item, Reason.OPTIONS_REFER)
    if needs_image(item.question):
        return _reject(item, Reason.IMAGE_REFERENCE)
    if is_garbled(item.question) or any(map(is_garbled, item.options)):
        return _reject(item, Reason.NOT_WELL_FORMED)
    wrong = _wrong(item.options, item.answer)
    if not wrong or not item.answer.strip():
        return _reject(item, Reason.TOO_FEW_OPTIONS)
    # from the options' content, so that their order decides nothing
    chosen = rng(seed, "bank-tf", item.source_id).choice(wrong)
    key = stable_hash(item.source_id, item.question, item.answer, SEPARATOR.join(wrong))
    return PairRow(
        id=f"{key:016x}",
        group=group,
        source_id=item.source_id,
        part="question",
        page=None,
        start=0,
        end=len(item.question),
        source_text=item.question,
        category=category,
        mode="text",
        method="metadata",
        true=statement(item.question, item.answer),
        false=statement(item.question, chosen),
    )


def _wrong(options: Sequence[str], right: str) -> list[str]:
    same = " ".join(right.casefold().split()).rstrip(".")
    found = {" ".join(o.casefold().split()).rstrip("."): o for o in sorted(options) if o.strip()}
    return [option for plain, option in sorted(found.items()) if plain != same]


def _reject(item: BankItem, reason: Reason) -> Reject:
    return Reject(STAGE, reason, item.source_id, row=item.row)
