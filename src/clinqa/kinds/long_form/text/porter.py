"""Porter's stemmer with the later amendments that NLTK and rouge-score use.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. Both libraries take NLTK's
variant: a few irregular forms, words of one or two letters left alone, y to i after a consonant
only, -ies and -ied kept apart in short words, and three more endings. Scores are comparable with
published ones only if every stem is the same, so tests compare this with NLTK's over odd strings.
"""

from __future__ import annotations

from typing import Final

__all__ = ["stem"]

_IRREGULAR: Final = {
    **{word: word for word in ("sky", "news", "howe", "proceed", "exceed", "succeed")},
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    **{word: word.rstrip("s") for word in ("inning", "innings", "outing", "outings")},
    **{word: word.rstrip("s") for word in ("canning", "cannings")},
}

# (ending, what takes its place), in the order in which they are tried; the first ending that
# fits decides, whether or not its condition then holds.
_DERIVED: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_INNER: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_LAST: Final = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """The stem of a word, in lower case.

    >>> [stem(word) for word in ("dilated", "Regurgitations", "valves", "severely", "skies")]
    ['dilat', 'regurgit', 'valv', 'sever', 'sky']
    """
    made = word.lower()
    if made in _IRREGULAR:
        return _IRREGULAR[made]
    if len(word) <= 2:
        return made
    made = _y_to_i(_past_and_gerund(_plural(made)))
    return _final_letters(_last_suffix(_inner_suffix(_derived_suffix(made))))


def _shape(word: str) -> str:
    """`c` or `v` for each letter. A y is a vowel exactly after a consonant."""
    made: list[str] = []
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and bool(made) and made[-1] == "c")
        made.append("v" if vowel else "c")
    return "".join(made)


def _measure(word: str) -> int:
    """How often a consonant follows a vowel: Porter's m."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x, y; or just vowel, consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape[-3:] == "cvc" and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and "v" in _shape(word[: -len(ending)]):
            return _mended(word[: -len(ending)])
    return word


def _mended(word: str) -> str:
    """What -ed or -ing was taken from, with its e or its single letter back."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _y_to_i(word: str) -> str:
    if len(word) > 2 and word[-1] == "y" and _shape(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _derived_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _derived_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _DERIVED)


def _inner_suffix(word: str) -> str:
    return _replaced(word, _INNER)


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in rules:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if _measure(rest) else word
    return word


def _last_suffix(word: str) -> str:
    for ending in _LAST:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if fits else word
    return word


def _final_letters(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
