"""Every metric of answers as a function of summed statistics, with how it is computed.

Nothing is ever computed again from the texts. A new metric is one more `Measure` here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Floats
from clinqa.kinds.long_form.clinical import KINDS
from clinqa.kinds.long_form.judges import CLASSES, COLUMNS
from clinqa.kinds.long_form.text import STATISTICS, text_metrics
from clinqa.stats.agreement import kappa_measure
from clinqa.stats.measure import Measure, share

__all__ = ["clinical_measures", "level_cells", "macro_f1", "status_measures", "text_measures"]

_PLACE = {name: place for place, name in enumerate(COLUMNS)}
_ALL = _PLACE["pairs"]
_LEVELS = ("-3", "-2", "-1", "0", "1", "2", "3", "unmentioned")
_ORDERED = ("0", "1", "2", "3")
_SETS = {"adequacy": ("adequate", "inadequate"), "presence": ("present", "absent")}
_CELLS = slice(_PLACE[f"c:{0}:{0}"], _PLACE[f"c:{len(CLASSES) - 1}:{len(CLASSES)}"] + 1)


def text_measures(signatures: Mapping[str, str]) -> list[Measure]:
    """The text metrics, by the signatures with which they were computed."""
    return [
        Measure(
            name,
            _text(place),
            _column(_ALL),
            tuple(range(len(STATISTICS))),
            signature=signature,
            # but for the first, corpus BLEU, they are means, and stand last
            over=_column(len(STATISTICS) - len(signatures) + place) if place else None,
            parts=(len(STATISTICS) - len(signatures) + place, _ALL) if place else None,
        )
        for place, (name, signature) in enumerate(signatures.items())
    ]


def clinical_measures(
    sums: Floats,
    pack: str,
    question_type: str | None = None,
    *,
    classes: bool = True,
) -> list[Measure]:
    """What a text metric does not see, for a subset with these sums.

    `pack` names the labeller in the signature; `classes` is False where all references are of
    one class, and macro-F1 and kappa mean nothing. Macro-F1 is over the classes that occur among
    these references, whatever the answers say: figures over other items are over other classes.
    """
    how = f"clinical|{pack}"
    made = [_share("level_accuracy", "level_right", f"level_accuracy|{how}|of all items")]
    made += [
        _share(f"error_{kind}", f"kind:{kind}", f"error_{kind}|{how}|of all items")
        for kind in KINDS
    ]
    for key, under in (("any", "pairs"), ("answered", "status:answered")):
        name, of = f"error_dangerous_{key}", "all items" if key == "any" else "answered items"
        made.append(_share(name, "is:any", f"{name}|{how}|of {of}", under))
    for name, of in _AT_RISK.items():
        key = "error_abstained" if name == "abstained" else f"error_dangerous_{name}"
        made.append(_share(key, f"is:{name}", f"{key}|{how}|of answered {of}", f"at:{name}"))
    return made + (_class_measures(sums, how, question_type) if classes else [])


_SEVERE = "items that are severe"
_UNJUDGED = "items that could not be assessed"
_AT_RISK = {
    "severe_as_mild": _SEVERE,
    "severe_unseen": _SEVERE,
    "severe_as_moderate": _SEVERE,
    "inadequate_as_normal": _UNJUDGED,
    "swapped": "items that are normal, moderate, severe or abnormal without a degree",
    "abnormal_as_normal": "items that are moderate, severe or abnormal without a degree",
    "abnormal_unseen": "items that are moderate or abnormal without a degree",
    "low_swapped": "items that are low, moderate or severe and can be low",
    "normal_as_abnormal": "items that are normal",
    "mild_as_severe": "items that are mild",
    "invented": "items that the report does not mention or could not assess",
    "inadequate_as_seen": _UNJUDGED,
    "other_danger": "items where another error is a danger",
    "abstained": "items that the report mentions",
}


def _class_measures(sums: Floats, how: str, question_type: str | None) -> list[Measure]:
    names = _SETS.get(question_type or "", _LEVELS)
    table = level_cells(sums)
    # fixed by the references, so that it is the same for every run
    codes = [CLASSES.index(name) for name in names]
    present = [code for code in codes if table[..., code, :].sum() > 0]
    if not present:
        return []
    made = [
        Measure(
            "level_macro_f1",
            lambda rows: macro_f1(level_cells(rows), present),
            lambda rows: level_cells(rows)[..., present, :].sum(axis=(-2, -1)),
            tuple(range(_CELLS.start, _CELLS.stop)),
            signature=f"level_macro_f1|{how}|classes:those of the references",
            classes=lambda rows: level_cells(rows)[..., present, :].sum(axis=-1),
        )
    ]
    if question_type not in _SETS:
        ordered = [CLASSES.index(name) for name in _ORDERED]
        made.append(
            kappa_measure(
                "level_weighted_kappa",
                lambda rows: _ordered(rows, ordered),
                len(ordered),
                "quadratic",
                columns=tuple(range(_CELLS.start, _CELLS.stop)),
                signature=f"level_weighted_kappa|{how}|quadratic|items with both levels in 0-3",
            )
        )
    return made


def status_measures() -> list[Measure]:
    """What became of the answers; the shares add up to 1."""
    return [
        _share(f"status_{status}", f"status:{status}", f"status_{status}|of all answers")
        for status in STATUSES
    ]


def _share(name: str, part: str, signature: str, whole: str = "pairs") -> Measure:
    bad = name.startswith(("error_", "status_")) and name not in ("error_right", "status_answered")
    return share(name, _PLACE[part], _PLACE[whole], signature=signature, lower=bad)


def _text(place: int) -> Callable[[Floats], Floats]:
    return lambda rows: text_metrics(rows[..., : len(STATISTICS)])[..., place]


def _column(place: int) -> Callable[[Floats], Floats]:
    return lambda rows: rows[..., place]


def _ordered(rows: Floats, codes: list[int]) -> Floats:
    """The table of classes that stand in an order, as one row of counts."""
    cells = level_cells(rows)[..., codes, :][..., codes]
    return cells.reshape(*cells.shape[:-2], len(codes) ** 2)


def level_cells(rows: Floats) -> Floats:
    return rows[..., _CELLS].reshape(*rows.shape[:-1], len(CLASSES), len(CLASSES) + 1)


def macro_f1(table: Floats, classes: list[int]) -> Floats:
    """The mean F1 of these classes, none of which is left out: one never found counts 0.

    Rows of `table`, which may have leading axes, are reference classes and columns read ones, the
    last for anything else: a wrong answer of every class. NaN where it holds no items.

    >>> macro_f1(np.array([[8.0, 2.0, 0.0], [1.0, 4.0, 5.0]]), [0, 1]).round(3).item()
    0.671
    """
    hits = table[..., classes, classes]
    # items of other classes read as one of these are no part of the question
    among = table[..., classes, :]
    found, wanted = among[..., classes].sum(axis=-2), among.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(found + wanted > 0, 2 * hits / (found + wanted), 0.0)
    return np.where(wanted.sum(axis=-1) > 0, scores.mean(axis=-1), np.nan)
