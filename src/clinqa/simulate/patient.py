"""A made patient: how severe each abnormality truly is, and how one leads to another."""

from __future__ import annotations

from clinqa.simulate.abnormalities import BINARY, INDEX, LOW, NAMES
from clinqa.simulate.wording import Draw

__all__ = ["INADEQUATE", "UNSPECIFIED", "follow_up", "new_patient", "stated_levels"]

INADEQUATE, UNSPECIFIED = -3, -2

# chance of mild, moderate, severe in someone with no other disease
_BASE: dict[str, tuple[float, float, float]] = {
    "LAC": (0.16, 0.05, 0.01),
    "RAE": (0.10, 0.0, 0.0),
    "RAP": (0.14, 0.08, 0.02),
    "LVW": (0.18, 0.05, 0.01),
    "LVC": (0.07, 0.03, 0.015),
    "LVF": (0.08, 0.05, 0.04),
    "RWMA": (0.05, 0.05, 0.03),
    "DD": (0.22, 0.08, 0.04),
    "LVOT": (0.012, 0.009, 0.007),
    "RVC": (0.07, 0.03, 0.01),
    "RVF": (0.07, 0.04, 0.02),
    "RVW": (0.03, 0.012, 0.008),
    "RVPO": (0.02, 0.0, 0.0),
    "RVVO": (0.02, 0.0, 0.0),
    "AS": (0.06, 0.03, 0.03),
    "AR": (0.18, 0.05, 0.01),
    "MS": (0.02, 0.01, 0.008),
    "MR": (0.32, 0.10, 0.03),
    "TS": (0.007, 0.006, 0.005),
    "TR": (0.30, 0.10, 0.03),
    "PH": (0.18, 0.10, 0.04),
}
_LOW_SHARE = {"LVF": 0.05, "LVC": 0.025, "RVC": 0.008}

# how often a report speaks of it when it is normal; what is abnormal is nearly always told
_MENTIONED_NORMAL: dict[str, float] = {
    "LAC": 0.85,
    "RAE": 0.7,
    "RAP": 0.45,
    "LVW": 0.8,
    "LVC": 0.85,
    "LVF": 0.93,
    "RWMA": 0.7,
    "DD": 0.3,
    "LVOT": 0.35,
    "RVC": 0.85,
    "RVF": 0.85,
    "RVW": 0.15,
    "RVPO": 0.07,
    "RVVO": 0.07,
    "AS": 0.85,
    "AR": 0.88,
    "MS": 0.45,
    "MR": 0.9,
    "TS": 0.25,
    "TR": 0.88,
    "PH": 0.75,
}
_NO_DEGREE = {"TS": 0.25, "MS": 0.15, "LVOT": 0.18, "RVW": 0.2, "DD": 0.12, "RWMA": 0.5}
_MENTIONED = tuple(_MENTIONED_NORMAL[code] for code in NAMES)
_UNGRADED = tuple(0.0 if INDEX[code] in BINARY else _NO_DEGREE.get(code, 0.06) for code in NAMES)


def _draw(random: Draw, chances: tuple[float, float, float], factor: float = 1.0) -> int:
    share = random() / factor
    mild, moderate, severe = chances
    if share < severe:
        return 3
    if share < severe + moderate:
        return 2
    return 1 if share < severe + moderate + mild else 0


# abnormality -> (what raises it, from which degree, how many times likelier)
_LEADS_TO: tuple[tuple[str, str, int, float], ...] = (
    ("LVF", "RWMA", 2, 5.0),
    ("LVC", "LVF", 2, 6.0),
    ("LVW", "AS", 2, 3.5),
    ("LVW", "LVOT", 1, 4.0),
    ("DD", "LVW", 1, 1.8),
    ("MR", "LVC", 1, 1.8),
    ("LAC", "MR", 2, 3.0),
    ("LAC", "MS", 1, 4.0),
    ("PH", "MS", 1, 2.5),
    ("PH", "LVF", 2, 2.0),
    ("RVC", "PH", 2, 3.5),
    ("RVF", "PH", 2, 2.5),
    ("RVW", "PH", 3, 5.0),
    ("RVPO", "PH", 3, 8.0),
    ("TR", "RVC", 1, 1.8),
    ("RVVO", "TR", 3, 8.0),
    ("RAE", "TR", 2, 4.0),
    ("RAP", "RVF", 1, 3.0),
)
_LINKS: dict[str, list[tuple[int, int, float]]] = {}
for _what, _cause, _from, _times in _LEADS_TO:
    _LINKS.setdefault(_what, []).append((INDEX[_cause], _from, _times))
_CAUSES_FIRST = (
    *("RWMA", "LVF", "LVC", "AS", "LVOT", "LVW", "DD", "AR", "MS", "MR", "LAC"),
    *("PH", "RVC", "RVF", "RVW", "RVPO", "TS", "TR", "RVVO", "RAE", "RAP"),
)
_ORDER = tuple(
    (INDEX[code], _BASE[code], _LOW_SHARE.get(code, 0.0), tuple(_LINKS.get(code, ())))
    for code in _CAUSES_FIRST
)
_ATRIA = (INDEX["LAC"], INDEX["RAE"])


def new_patient(random: Draw) -> list[int]:
    """How severe each abnormality is: 0 to 3, or -1 for hyperdynamic or small."""
    fibrillation = random() < 0.16
    well = random() < 0.25
    severities = [0] * len(NAMES)
    for abnormality, chances, low, links in _ORDER:
        factor = 0.3 if well else 1.0
        if fibrillation and abnormality in _ATRIA:
            factor *= 4.0
        for cause, degree, times in links:
            if severities[cause] >= degree:
                factor *= times
        if low and random() < low:
            severities[abnormality] = -1
        else:
            severities[abnormality] = _draw(random, chances, factor)
    return severities


def follow_up(severities: list[int], random: Draw) -> list[int]:
    """The same patient at another study: a few things a degree better or worse."""
    later = list(severities)
    for _ in range(int(random() * 4)):
        abnormality = int(random() * len(later))
        top = 1 if abnormality in BINARY else 3
        moved = later[abnormality] + (1 if random() < 0.6 else -1)
        later[abnormality] = min(top, max(0, moved))
    return later


def stated_levels(severities: list[int], random: Draw) -> dict[int, int]:
    """What the report will say of each abnormality; one it does not speak of is left out."""
    missed = 0.12 if random() < 0.08 else 0.014
    stated: dict[int, int] = {}
    for abnormality, severity in enumerate(severities):
        chance = random()
        if chance < missed:
            stated[abnormality] = INADEQUATE
        elif severity == 0:
            if random() < _MENTIONED[abnormality]:
                stated[abnormality] = 0
        elif random() < _UNGRADED[abnormality] and severity > 0:
            stated[abnormality] = UNSPECIFIED
        elif chance < 0.97:
            stated[abnormality] = severity
    return stated


assert all(INDEX[code] in LOW for code in _LOW_SHARE)
