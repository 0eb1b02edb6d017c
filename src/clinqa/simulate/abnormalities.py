"""The 21 abnormalities of the echo labels, the levels each can have, and how levels combine.

This is a second, independent statement of the resolution rules: the truth of a made report must
not come from the code it is there to check.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["BINARY", "CODES", "IDS", "INDEX", "LOW", "NAMES", "Finding", "resolve"]

Finding = tuple[int, int, bool]
"""(abnormality, level, explicit)"""

CODES: dict[str, str] = {
    "LAC": "la_cavity",
    "RAE": "right_atrial_enlargement",
    "RAP": "right_atrial_pressure",
    "LVW": "lv_wall",
    "LVC": "lv_cavity",
    "LVF": "lv_systolic_function",
    "RWMA": "regional_wall_motion",
    "DD": "lv_diastolic_function",
    "LVOT": "lvot_obstruction",
    "RVC": "rv_cavity",
    "RVF": "rv_systolic_function",
    "RVW": "rv_wall",
    "RVPO": "rv_pressure_overload",
    "RVVO": "rv_volume_overload",
    "AS": "aortic_stenosis",
    "AR": "aortic_regurgitation",
    "MS": "mitral_stenosis",
    "MR": "mitral_regurgitation",
    "TS": "tricuspid_stenosis",
    "TR": "tricuspid_regurgitation",
    "PH": "pulmonary_hypertension",
}
NAMES: tuple[str, ...] = tuple(CODES)
IDS: tuple[str, ...] = tuple(CODES.values())
INDEX: dict[str, int] = {code: number for number, code in enumerate(NAMES)}

BINARY = frozenset(INDEX[code] for code in ("RAE", "RVVO", "RVPO"))
LOW = frozenset(INDEX[code] for code in ("LVF", "LVC", "RVC"))

_INADEQUATE, _UNSPECIFIED, _HYPERDYNAMIC, _CONFLICT = -3, -2, -1, -50


def resolve(findings: Iterable[Finding]) -> dict[int, int]:
    """One level an abnormality, whatever the order of the findings.

    >>> mr = INDEX["MR"]
    >>> resolve([(mr, 0, False), (mr, 1, True), (mr, 2, True)]) == {mr: 2}
    True
    """
    explicit: dict[int, set[int]] = {}
    inferred: dict[int, set[int]] = {}
    for abnormality, level, named in findings:
        (explicit if named else inferred).setdefault(abnormality, set()).add(level)
    return {
        abnormality: _settle(abnormality, explicit.get(abnormality) or inferred[abnormality])
        for abnormality in sorted({*explicit, *inferred})
    }


def _settle(abnormality: int, levels: set[int]) -> int:
    if len(levels) == 1:
        return next(iter(levels))
    if levels == {_HYPERDYNAMIC, 0} and NAMES[abnormality] == "LVF":
        return _HYPERDYNAMIC
    top = max(levels)
    return _CONFLICT if top < 1 or _INADEQUATE in levels or _HYPERDYNAMIC in levels else top
