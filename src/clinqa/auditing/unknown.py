"""Which cells of a column are not known, and what numbers its other cells are.

By rules that can be named, each counted and told, none ever a group or part of a quarter:

- words for "not known" (`packs/attributes.yaml`), where every part of a cell is one;
- marks that offices write in place of a number (GQ, PH, x, `..`), in a column of numbers;
- of columns by name a few more: U for a sex, 0 for a concept of OMOP;
- numbers of -999 and below;
- 9, 99, 999, … and -9, -99 where they lie outside all other values by more than these span; never
  in a column of ranks or percentiles, nor up to 100 in one of percentages; and among words, where
  they are the only numbers;
- what --missing names, for all columns or for one. What --known names stays, whatever it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from clinqa.auditing.numerals import Numerals, number_of, plain_number, read_numerals
from clinqa.core.errors import ConfigError
from clinqa.core.visible import visible
from clinqa.packs.attributes import attribute_words

__all__ = [
    "LOWER",
    "ReadColumn",
    "Rules",
    "counted",
    "is_no_id",
    "is_part",
    "is_rank",
    "not_known",
    "read_column",
    "rules_of",
]

_ALWAYS = -999.0
LOWER = "a number below -999"
_NINES, _REPEATED = re.compile(r"9+"), re.compile(r"(7|8|9)\1+")
_SPECIAL = re.compile(r"\.[a-z_]")  # special missing values of SAS and Stata
_PARTS = re.compile(r"[/;,()\[\]|]|(?<!\w)-+(?!\w)| - ")
_FEW_OTHERS, _FAR = 3, 3


@dataclass(frozen=True, slots=True)
class Rules:
    """What --missing and --known name: by the folded name of a column, "" for all of them."""

    missing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def says(self, told: Mapping[str, frozenset[str]], column: str, cell: str) -> bool:
        """Is this cell of this column named? Numbers are compared as numbers."""
        named = told.get("", frozenset()) | told.get(column.casefold(), frozenset())
        return bool(named) and _folded(cell) in named


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """The cells of a column: text, or plain numbers where all are numbers; None where not known.

    `codes` is what stood there, by row, in rows that were not empty: a word or number that means
    "not known", never a number that may be somebody's own. `notes` quote no cell.
    """

    cells: Sequence[str | None]
    codes: Mapping[int, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def rules_of(missing: Sequence[str], known: Sequence[str], columns: Iterable[str]) -> Rules:
    """The rules that options name, as `WORD` or `COLUMN=WORD`.

    >>> rules_of(["-9", "sex=U"], [], ["SEX"]).missing == {"": {"-9"}, "sex": {"u"}}
    True
    """
    names = {name.casefold() for name in columns}
    made = Rules(_told(missing, names), _told(known, names))
    for name, words in made.missing.items():
        both = words & (made.known.get(name, frozenset()) | made.known.get("", frozenset()))
        if both:
            raise ConfigError("--missing and --known: the same word is named by both")
    return made


def _told(words: Sequence[str], columns: set[str]) -> dict[str, frozenset[str]]:
    made: dict[str, frozenset[str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        column = name.strip().casefold() if equals and name.strip().casefold() in columns else ""
        text = value if column else word
        made[column] = made.get(column, frozenset()) | {_folded(text)}
    return made


def _folded(cell: str) -> str:
    text = " ".join(cell.split()).casefold()
    number = number_of(text.replace("−", "-"))
    return text if number is None else plain_number(number)


def not_known(cell: str) -> bool:
    """Does a cell say in words or marks that nothing is known?

    >>> [not_known(one) for one in ("UNKNOWN/NOT SPECIFIED", "#N/A", "?", "Unknown (default)")]
    [True, True, True, True]
    >>> [not_known(one) for one in ("Other/Unknown", "None", "0", "default", "NO")]
    [False, False, False, False, False]
    """
    words = attribute_words()
    text = " ".join(cell.split()).casefold().replace("’", "'")
    if not text or text in words.signs or text in words.unknown:
        return True
    text = text.rstrip(".!:").replace("_", " ")
    if text in words.unknown:
        return True
    parts = [part.strip(" .:") for part in _PARTS.split(text)]
    there = [part for part in parts if part]
    return bool(there) and (
        any(part in words.unknown for part in there)
        and all(part in words.unknown or part in words.beside for part in there)
    )


def is_no_id(cell: str) -> bool:
    """Does a cell say that there is no id?

    >>> [is_no_id(one) for one in ("", "UNKNOWN", "-999", "10005", "00")]
    [True, True, True, False, False]
    """
    number = number_of(cell.replace("−", "-"))
    return not_known(cell) if number is None else number <= _ALWAYS


def _of_name(name: str) -> frozenset[str]:
    """What is not known in a column of this name beside what is in none."""
    told = attribute_words().in_columns
    return frozenset[str]().union(*(told[word] for word in _name_words(name) if word in told))


def _name_words(name: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).casefold()
    return re.findall(r"[^\W_]+|%", parted)


def _named(name: str, told: Sequence[str]) -> bool:
    words = [*_name_words(name), *re.findall(r"[^\W_]+", name.casefold())]
    for one in told:
        bare = one.strip("*")
        for word in words:
            begins, ends = one.endswith("*"), one.startswith("*")
            if word == bare or (begins and word.startswith(bare)) or (ends and word.endswith(bare)):
                return True
    return False


def is_rank(name: str) -> bool:
    """Does a column's name say that it holds ranks or percentiles?

    >>> [is_rank(one) for one in ("ADI_NATRANK", "RPL_THEMES", "IMD Decile", "age")]
    [True, True, False, False]
    """
    return _named(name, attribute_words().ranks) and not is_part(name)


def is_part(name: str) -> bool:
    """Does a column's name say that it holds tenths, fifths or the like?

    >>> [is_part(one) for one in ("IMD Decile", "IMDDecil", "Dezil", "age_quintile", "projectile")]
    [True, True, False, True, False]
    """
    return _named(name, attribute_words().parts)


def read_column(
    name: str,
    cells: Sequence[str],
    rules: Rules,
    *,
    comma: bool = True,
    temporal: bool = False,
    rows: Sequence[int] | None = None,
) -> ReadColumn:
    """What a column holds; `comma` where a comma parts the cells of the file.

    `rows` are those that are somebody's (all otherwise). Words of other rows, such as a second
    header, do not decide whether a column is one of numbers; their numbers say how far it spans.

    >>> read_column("adi_rank", ["GQ", "9", "99", "PH", "12"], Rules()).cells
    [None, '9', '99', None, '12']
    >>> dict(read_column("age", ["20", "31", "999", "-999", "?"], Rules()).codes)
    {2: '999', 3: '-999', 4: '?'}
    """
    whole = [" ".join(cell.split()) for cell in cells]
    distinct = dict.fromkeys(whole)
    plain = {
        text: one for text in distinct if (one := number_of(text.replace("−", "-"))) is not None
    }
    kept = {text for text in distinct if rules.says(rules.known, name, text)}
    by_name = _of_name(name)
    gone = {
        text
        for text in distinct.keys() - kept
        if (text not in plain and not_known(text))
        or text.casefold() in by_name
        or rules.says(rules.missing, name, text)
    }
    own = distinct if rows is None else {whole[row] for row in rows}
    rest = [text for text in distinct if text not in gone and (text in own or text in plain)]
    numerals = None if temporal else _numerals(rest, kept, plain, comma)
    values = plain if numerals is None else numerals.values
    gone |= frozenset() if numerals is None else numerals.others
    open_values = {text: values[text] for text in rest if text in values and text not in kept}
    words = sum(text not in plain for text in rest)
    gone |= _coded(name, open_values, numerals is not None, words)
    notes: list[str] = []
    if numerals is not None:
        notes += numerals.notes
        notes += _far([one for text, one in values.items() if text not in gone])
    as_told = {
        text: text
        if numerals is None or number_of(text) is not None
        else plain_number(values[text])
        for text in rest
        if text not in gone
    }
    # a number that nobody chose as a code may be somebody's own
    shown = {text: LOWER for text in gone if _own_number(plain.get(text))}
    return ReadColumn(
        [as_told.get(text) for text in whole],
        {row: shown.get(text, text) for row, text in enumerate(whole) if text in gone and text},
        tuple(notes),
    )


def _numerals(
    texts: Sequence[str], kept: set[str], plain: Mapping[str, float], comma: bool
) -> Numerals | None:
    """The numbers of a column whose other cells are marks in place of numbers; else nothing."""
    if all(text in plain for text in texts):
        return Numerals({text: plain[text] for text in texts}) if texts else None
    marks = attribute_words().in_numbers
    others = {
        text
        for text in texts
        if (text.casefold() in marks or _SPECIAL.fullmatch(text.casefold())) and text not in kept
    }
    found = read_numerals([text for text in texts if text not in others], comma=comma)
    if found is None or len(found.values) < 2 or len(others) >= len(found.values):
        return None if others else found
    return Numerals(found.values, frozenset(others), found.notes)


def _coded(name: str, values: Mapping[str, float], numeric: bool, words: int) -> set[str]:
    """The texts that are codes for "not known" by their value, in a column with so many words."""
    made = {text for text, value in values.items() if value <= _ALWAYS}
    if is_rank(name) or is_part(name):
        return made
    if not numeric:  # words, and perhaps numbers among them
        left = values.keys() - made
        return made | left if words > 1 and all(_of_nines(values[text]) for text in left) else made
    nines = {text: one for text, one in values.items() if text not in made and _of_nines(one)}
    others = [one for text, one in values.items() if text not in made and text not in nines]
    if len(set(others)) < 2:
        return made
    low, high = min(others), max(others)
    percents = _named(name, attribute_words().percents)
    for text, one in nines.items():
        away = max(low - one, one - high)
        if away > high - low and not (percents and 0 <= one <= 100):
            made.add(text)
    return made


def _own_number(value: float | None) -> bool:
    """Is a number below -999 no code that anybody writes: digits all alike?"""
    if value is None or value > _ALWAYS:
        return False
    return len(set(format(abs(value), ".15g"))) > 1


def _of_nines(value: float) -> bool:
    return value.is_integer() and _NINES.fullmatch(format(abs(value), ".0f")) is not None


def _far(values: Sequence[float]) -> list[str]:
    """Whether a value at an end lies so far out that it may be a code; which one is not said."""
    several = sorted(set(values))
    if len(several) <= _FEW_OTHERS:
        return []
    codes = [one for one in several if _REPEATED.fullmatch(format(one, ".15g"))]
    others = [one for one in several if one not in codes]
    if codes and len(others) > _FEW_OTHERS and codes[-1] - others[-1] > others[-1] - others[0]:
        return [
            "numbers of sevens, eights or nines lie farther from the others than these span: if "
            "they are codes, name them with --missing"
        ]
    made = []
    inner, most = several[:-1], several[-1]
    if most - inner[-1] > _FAR * (inner[-1] - inner[0]):
        made.append("highest")
    inner, least = several[1:], several[0]
    if inner[0] - least > _FAR * (inner[-1] - inner[0]):
        made.append("lowest")
    return [
        f"its {which} value lies {_FAR} times farther from the others than they span: if it is a "
        "code, name it with --missing"
        for which in made
    ]


def counted(codes: Iterable[str]) -> dict[str, int]:
    """How often each code stands there, whatever its case; called as it is written most often."""
    by_fold: dict[str, Counter[str]] = {}
    for code in codes:
        by_fold.setdefault(code.casefold(), Counter())[code] += 1
    made = {
        max(written.items(), key=lambda one: (one[1], one[0]))[0]: written.total()
        for written in by_fold.values()
    }
    return dict(sorted(made.items(), key=lambda one: (-one[1], visible(one[0]))))
