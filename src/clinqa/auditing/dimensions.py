"""Attributes become groups: quartiles of what is continuous, categories as they are, intersections.

Continuous attributes are cut at quartiles into low, lower middle, upper middle and high (EchoQA
3.5). A cut goes between values, never through equal ones: where a value fills more than a quarter,
two parts become one, and it says so. What is not known is a row of its own, code -1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from clinqa.auditing.cohort import PATIENT, TRACT, Attribute, Cohort
from clinqa.auditing.joining import bare_id
from clinqa.auditing.numerals import number_of
from clinqa.auditing.table import holds_ids, looks_like_codes
from clinqa.auditing.unknown import is_rank
from clinqa.core.arrays import Floats, Ints
from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.core.small_tables import column_named
from clinqa.core.visible import visible

__all__ = ["MISSING", "QUARTERS", "Dimension", "Excluded", "cut", "dimensions_of"]

MISSING = "missing"
QUARTERS = ("low", "lower middle", "upper middle", "high")
#: So many distinct whole numbers under CODES, or fewer, are codes of categories; other numbers are
#: a continuous attribute.
FEW = 10
CODES = 100
#: More categories than this make no audit: every group is tiny.
MANY = 50
#: A longer word is no category but text, and text of a record is shown nowhere.
LONG = 100


@dataclass(frozen=True, slots=True)
class Dimension:
    """Groups of patients: `codes` gives each patient's place in `groups`, -1 where not known.

    `ranges` say what each group holds of a continuous attribute. `parts` are the dimensions that
    an intersection is made of. `small` are groups under the least number of patients: withheld.
    `unknown` counts the patients of code -1 by what stands in the table for them.
    """

    name: str
    unit: str
    kind: str  # quartiles, categories or intersection
    groups: tuple[str, ...]
    codes: Ints
    ranks: tuple[int, ...] = ()
    cuts: tuple[float, ...] = ()
    ranges: tuple[str, ...] = ()
    parts: tuple[Dimension, ...] = ()
    small: frozenset[int] = frozenset()
    note: str = ""
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def ordered(self) -> bool:
        """Do the groups stand in an order, so that there may be a trend?"""
        return self.kind == "quartiles"

    def entering(self) -> Ints:
        """The codes of the groups that are compared; -1 for missing and withheld."""
        made = self.codes.copy()
        made[np.isin(made, list(self.small))] = -1
        return made

    def sizes(self) -> list[int]:
        """Patients of each group."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.groups))
        return [int(n) for n in counts]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A column that is no dimension, and why; the reason quotes no cell."""

    name: str
    reason: str


def dimensions_of(
    cohort: Cohort,
    items: Ints,
    *,
    wanted: Sequence[str] = (),
    intersect: Sequence[Sequence[str]] = (),
    continuous: Sequence[str] = (),
    categorical: Sequence[str] = (),
    over: str = "patients",
    least: int = 10,
) -> tuple[list[Dimension], list[Excluded]]:
    """The dimensions to audit, and what was left out with reasons. `items` counts each patient's.

    `over` says over what the quartiles are: patients, tracts or items.
    """
    wanted, continuous, categorical = (
        _as_called(cohort, names) for names in (wanted, continuous, categorical)
    )
    intersect = [_as_called(cohort, names) for names in intersect]
    asked = {*wanted, *continuous, *categorical, *(name for names in intersect for name in names)}
    _check_both(continuous, categorical)
    chosen = [a for a in cohort.attributes if not wanted or a.name in wanted]
    chosen += [a for a in cohort.attributes if a not in chosen and a.name in asked]
    _refuse_dates_near_tracts(chosen)
    made: list[Dimension] = []
    left = [Excluded(name, "no table has a column of it") for name in cohort.lacking]

    def keep(found: Dimension | Excluded) -> None:
        if isinstance(found, Dimension):
            found = _with_small(found, least, cohort.who.many)
        if isinstance(found, Excluded):
            left.append(found)
        else:
            made.append(found)

    kinds = dict.fromkeys(continuous, "continuous") | dict.fromkeys(categorical, "categorical")
    for attribute in chosen:
        kind = kinds.get(attribute.name, "continuous" if attribute.by_preset else None)
        keep(_described(_dimension(attribute, cohort, items, kind, over), attribute))
    by_name = {dimension.name: dimension for dimension in made}
    crossings = [tuple(sorted(names)) for names in intersect]
    if len(set(crossings)) < len(crossings):
        raise ConfigError("--intersect: the same dimensions are given twice")
    for names in intersect:
        keep(_intersection(names, by_name, {one.name: one for one in left}))
    if wanted:
        made = [d for d in made if d.parts or d.name in wanted]
    if not made:
        raise _none_left(left)
    return made, left


def _described(found: Dimension | Excluded, attribute: Attribute) -> Dimension | Excluded:
    """With what is known of its column, and of the patients that it says nothing of."""
    if isinstance(found, Excluded):
        return found
    note = "; ".join(filter(None, [*attribute.notes, found.note]))
    others = {"empty": attribute.empty, "no row": attribute.absent}
    unknown = {f"“{code}”": n for code, n in attribute.codes.items()}
    unknown |= {name: n for name, n in others.items() if n}
    return replace(found, note=note, unknown=unknown)


def _none_left(left: Sequence[Excluded]) -> ConfigError:
    reasons = "; ".join(f"{visible(one.name)}: {one.reason}" for one in left)
    few = any("or more" in one.reason for one in left)
    advice = "; audit more of them, or lower --min-patients" if few else ""
    return ConfigError(f"no dimension is left to audit: {reasons}{advice}")


def _as_called(cohort: Cohort, names: Sequence[str]) -> list[str]:
    """Names of columns as the tables have them; ConfigError for one that none has."""
    there = [attribute.name for attribute in cohort.attributes]
    made = []
    for name in names:
        own = column_named(there, name)
        if own is None:
            known = ", ".join(sorted(map(visible, {*there, *cohort.unread})))
            raise ConfigError(f"no dimension {visible(name)!r} in the tables; there are {known}")
        made.append(own)
    return made


def _check_both(continuous: Sequence[str], categorical: Sequence[str]) -> None:
    both = set(continuous) & set(categorical)
    if both:
        raise ConfigError(f"{', '.join(sorted(both))}: continuous or categorical, not both")


def _refuse_dates_near_tracts(attributes: Sequence[Attribute]) -> None:
    """A tract beside a date tells who somebody is; neither the table nor the audit joins them."""
    dates = sorted(visible(one.name) for one in attributes if one.is_date)
    tracts = sorted(visible(one.name) for one in attributes if one.unit == TRACT)
    if dates and tracts:
        raise PrivacyError(
            f"dates ({', '.join(dates[:3])}) stand next to attributes of tracts "
            f"({', '.join(tracts[:3])}): together they point at people. Take the dates out of the "
            "table, or name the columns to audit with --dimension"
        )


def _dimension(
    attribute: Attribute, cohort: Cohort, items: Ints, kind: str | None, over: str
) -> Dimension | Excluded:
    name = attribute.name
    distinct = sorted({value for value in attribute.values if value is not None})
    if why := _no_groups(attribute, cohort, distinct):
        return Excluded(name, why)
    numbers = [number_of(value) for value in distinct]
    words = numbers.count(None)
    if kind == "continuous" and words:
        raise ConfigError(f"--continuous {visible(name)}: {words:,} of its values are no numbers")
    units = _units_of(attribute, cohort)
    coded = not words and looks_like_codes(name, distinct, units, attribute.unit)
    # ten ranks are no ten categories
    amounts = not words and not coded and (is_rank(name) or not _codes(numbers))
    if kind == "continuous" or (amounts and kind is None):
        return _quartiles(attribute, cohort, items, over)
    if len(distinct) > MANY:
        return Excluded(name, _too_many(len(distinct), words, coded and kind is None))
    if max(map(len, distinct)) > LONG:
        return Excluded(name, f"holds texts of over {LONG} characters, which are no categories")
    return _categories(attribute, distinct, words)


def _no_groups(attribute: Attribute, cohort: Cohort, distinct: Sequence[str]) -> str:
    """Why a column makes no groups whatever it is taken for; else nothing."""
    who = cohort.who
    if attribute.is_date:
        return "holds dates, which are no groups"
    if not distinct:
        return f"no {who.word} of the split has a value: all are missing"
    own = [None if value is None else bare_id(value) for value in attribute.values]
    if holds_ids(own, [bare_id(one) for one in cohort.patients]):
        return f"holds the {who.many}' own ids"
    places = [bare_id(place or "") for place in cohort.places]
    if places and holds_ids(own, places):
        return "holds the tracts' own ids"
    return f"all {who.many} have the same value" if len(distinct) == 1 else ""


def _too_many(distinct: int, words: int, coded: bool) -> str:
    if coded:
        return (
            f"{distinct:,} numbers that look like ids or codes: --continuous cuts them "
            "at quartiles if they are amounts"
        )
    if 0 < words < distinct:
        return (
            f"{distinct:,} categories (at most {MANY}), of which {words:,} are no numbers: take "
            "these as not known with --missing, or join all into fewer"
        )
    return f"{distinct:,} categories (at most {MANY}): join them into fewer first"


def _categories(attribute: Attribute, distinct: Sequence[str], words: int) -> Dimension:
    name, values = attribute.name, attribute.values
    ranked = sorted(distinct, key=lambda value: (number_of(value) or 0.0, value) if not words
                    else (0.0, value))  # fmt: skip
    place = {value: at for at, value in enumerate(ranked)}
    codes = np.array([-1 if value is None else place[value] for value in values], np.int64)
    folded: dict[str, list[str]] = {}
    for value in ranked:
        folded.setdefault(value.casefold(), []).append(value)
    twins = [found for found in folded.values() if len(found) > 1]
    notes = [f"{len(twins)} categories differ from another in capitals only"] if twins else []
    if 2 * words < len(distinct) and words:
        notes.append(
            f"{words:,} of its {len(distinct):,} values are no numbers, so all are categories; "
            "--missing WORD takes a word as not known"
        )
    numbers = len(distinct) - words
    if numbers and 2 * words >= len(distinct):
        notes.append(
            f"{numbers:,} of its {len(distinct):,} values are numbers among words: if they are "
            "codes, name them with --missing"
        )
    note = "; ".join(notes)
    return Dimension(name, attribute.unit, "categories", tuple(ranked), codes, note=note)


def _units_of(attribute: Attribute, cohort: Cohort) -> int:
    """How many patients or tracts have a value."""
    known = [at for at, value in enumerate(attribute.values) if value is not None]
    return len(known) if attribute.unit == PATIENT else len(np.unique(cohort.tract[known]))


def _codes(numbers: Sequence[float | None]) -> bool:
    return len(numbers) <= FEW and all(
        number is not None and number.is_integer() and 0 <= number < CODES for number in numbers
    )


def _quartiles(attribute: Attribute, cohort: Cohort, items: Ints, over: str) -> Dimension:
    numbers = np.array([math.nan if v is None else float(v) for v in attribute.values])
    there = np.flatnonzero(~np.isnan(numbers))
    weights = np.ones(len(there))
    note = ""
    if over == "items":
        weights = items[there].astype(np.float64)
    elif over == "tracts" and attribute.unit == TRACT:
        _, first = np.unique(cohort.tract[there], return_index=True)
        there = there[first]
        weights = np.ones(len(there))
    elif over == "tracts":
        note = "an attribute of patients: quartiles over patients"
    cuts, codes, ranks = cut(numbers, numbers[there], weights)
    names = [_joined(ranks, rank, len(cuts) + 1) for rank in ranks]
    ranges = _ranges(cuts, ranks)
    if len(ranks) < len(QUARTERS):
        tied = "equal values fill more than a quarter: some quarters are joined"
        note = f"{note}; {tied}" if note else tied
    return Dimension(
        attribute.name, attribute.unit, "quartiles", tuple(names), codes, tuple(ranks),
        tuple(cuts.tolist()), tuple(ranges), note=note,
    )  # fmt: skip


def cut(
    values: Floats, over: Floats, weights: Floats | None = None, parts: int = 4
) -> tuple[Floats, Ints, list[int]]:
    """Cut points, the code of each value (-1 for NaN), and the parts that are not empty.

    A cut point is a value that occurs, and belongs to the part below it.

    >>> cut(np.array([0.0, 0, 0, 0, 0, 1, 2, 3]), np.array([0.0, 0, 0, 0, 0, 1, 2, 3]))[2]
    [0, 2, 3]
    """
    weights = np.ones(len(over)) if weights is None else weights
    shares = np.arange(1, parts) / parts
    made = np.quantile(over, shares, weights=weights, method="inverted_cdf")
    cuts: Floats = np.asarray(made, np.float64)
    part = np.searchsorted(cuts, values, side="left")
    part[np.isnan(values)] = -1
    ranks = sorted(set(part[part >= 0].tolist()))
    codes = np.full(len(values), -1, np.int64)
    for code, rank in enumerate(ranks):
        codes[part == rank] = code
    return cuts, codes, ranks


def _joined(ranks: Sequence[int], rank: int, parts: int) -> str:
    """The name of a part; one that took in the empty parts above it is called by both ends.

    >>> _joined([0, 2, 3], 0, 4), _joined([0, 2, 3], 2, 4)
    ('low to lower middle', 'upper middle')
    """
    after = [other for other in ranks if other > rank]
    last = (after[0] if after else parts) - 1
    return QUARTERS[rank] if last == rank else f"{QUARTERS[rank]} to {QUARTERS[last]}"


def _ranges(cuts: Floats, ranks: Sequence[int]) -> list[str]:
    written = [f"{value:.6g}" for value in cuts.tolist()]
    made = []
    for rank in ranks:
        after = [other for other in ranks if other > rank]
        top = written[after[0] - 1] if after else ""
        below = written[rank - 1] if rank else ""
        if not below:
            made.append(f"up to {top}")
        else:
            made.append(f"over {below} up to {top}" if top else f"over {below}")
    return made


def _with_small(dimension: Dimension, least: int, who: str) -> Dimension | Excluded:
    """The same with its small groups marked; excluded where fewer than two can be compared.

    A small group loses its label too: a rare word of the table is one patient's cell.
    """
    sizes = dimension.sizes()
    small = frozenset(code for code, n in enumerate(sizes) if n < least)
    if len(sizes) - len(small) < 2:
        return Excluded(
            dimension.name,
            f"fewer than two of its {len(sizes):,} groups have {least} {who} or more",
        )
    groups = dimension.groups
    if dimension.kind == "categories":
        numbers = {code: number for number, code in enumerate(sorted(small), 1)}
        groups = tuple(
            f"small group {numbers[code]}" if code in small else name
            for code, name in enumerate(groups)
        )
    return replace(dimension, small=small, groups=groups)


def _intersection(
    names: Sequence[str], made: dict[str, Dimension], left: dict[str, Excluded]
) -> Dimension | Excluded:
    title = " × ".join(names)
    if not 2 <= len(names) <= 3 or len(set(names)) < len(names):
        raise ConfigError(f"--intersect {','.join(names)}: two or three different dimensions")
    for name in names:
        if name in left:
            return Excluded(title, f"{visible(name)} is left out ({left[name].reason})")
    parts = tuple(made[name] for name in names)
    cells = list(product(*(range(len(part.groups)) for part in parts)))
    place = {cell: at for at, cell in enumerate(cells)}
    rows = np.stack([part.codes for part in parts], axis=1)
    codes = np.array(
        [-1 if -1 in row else place[tuple(row)] for row in map(tuple, rows.tolist())], np.int64
    )
    full = sorted(set(codes[codes >= 0].tolist()))
    renumbered = np.full(len(cells) + 1, -1, np.int64)  # the last place is that of -1
    renumbered[full] = np.arange(len(full))
    groups = tuple(
        " × ".join(part.groups[c] for part, c in zip(parts, cells[at], strict=True)) for at in full
    )
    if len(full) < 2:
        return Excluded(title, "fewer than two groups hold anybody")
    units = {part.unit for part in parts}
    unit = units.pop() if len(units) == 1 else PATIENT
    return Dimension(title, unit, "intersection", groups, renumbered[codes], parts=parts)
