"""A text as folded tokens with their places: what makes two spellings of a name the same.

Case, accents, British spelling, a plural's or genitive's s and what stands between two words do not
matter: "Crohn's disease", "Crohn disease"; "diarrhoeas", "diarrhea"; "β-thalassaemia", "beta
thalassemia".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["folded", "joins", "key_of", "tokens"]

_TOKEN = re.compile(r"[^\W_]+(?:['’]s(?![^\W_]))?")
_BETWEEN = re.compile(r"[\s\-‐‑–'’/]{1,4}")
_BRITISH = re.compile(r"([ao])e(?=[a-z])")
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "κ": "kappa",
    "λ": "lambda", "μ": "mu",
}  # fmt: skip
_ROMAN = {"ii": "2", "iii": "3", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12"}
"""Those that are nothing else: not I, V, X, nor IV for a vein."""
_KEPT_S = ("ss", "us", "is", "os")
_FEWEST = 4
_CACHED = 1 << 18


def tokens(text: str) -> list[tuple[str, int, int]]:
    """(folded token, start, end) of every word and number of a text.

    >>> tokens("Crohn's disease")
    [('crohn', 0, 7), ('disease', 8, 15)]
    """
    return [(folded(one[0]), one.start(), one.end()) for one in _TOKEN.finditer(text)]


def joins(text: str, start: int, end: int) -> bool:
    """Can what stands between two words stand within a name? A full stop or comma cannot."""
    return _BETWEEN.fullmatch(text, start, end) is not None


def key_of(name: str) -> tuple[str, ...]:
    """A name as the tokens it is found by.

    >>> key_of("Anaemias, haemolytic"), key_of("β-Thalassemia")
    (('anemia', 'hemolytic'), ('beta', 'thalassemia'))
    """
    return tuple(token for token, _, _ in tokens(name))


@lru_cache(maxsize=_CACHED)
def folded(word: str) -> str:
    """One spelling of a word."""
    plain = word.casefold()
    if plain in _ROMAN:
        return _ROMAN[plain]
    if plain.endswith(("'s", "’s")):
        plain = plain[:-2]
    if not plain.isascii():
        plain = "".join(_GREEK.get(letter, letter) for letter in plain)
        plain = plain.replace("æ", "ae").replace("œ", "oe")
        parts = unicodedata.normalize("NFKD", plain)
        plain = "".join(part for part in parts if not unicodedata.combining(part))
    plain = _BRITISH.sub("e", plain).replace("tumour", "tumor")
    if len(plain) >= _FEWEST and plain.endswith("s") and not plain.endswith(_KEPT_S):
        plain = plain[:-3] + "y" if plain.endswith("ies") else plain[:-1]
    return plain
