"""What makes a question unfit to be asked as text: an image nobody sees, or garbled characters."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["is_garbled", "needs_image"]

_PICTURE = (
    r"(?:images?|pictures?|photos?|photographs?|photomicrographs?|micrographs?|figures?|fig\.|"
    r"exhibits?|diagrams?|illustrations?|drawings?|slides?|schematic|video|colou?r plates?)"
)
_RECORDING = (
    r"(?:x ?-? ?rays?|radiographs?|cxr|ct|cect|mri|scans?|ultraso\w+|sonogra\w+|usg|angiogra\w+|"
    r"ecg|ekg|electrocardiogram|eeg|tracings?|audiogram|histolog\w+|histopathol\w+|biops\w+|smear|"
    r"fundoscop\w+|echocardiogra\w+|venogram|mammogram|barium \w+|imaging|lesions?|rash|specimen|"
    r"microscop\w+|graph|charts?|curve|flow-volume loop|\w+ethrogram|cardiotocography(?: reading)?|"
    r"stain(?: of (?:the )?\w+)?|(?:scatter ?)?plot|cardiac examination|electrophoresis|flow cha)"
)
_NAMELESS = r"(?:process|instrument|device|case|condition|structure|procedure|specimen|socket)"
_SHOWN = r"(?:shown|depicted|displayed|pictured|illustrated|attached)"
_GIVEN = r"(?:shown|depicted|displayed|pictured|illustrated|attached|given|provided|seen)"
_IMAGE = re.compile(
    "|".join(
        (
            rf"\b(?:in|on|by|from) (?:the|this|these|following|accompanying|given|attached) "
            rf"(?:\w+ )?{_PICTURE}\b(?! of (?:speech|merit))",
            rf"\b(?:see|refer to|look at|observe) (?:the )?(?:\w+ )?{_PICTURE}\b",
            rf"\bas (?:shown|seen|depicted) in (?:the |this )?(?:\w+ )?{_PICTURE}\b",
            rf"\b{_PICTURE} (?:[\w’'-]+ ){{0,6}}?(?:is|are|was|were)? ?{_GIVEN}\b",
            rf"\b{_GIVEN} in (?:a |the )?(?:fig\b|{_PICTURE})",
            rf"\b{_SHOWN} in (?:a |the )?{_RECORDING}\b",
            rf"\b{_NAMELESS} (?:is |are )?{_GIVEN}(?: (?:below|above|here))? ?(?:is|/is|[.?:]|$)",
            r"^(?:figures?|images?|pictures?) (?:depicts?|shows?)\b",
            rf"\bthe given (?:below )?{_NAMELESS}\b",
            r"\bvideo[ -]based\b",
            rf"\b(?:{_PICTURE}|{_RECORDING})\b[^.?!:]{{0,60}}\b(?:is|are|was|were|as|and) {_SHOWN}"
            r"(?: (?:below|above|here|to the (?:left|right)))? ?[.?]",
            rf"\b{_RECORDING}\b[^.?!:]{{0,40}}\b{_GIVEN} (?:below|above|here)\b(?! ?:(?!\s*$))",
            r"\b(?:marked|labell?ed|indicated|pointed)\b[^.?!]{0,25}\barrows?\b",
            r"\bmarked (?:as )?(?:[a-e]|x)\b (?:in|on)\b",
            r"\b(?:image|figure|exhibit|fig\.?) [a-e1-9]\b(?! (?:of|mm))",
        )
    ),
    re.I,
)
_VALUES_FOLLOW = re.compile(rf"\b{_GIVEN}\b(?: \w+){{0,3}} ?:", re.I)

#: Words of MedMCQA that lost the letters "rt" and became words of nothing: moality, hea rate.
_WITHOUT_RT = (
    r"\b(?:a(?:boion|ery|eries|eriol|eriosus|eritis|hritis|hroplast|oic\b|oa\b|spaa|ificial)|bihs?\b|"
    r"c(?:ailag|eain|oex\b|oic|oho\b|oiso|onveed|ompament)|depament|discomfo\b|diveic|"
    r"f(?:eiliz|uher)|glucocoic|hypeens|"
    r"hea (?:rate|disease|failure|block|sound|beat|attack|valve)|"
    r"i(?:mpoan|nfeil|nseed|nsei(?:on|ng)|nterveeb)|moality|oho(?:paedi|pedi|stat)|"
    r"p(?:aial|aicl|aicip|aum\b|oable|oal\b|ostpaum|ropei|ropey\b|ropoion|ubey)|quaile|repoed|"
    r"s(?:hone?ss|taed\b|taing\b|uppo(?:\b|ive|ed|ing))|transpoe|uicaria|ve(?:eb|ex\b|ical\b|igo\b))"
)
_BROKEN = re.compile(
    r"\d0b0|0b0[CF]\b"  # a degree sign that lost its escape: 36.5̆0b0C
    r"|\(cid:\d+\)"  # a PDF's glyphs without a character
    r"|\\u[0-9a-fA-F]{4}|&(?:lt|gt|amp|nbsp|#\d{2,5});"  # escapes that nobody undid
    r"|[ÃÂ][\u0080-\u00bf]|â€"  # UTF-8 read as Latin-1
    r"|\?\?\?"
)
_LOST = re.compile(_WITHOUT_RT, re.I)


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
    """Are there characters that no writer meant, or words that lost theirs?

    Broken escapes, loose marks, control characters; and MedMCQA's words without "rt".

    >>> is_garbled("a temperature of 36.5\\u03060b0C"), is_garbled("37.2°C; µg, naïve, Sjögren")
    (True, False)
    """
    if _LOST.search(text):
        return True
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
