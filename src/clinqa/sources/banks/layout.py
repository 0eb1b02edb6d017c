"""Which column of a bank is what, by the names that banks use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clinqa.core.errors import SourceError
from clinqa.sources.reports.records import shown

__all__ = ["BankColumns", "detect", "kind_of", "options_of", "split_of", "texts_of"]

# In the order of preference: a column with the answer's letter says more than its text.
_ROLES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "stem", "sent1", "question_text"),
    "options": ("options", "choices", "endings", "answer_choices", "answer_options"),
    "answer": ("answer_idx", "answer_index", "cop", "answer_key", "correct_option"),
    "answer_last": ("answer", "correct_answer", "correct", "gold", "label", "target"),
    "id": ("id", "item_id", "question_id", "qid"),
    "split": ("split", "subset", "fold"),
    "subject": ("subject", "subject_name"),
    "topic": ("topic", "topic_name"),
    "specialty": ("specialty", "specialties", "speciality", "specialities", "expert", "category"),
    "bank": ("bank", "source", "dataset", "source_dataset"),
    "explanation": ("exp", "explanation", "rationale"),
}
_SERIES = (
    ("opa", "opb", "opc", "opd", "ope"),
    ("option_a", "option_b", "option_c", "option_d", "option_e", "option_f"),
    ("ending0", "ending1", "ending2", "ending3", "ending4"),
    tuple("abcdefghij"),
)
_SPLITS = {
    "train": "train",
    "training": "train",
    "auxiliary_train": "train",
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}


# The columns that tell a published bank; the first that fits.
_PUBLISHED = (
    ("MedMCQA", {"opa", "opb", "opc", "opd"}),
    ("MedQA", {"question", "options", "answer_idx"}),
    ("MMLU", {"question", "choices", "answer"}),
    ("MMLU", {"question", "a", "b", "c", "d"}),
    ("S-MedQA", {"question", "options", "specialty"}),
)


@dataclass(frozen=True, slots=True)
class BankColumns:
    """The columns of a bank's file by role; `series` are those of the options one by one."""

    name: str
    roles: Mapping[str, str]
    series: tuple[str, ...] = ()

    def value(self, record: Mapping[str, Any], role: str) -> Any:
        """What a record says in a role; None where the file has no such column."""
        column = self.roles.get(role)
        return None if column is None else record.get(column)


def detect(names: Iterable[str], where: str) -> BankColumns:
    """The layout of a file with these columns; SourceError naming what is missing."""
    by_key = {name.strip().casefold().replace(" ", "_"): name for name in names}
    roles = {}
    for role, known in _ROLES.items():
        found = next((by_key[key] for key in known if key in by_key), None)
        if found is not None:
            roles[role] = found
    if "answer" not in roles and "answer_last" in roles:
        roles["answer"] = roles.pop("answer_last")
    series = next((own for own in _SERIES if set(own[:2]) <= by_key.keys()), ())
    series = tuple(by_key[key] for key in series if key in by_key)
    lacking = [role for role in ("question", "answer") if role not in roles]
    if "options" not in roles and not series:
        lacking.append("options")
    if lacking:
        raise SourceError(
            f"{where}: no column for {', '.join(lacking)}; columns found: "
            f"{shown(tuple(by_key.values()))}. A bank has question, options (or A, B, C, D) and "
            "answer; rename the columns"
        )
    return BankColumns(kind_of(set(by_key)), roles, series)


def kind_of(keys: set[str]) -> str:
    """The published bank with such columns, or `table`."""
    return next((name for name, columns in _PUBLISHED if keys >= columns), "table")


def options_of(record: Mapping[str, Any], layout: BankColumns) -> tuple[str, ...] | None:
    """The options in their order; None where they cannot be read. Empty ones at the end are none.

    A mapping of letters is put in the order of its letters, whatever the order in the file.
    """
    found = _in_order(_listed(record, layout))
    if found is None:
        return None
    texts = ["" if one is None else one for one in found]
    if not all(isinstance(text, str | int | float) for text in texts):
        return None
    named = [str(text).strip() for text in texts]
    while named and not named[-1]:
        named.pop()
    return tuple(named) if all(named) else None


def _listed(record: Mapping[str, Any], layout: BankColumns) -> Any:
    if layout.series:
        return [record.get(column) for column in layout.series]
    found = layout.value(record, "options")
    return _parsed(found) if isinstance(found, str) else found


def _in_order(found: Any) -> list[Any] | None:
    """The options of a list, of a mapping of letters, or of a list of keys with values."""
    if isinstance(found, dict):
        if not all(re.fullmatch(r"[A-Za-z]|\d", str(key)) for key in found):
            return None
        # an Arrow struct has every key that any row has
        found = [found[key] for key in sorted(found, key=str)]
    if not isinstance(found, list):
        return None
    if all(isinstance(one, dict) and {"key", "value"} <= one.keys() for one in found):
        return [one["value"] for one in sorted(found, key=lambda one: str(one["key"]))]
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def split_of(value: Any) -> str:
    """A split by one of its names; empty where it is none.

    >>> split_of("dev"), split_of("MedQA_test.jsonl"), split_of("all")
    ('validation', 'test', '')
    """
    words = re.split(r"[^a-z]+", str(value or "").casefold())
    found = {_SPLITS[word] for word in words if word in _SPLITS}
    return found.pop() if len(found) == 1 else ""


def texts_of(value: Any) -> tuple[str, ...]:
    """One label or several: a list, or a text with semicolons or bars between them."""
    if value is None:
        return ()
    parts = value if isinstance(value, list) else re.split(r"[;|]", str(value))
    return tuple(str(part).strip() for part in parts if str(part).strip())
