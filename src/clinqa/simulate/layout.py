"""How a report looks: the block about patient and test, headers, hard wraps, capitals."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["SECTIONS", "HeaderStyle", "capitals", "patient_block", "pick_headers", "wrap"]

Draw = Callable[[], float]

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
