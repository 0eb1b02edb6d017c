"""The identifier screen: counts of what looks like an identifier, by kind.

It warns an owner whose text was thought to be de-identified. It finds common shapes, misses
others, and so never says that a text is free of identifiers. It gives numbers only: no matched
text is kept, returned or logged.

Every kind is one RE2 expression that Arrow counts over whole columns. RE2 has no look-ahead, so a
shape that is wrong because of what follows (`10/20/30 mcg` is no date) is counted too and taken
off again. Placeholders of a de-identification tool (`[**...**]`, `___`) are counted apart and
blanked first, so that a shifted date inside one is no hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["DISCLAIMER", "KINDS", "Screen"]

DISCLAIMER = (
    "The identifier screen counts text that looks like common identifiers. It misses others and "
    "counts some harmless text, so neither a low nor a zero count means the text is de-identified."
)

_PLACEHOLDER = r"\[\*\*[^\]]*\]|_{3,}|\*{3,}[A-Za-z ]{2,30}\*{3,}"

_FULL_MONTH = (
    "(?:January|February|March|April|June|July|August|September|October|November|December|"
    "JANUARY|FEBRUARY|MARCH|APRIL|JUNE|JULY|AUGUST|SEPTEMBER|OCTOBER|NOVEMBER|DECEMBER)"
)
_MONTH = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:1[89]|2[0-2])\d\d"
_M, _D = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_ORDINAL = r"(?:st|nd|rd|th)?"
_SLASHED = rf"\b(?:{_M}/{_D}|{_D}/{_M})/"
_DATE = "|".join(
    [
        rf"{_SLASHED}(?:{_YEAR}|\d\d)\b",
        rf"\b(?:{_M}-{_D}|{_D}-{_M})-{_YEAR}\b",
        rf"\b(?:{_M}\.{_D}|{_D}\.{_M})\.{_YEAR}\b",
        rf"\b{_YEAR}(?:-{_M}-{_D}|/{_M}/{_D}|\.{_M}\.{_D})(?:\b|T)",
        r"\b(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b",
        # "Sep 11 mm" is a septum: a short month needs a year, a long one a day or a year
        rf"\b{_FULL_MONTH}\s+\d{{1,2}}{_ORDINAL}\b",
        rf"\b{_MONTH}\.?[\s-]+(?:\d{{1,2}}{_ORDINAL},?[\s-]+)?{_YEAR}\b",
        rf"\b\d{{1,2}}{_ORDINAL}[\s.-]+(?:of )?{_MONTH}\.?,?[\s-]+(?:{_YEAR}|'?\d\d)\b",
        # "5-10-20" is a row of doses: a dashed date with a short year needs a word before it
        r"(?i:\b(?:dated?|dob|born|on|of)[: ]+)\d{1,2}-\d{1,2}-\d\d\b",
    ]
)
_NO_DATE = (
    rf"{_SLASHED}\d\d(?:/\d|\s?(?i:mcg|ug|µg|mg|ml|mm|cm|%|m/s|bpm|kg)\b|%)"
    rf"|\b\d{{1,2}}[\s.-]+{_MONTH}\.?,?[\s-]+\d\d\s?(?i:mm|cm|%)"
)

_TELEPHONE = "|".join(
    [
        r"\(\d{3}\)\s?\d{3}[-. ]\d{4}\b",
        r"\b\d{3}[-.]\d{3}[-.]\d{4}\b",
        r"\+\d{1,3}[ -]?\(?\d{1,4}\)?[ -]?\d{3,4}(?:[ -]?\d{2,4}){1,3}\b",
        r"(?i:\b(?:tel|telephone|phone|fax|pager|beeper|mobile|cell|ext|extension)\b)"
        r"(?i:\.?\s*(?:no|number|nr)?[.:# ]{1,3})\(?\+?\d[\d ().-]{2,}\d",
    ]
)

_NUMBER = r"[A-Za-z]{0,3}-?\d[\d-]{3,}"
_RECORD = "|".join(
    [
        rf"(?i:\b(?:mrn|mr\s?#|med(?:ical)?\.?\s?rec(?:ord)?s?\.?)\s*(?:no|number|num|nr|id|#)?)"
        rf"[.:# ]*{_NUMBER}",
        rf"(?i:\b(?:unit|account|acct|accession|patient|pt|chart|hospital|visit|encounter|exam|"
        rf"study|record|insurance|policy|member)\.?\s*(?:no\b|number|num\b|nr\b|id\b|#))"
        rf"[.:# ]*{_NUMBER}",
        rf"(?i:\b(?:account|acct|accession)\s*:)\s*{_NUMBER}",
    ]
)

_EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"

_PERSON = (
    r"(?:(?:van|von|de|der|den|la|le|al|el|bin|Mc|Mac|O')[ -]?){0,2}"
    r"[A-ZÀ-ÖØ-Þ](?:[a-zß-öø-ÿ'’-]+|[A-ZÀ-ÖØ-Þ'’-]{2,})"
)
_INITIAL = r"(?:[A-Z]\.?\s+){0,2}"
_SIGNED = (
    r"(?i:\b(?:signed|dictated|read|interpreted|reviewed|verified|performed|ordered|referred|"
    r"reported|approved|transcribed)(?:\s+off)?\s+by)"
)
_NAME = "|".join(
    [
        rf"{_SIGNED}[: ]\s*(?:(?:Dr|Prof)\.?\s+)?{_PERSON},?\s+{_INITIAL}{_PERSON}",
        rf"(?i:\b(?:patient(?:'s)?|pt|physician|attending|sonographer|surgeon)(?:\s+name)?\s*:)"
        rf"\s*(?:(?:Dr|Prof)\.?\s+)?{_PERSON}(?:,\s*|\s+){_INITIAL}{_PERSON}",
        # MR and MS are valve lesions, and "MILD MR. MILD TR." is no person: only mixed case
        rf"\b(?:Dr|DR|Mr|Mrs|MRS|Ms|Miss|Prof|PROF|Professor|Doctor)\b\.?\s+{_INITIAL}{_PERSON}",
        r"\b[A-Z][a-z'’-]+ (?:[A-Z]\.? ){0,2}[A-Z][A-Za-z'’-]*[a-z],? "
        r"(?:M\.?D\b|D\.?O\b|Ph\.?D\b|R\.?N\b|RDCS\b|FACC\b)",
    ]
)

_STATE = (
    "(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|"
    "S[CD]|T[NX]|UT|V[AT]|W[AIVY])"
)
_ADDRESS = "|".join(
    [
        r"\b\d{1,5}\s+(?:[A-Z][a-z]+\s+){1,3}(?:Street|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|"
        r"Drive|Way|Court|Plaza|Square|St\.?,)",
        rf"\b{_STATE},?\s+\d{{5}}(?:-\d{{4}})?\b",
        r"(?i:\bzip(?:\s+code)?)\s*:?\s*\d{5}\b",
        r"(?i:\bp\.?\s?o\.?\s+box)\s+\d+",
    ]
)

_URL = r"(?i:https?://|\bwww\.)[A-Za-z0-9]|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
_SSN = r"\b\d{3}-\d{2}-\d{4}\b"
_AGE = (
    r"\b(?:9\d|1[01]\d)[\s-]*(?i:years?|yrs?|y\.?/?o\b|jahre)|(?i:\bage)\s*:?\s*(?:9\d|1[01]\d)\b"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    pattern: str
    # counted and taken off: what the pattern finds here is something else
    but_not: str = ""


_KINDS = {
    "date": _Kind(_DATE, _NO_DATE),
    "telephone": _Kind(_TELEPHONE),
    "record_number": _Kind(_RECORD),
    "email": _Kind(_EMAIL),
    "name": _Kind(_NAME),
    "address": _Kind(_ADDRESS),
    "url": _Kind(_URL),
    "ssn": _Kind(_SSN),
    "age_over_89": _Kind(_AGE),
}

_ANY = "|".join(f"(?:{kind.pattern})" for kind in _KINDS.values())
_MAYBE = r"_{3,}|\*{3,}|" + _ANY

# every key that `Screen.count` gives; "placeholders" is no identifier
KINDS = (*_KINDS, "placeholders")


class Screen:
    """Counts identifier-like text. Counts of batches add up to the counts of the whole."""

    def count(self, texts: pa.ChunkedArray | pa.Array | Sequence[str]) -> dict[str, int]:
        """Hits by kind over all texts, and the placeholders found; every kind is in the result.

        >>> found = Screen().count(["Call 617-555-0100. Mild MR, EF 55-60%, seen [**2150-1-1**]."])
        >>> found["telephone"], found["date"], found["placeholders"]
        (1, 0, 1)
        """
        if not isinstance(texts, pa.ChunkedArray | pa.Array):
            texts = pa.array(list(texts), pa.large_string())
        placeholders = _total(texts, _PLACEHOLDER)
        # most texts hold nothing at all, and one pass finds that out; a mark that is gone once
        # blanked may have hidden where a word begins
        texts = _matching(texts, _MAYBE)
        if placeholders:
            texts = _matching(pc.replace_substring_regex(texts, _PLACEHOLDER, "[]"), _ANY)
        counts = {}
        for name, kind in _KINDS.items():
            hits = _total(texts, kind.pattern)
            if hits and kind.but_not:
                hits = max(0, hits - _total(texts, kind.but_not))
            counts[name] = hits
        counts["placeholders"] = placeholders
        return counts


def _matching(texts: pa.ChunkedArray | pa.Array, pattern: str) -> pa.ChunkedArray | pa.Array:
    return texts.filter(pc.match_substring_regex(texts, pattern).fill_null(False))


def _total(texts: pa.ChunkedArray | pa.Array, pattern: str) -> int:
    return int(pc.sum(pc.count_substring_regex(texts, pattern)).as_py() or 0)
