"""Words and numbers that fill the slots of statements.

How a report looks: the block about patient and test, headers, hard wraps, capitals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clinqa.simulate.abnormalities import INDEX

__all__ = [
    "SECTIONS",
    "Draw",
    "HeaderStyle",
    "WordSlots",
    "capitals",
    "date",
    "known_slot",
    "misspell",
    "patient_block",
    "pick_headers",
    "wrap",
]

Draw = Callable[[], float]


# \x00 is a space inside a placeholder: de-identification came after the wrapping, so no line
# of a real report ends there
WORDS: dict[str, tuple[str, ...]] = {
    "adj1": ("mild",) * 12 + ("slight",),
    "adj2": ("moderate",) * 8
    + ("mild to moderate",) * 3
    + ("mild-moderate", "mild-to-moderate", "mild–moderate"),
    "adj3": ("severe",) * 8
    + ("moderate to severe",) * 3
    + ("marked", "moderate-severe", "moderate-to-severe"),
    "adv1": ("mildly",) * 12 + ("slightly",),
    "adv2": ("moderately",) * 7 + ("mildly to moderately", "mild to moderately"),
    "adv3": ("severely",) * 6 + ("markedly",) * 2 + ("moderately to severely",),
    "grade1": ("mild",) * 8
    + ("mild (1+)",) * 5
    + ("mild [1+]", "1+", "1+", "trace to mild", "mild ([**1-13**]+)", "slight")
    + ("no more than mild", "at least mild", "mild to [**Date\x00range\x00**]+"),
    "grade2": ("moderate",) * 6
    + ("moderate (2+)",) * 4
    + ("moderate [2+]", "2+", "mild to moderate", "mild to moderate (1-2+)", "1 to 2+")
    + ("mild to moderate ([**12-25**]+)", "mild-moderate", "at least moderate", "more than mild"),
    "grade3": ("severe",) * 5
    + ("severe (4+)",) * 3
    + ("moderate to severe (3+)",) * 3
    + ("4+", "3+", "moderate-to-severe [3+]", "moderate to severe ([**2-14**]+)", "severe [4+]")
    + ("moderate-severe", "greater than moderate"),
    "trace": ("trace",) * 5 + ("trivial",) * 3 + ("physiologic", "minimal", "trivial/physiologic"),
    "seg": (
        "basal inferior",
        "mid anterior",
        "inferior",
        "anterior",
        "inferolateral",
        "basal inferoseptal",
        "mid anteroseptal",
        "anterolateral",
        "distal anterior",
        "basal lateral",
        "mid inferior",
    ),
    "size": ("small", "small", "small", "moderate", "large", "trivial"),
}
WORDS["anyadj"] = WORDS["adj1"] + WORDS["adj2"] + WORDS["adj3"]
WORDS["anyadv"] = WORDS["adv1"] + WORDS["adv2"] + WORDS["adv3"]
WORDS["anygrade"] = WORDS["grade1"][:9] + WORDS["grade2"][:9]

# slot -> (abnormality that moves it, decimals, value at level 0, step a level, half width)
_SCALES: dict[str, tuple[str, int, float, float, float]] = {
    "la": ("LAC", 1, 3.5, 0.7, 0.3),
    "lav": ("LAC", 0, 25, 9, 4),
    "raa": ("RAE", 0, 15, 7, 2),
    "ivc": ("", 1, 1.7, 0, 0.2),
    "ivcd": ("", 1, 2.5, 0, 0.2),
    "rapn": ("", 0, 10, 0, 5),
    "ivs": ("LVW", 1, 0.9, 0.3, 0.1),
    "lvedd": ("LVC", 1, 4.8, 0.7, 0.3),
    "lvesd": ("LVC", 1, 3.0, 0.8, 0.3),
    "lvsm": ("", 1, 3.6, 0, 0.1),
    "efhi": ("", 0, 78, 0, 3),
    "ea": ("DD", 1, 1.2, 0.3, 0.3),
    "ee": ("", 0, 17, 0, 3),
    "lvotg": ("LVOT", 0, 30, 22, 8),
    "rvd": ("RVC", 1, 3.4, 0.6, 0.3),
    "tapse": ("RVF", 1, 2.0, -0.3, 0.1),
    "tapsen": ("", 1, 2.2, 0, 0.2),
    "aod": ("", 1, 4.1, 0, 0.4),
    "ava": ("AS", 1, 2.2, -0.5, 0.2),
    "avp": ("AS", 1, 1.8, 0.9, 0.3),
    "avn": ("", 1, 1.3, 0, 0.2),
    "avm": ("AS", 0, 8, 13, 4),
    "vc": ("AR", 1, 0.2, 0.2, 0.1),
    "ero": ("MR", 2, 0.05, 0.12, 0.03),
    "mva": ("MS", 1, 2.4, -0.5, 0.2),
    "mvm": ("MS", 0, 3, 4, 1),
    "tvm": ("TS", 0, 2, 2, 1),
    "trg": ("PH", 0, 22, 13, 4),
    "pasp": ("PH", 0, 28, 13, 5),
    "paspn": ("", 0, 25, 0, 4),
    "vel": ("", 0, 40, 0, 15),
    "num": ("", 0, 5200, 0, 4800),
}
_EF = {-1: 75, 0: 60, 1: 48, 2: 37, 3: 23}
_DISCORD = 0.01  # share of studies whose ejection fraction does not go with its words


def known_slot(name: str) -> bool:
    """Can this slot be filled?"""
    lower = name.lower()
    return lower in WORDS or lower in _SCALES or lower in {"ef", "efr", "date"}


def date(random: Draw) -> str:
    """A date as MIMIC-III writes it after de-identification."""
    year, month, day = 2100 + int(random() * 100), 1 + int(random() * 12), 1 + int(random() * 28)
    return f"[**{year}-{month}-{day}**]"


class WordSlots(dict[str, str]):
    """What fills the slots of one study: words afresh each time, a number the same throughout."""

    def __init__(self, severities: Sequence[int], random: Draw) -> None:
        super().__init__()
        self.severities = severities
        self.random = random

    def __missing__(self, slot: str) -> str:
        words = WORDS.get(slot)
        if words is not None:
            return words[int(self.random() * len(words))]
        if slot[0].isupper():
            word = self[slot.lower()]
            return word[0].upper() + word[1:]
        self[slot] = value = self._number(slot)
        return value

    def _number(self, slot: str) -> str:
        random = self.random
        if slot == "date":
            return date(random)
        if slot in ("ef", "efr"):
            level = self.severities[INDEX["LVF"]]
            if random() < _DISCORD:
                level = int(random() * 4)
            low = 5 * int((_EF[level] + 6 * random() - 3) / 5)
            self["ef"], self["efr"] = str(low), f"{low}-{low + 5}"
            return self[slot]
        mover, decimals, base, step, half = _SCALES[slot]
        level = max(0, self.severities[INDEX[mover]]) if mover else 0
        return f"{base + step * level + half * (2 * random() - 1):.{decimals}f}"


_CAN_BE_MISSPELT = frozenset(
    (
        *("mildly", "moderate", "moderately", "severe", "severely", "markedly"),
        *("dilated", "dilatation", "dilation", "enlarged", "enlargement", "increased"),
        *("regurgitation", "insufficiency", "stenosis", "hypertrophy", "hypokinesis"),
        *("dysfunction", "depressed", "reduced", "impaired", "thickened", "elevated"),
        *("hypertension", "hyperdynamic"),
    )
)


def misspell(text: str, random: Draw) -> str:
    """Slip one letter in one word of degree or finding: left out, doubled, or two swapped."""
    words = text.split(" ")
    places = [n for n, word in enumerate(words) if word.strip(".,;:()").lower() in _CAN_BE_MISSPELT]
    if not places:
        return text
    place = places[int(random() * len(places))]
    word = words[place]
    at = 2 + int(random() * (len(word.rstrip(".,;:()")) - 4))
    kind = int(random() * 3)
    if kind == 0:
        word = word[:at] + word[at + 1 :]
    elif kind == 1:
        word = word[:at] + word[at] + word[at:]
    else:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    words[place] = word
    return " ".join(words)


SECTIONS: tuple[tuple[str, str], ...] = (
    ("LA", "LEFT ATRIUM"),
    ("RA", "RIGHT ATRIUM/INTERATRIAL SEPTUM"),
    ("LV", "LEFT VENTRICLE"),
    ("RV", "RIGHT VENTRICLE"),
    ("AO", "AORTA"),
    ("AV", "AORTIC VALVE"),
    ("MV", "MITRAL VALVE"),
    ("TV", "TRICUSPID VALVE"),
    ("PV", "PULMONIC VALVE/PULMONARY ARTERY"),
    ("PC", "PERICARDIUM"),
    ("GC", "GENERAL COMMENTS"),
)
HeaderStyle = Callable[[str], str]


# each as often as it is met: how the name is written, and what stands around it
_STYLES: tuple[tuple[HeaderStyle, str], ...] = (
    *((str.upper, "{}: "),) * 40,
    *((str.title, "{}: "),) * 4,
    *((str.capitalize, "{}: "),) * 3,
    *((str.capitalize, "- {}: "),) * 2,
    (str.lower, "{}: "),
    (str.upper, "{} : "),
)


def pick_headers(random: Draw) -> HeaderStyle:
    """How this report writes its section headers; most in capitals."""
    letters, around = _STYLES[int(random() * len(_STYLES))]
    return lambda name: around.format(letters(name))


def wrap(text: str, width: int) -> str:
    """Break lines at spaces, none longer than `width` unless a word is.

    >>> wrap("Mild mitral regurgitation.", 12)
    'Mild mitral\\nregurgitation.'
    """
    lines = []
    start, size = 0, len(text)
    while size - start > width:
        end = text.rfind(" ", start, start + width + 1)
        if end <= start:
            end = text.find(" ", start + width)
            if end < 0:
                break
        lines.append(text[start:end])
        start = end + 1
    lines.append(text[start:])
    return "\n".join(lines)


_PLACEHOLDER = re.compile(r"(\[\*\*.*?\*\*\])")


def capitals(text: str) -> str:
    """All in capitals, as some reports are; placeholders were put in later and keep their case."""
    parts = _PLACEHOLDER.split(text)
    return "".join(part if n % 2 else part.upper() for n, part in enumerate(parts))


_TTE = ("TTE (Complete)",) * 5 + ("Portable TTE (Complete)",) * 3 + ("TTE (Focused views)",)
_QUALITY = ("Adequate",) * 5 + ("Good",) * 2 + ("Suboptimal",) * 3
_STATUS = ("Inpatient",) * 3 + ("Outpatient",)
_CONTRAST = ("None",) * 8 + ("Saline", "Definity")


def patient_block(
    indication: str, history: str, day: str, tee: bool, random: Draw, width: int
) -> str:
    """The block on patient and test with which MIMIC-III reports begin."""
    height, weight = 58 + int(random() * 18), 105 + int(random() * 160)
    area = (height * 2.54 * weight * 0.4536 / 3600) ** 0.5
    lines = ["PATIENT/TEST INFORMATION:", wrap(f"Indication: {indication}", width)]
    if history:
        lines.append(wrap(f"Medical History: {history}", width))
    if random() < 0.9:
        lines += [f"Height: (in) {height}", f"Weight (lb): {weight}", f"BSA (m2): {area:.2f} m2"]
    lines += [
        f"BP (mm Hg): {90 + int(random() * 75)}/{45 + int(random() * 45)}",
        f"HR (bpm): {52 + int(random() * 65)}",
        f"Status: {_STATUS[int(random() * len(_STATUS))]}",
        f"Date/Time: {day} at {7 + int(random() * 12):02d}:{int(random() * 60):02d}",
        f"Test: {'TEE (Complete)' if tee else _TTE[int(random() * len(_TTE))]}",
        "Doppler: Full Doppler and color Doppler",
        f"Contrast: {_CONTRAST[int(random() * len(_CONTRAST))]}",
        f"Technical Quality: {_QUALITY[int(random() * len(_QUALITY))]}",
    ]
    return "\n".join(lines) + "\n\n\n"
