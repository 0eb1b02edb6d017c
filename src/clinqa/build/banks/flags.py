"""What makes a question unfit to be asked as text: an image nobody sees, or garbled characters."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["is_garbled", "needs_image"]

_PICTURE = (
    r"(?:images?|pictures?|photos?|photographs?|photomicrographs?|micrographs?|figures?|fig\.|"
    r"exhibits?|diagrams?|illustrations?|drawings?|slides?|schematic|video)"
)
_RECORDING = (
    r"(?:x-?rays?|radiographs?|cxr|ct|cect|mri|scans?|ultrasound|sonogra\w+|usg|angiogra\w+|"
    r"ecg|ekg|electrocardiogram|eeg|tracings?|audiogram|histolog\w+|histopathol\w+|biops\w+|smear|"
    r"fundoscop\w+|echocardiogra\w+|venogram|mammogram|barium \w+|imaging|lesions?|rash|specimen|"
    r"microscop\w+|graph|chart|curve|flow-volume loop)"
)
_SHOWN = r"(?:shown|depicted|displayed|pictured|illustrated|attached)"
_GIVEN = r"(?:shown|depicted|displayed|pictured|illustrated|attached|given|provided|seen)"
_IMAGE = re.compile(
    "|".join(
        (
            rf"\b(?:in|on|by|from) (?:the|this|these|following|accompanying|given|attached) "
            rf"(?:\w+ )?{_PICTURE}\b(?! of (?:speech|merit))",
            rf"\b(?:see|refer to|look at|observe) (?:the )?(?:\w+ )?{_PICTURE}\b",
            rf"\bas (?:shown|seen|depicted) in (?:the |this )?(?:\w+ )?{_PICTURE}\b",
            rf"\b{_PICTURE} (?:\w+ ){{0,6}}?(?:is|are|was|were)? ?{_GIVEN}\b",
            rf"\b(?:{_PICTURE}|{_RECORDING})\b[^.?!:]{{0,60}}\b(?:is|are|was|were|as|and) {_SHOWN}"
            r"(?: (?:below|above|here|to the (?:left|right)))? ?[.?]",
            rf"\b{_RECORDING}\b[^.?!:]{{0,40}}\b{_GIVEN} (?:below|above|here)\b(?! ?:)",
            r"\b(?:marked|labell?ed|indicated|pointed)\b[^.?!]{0,25}\barrows?\b",
            r"\bmarked (?:as )?(?:[a-e]|x)\b (?:in|on)\b",
            r"\b(?:image|figure|exhibit|fig\.?) [a-e1-9]\b(?! (?:of|mm))",
        )
    ),
    re.I,
)
_VALUES_FOLLOW = re.compile(rf"\b{_GIVEN}\b(?: \w+){{0,3}} ?:", re.I)

_BROKEN = re.compile(
    r"\d0b0|0b0[CF]\b"  # a degree sign that lost its escape: 36.5̆0b0C
    r"|\(cid:\d+\)"  # a PDF's glyphs without a character
    r"|\\u[0-9a-fA-F]{4}|&(?:lt|gt|amp|nbsp|#\d{2,5});"  # escapes that nobody undid
    r"|[ÃÂ][\u0080-\u00bf]|â€"  # UTF-8 read as Latin-1
    r"|\?\?\?"
)


def needs_image(question: str) -> bool:
    """Does the question speak of an image that is not there?

    >>> needs_image("The ECG is shown below. What is the diagnosis?")
    True
    >>> needs_image("Laboratory values are shown below: sodium 128 mEq/L.")
    False
    """
    found = _IMAGE.search(question)
    return found is not None and not _VALUES_FOLLOW.search(question, found.start(), found.end() + 2)


def is_garbled(text: str) -> bool:
    """Are there characters that no writer meant: broken escapes, loose marks, control characters?

    >>> is_garbled("a temperature of 36.5\\u03060b0C"), is_garbled("37.2°C; µg, naïve, Sjögren")
    (True, False)
    """
    if text.isascii():
        return bool(_BROKEN.search(text)) or any(c < " " and c not in "\n\r\t" for c in text)
    if _BROKEN.search(text):
        return True
    before = " "
    for char in text:
        kind = unicodedata.category(char)
        if (
            char == "\ufffd"
            or kind in ("Co", "Cn", "Cs")
            or (kind == "Cc" and char not in "\n\r\t")
        ):
            return True
        if kind == "Mn" and not before.isalpha() and unicodedata.category(before) != "Mn":
            return True
        before = char
    return False
