"""Synonyms from a WordNet that is already on the machine. Nothing is ever downloaded.

Where it is looked for, first found first taken:

1. the environment variable CLINQA_WORDNET: a folder with WordNet's files (index.noun, data.noun,
   noun.exc and so on), an NLTK data folder, or NLTK's wordnet.zip;
2. /usr/share/wordnet, where Debian's and Ubuntu's package wordnet-base puts it
   (`apt install wordnet-base`);
3. corpora/wordnet or corpora/wordnet.zip in NLTK's usual data folders and those of NLTK_DATA.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from clinqa.core.errors import ConfigError

__all__ = ["VARIABLE", "WordNet", "find_wordnet", "nltk_data_folder", "open_wordnet"]

VARIABLE: Final = "CLINQA_WORDNET"
_DEBIAN: Final = Path("/usr/share/wordnet")
_NLTK_FOLDERS: Final = ("/usr/share/nltk_data", "/usr/local/share/nltk_data", "/usr/lib/nltk_data")
_PARTS: Final = ("noun", "verb", "adj", "adv")
_NEEDED: Final = tuple(
    name for part in _PARTS for name in (f"index.{part}", f"data.{part}", f"{part}.exc")
)
_VERSION: Final = re.compile(rb"WordNet (\d+(?:\.\d+)*) Copyright")
_MARKER: Final = re.compile(r"\([^()]*\)$")

# WordNet's own rules of inflection (its manual, morphy): (ending, what takes its place).
_INFLECTED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}

# The table of WordNet's manual page lexnames(5), which NLTK wants as a file and Debian leaves out.
_LEXICOGRAPHER_FILES: Final = """
adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body
noun.cognition noun.communication noun.event noun.feeling noun.food noun.group noun.location
noun.motive noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process
noun.quantity noun.relation noun.shape noun.state noun.substance noun.time verb.body verb.change
verb.cognition verb.communication verb.competition verb.consumption verb.contact verb.creation
verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative verb.weather
adj.ppl
"""
_SYNTACTIC: Final = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def find_wordnet() -> Path | None:
    """Where WordNet lies on this machine, or None; CLINQA_WORDNET set wrongly is an error."""
    if named := os.environ.get(VARIABLE):
        for place in _places(Path(named)):
            if _holds_wordnet(place):
                return place
        raise ConfigError(
            f"{VARIABLE} names no WordNet: a folder with index.noun, data.noun, noun.exc and "
            "the like, an NLTK data folder, or a wordnet.zip is expected"
        )
    return next((place for place in _usual_places() if _holds_wordnet(place)), None)


def _usual_places() -> Iterator[Path]:
    yield _DEBIAN
    own = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    home = os.path.join(os.path.expanduser("~"), "nltk_data")
    for folder in (*own, home, os.path.join(sys.prefix, "nltk_data"), *_NLTK_FOLDERS):
        yield from _places(Path(folder))


def _places(folder: Path) -> Iterator[Path]:
    yield folder
    yield folder / "corpora" / "wordnet"
    yield folder / "corpora" / "wordnet.zip"


def _holds_wordnet(place: Path) -> bool:
    if place.suffix == ".zip":
        return place.is_file() and zipfile.is_zipfile(place)
    return all((place / name).is_file() for name in _NEEDED)


def nltk_data_folder(wordnet: Path, into: Path) -> Path:
    """Lay WordNet's files out as NLTK wants them, to compute the reference METEOR with NLTK.

    Copies of `wordnet`'s files under `into`/corpora/wordnet (NLTK refuses links out of the folder)
    and the file of lexicographer names that Debian leaves out. Add the folder that is returned
    to `nltk.data.path`. clinqa itself does not need it.
    """
    corpus = into / "corpora" / "wordnet"
    corpus.mkdir(parents=True, exist_ok=True)
    for name in (*_NEEDED, "index.sense", "cntlist.rev"):
        if (wordnet / name).is_file():
            shutil.copyfile(wordnet / name, corpus / name)
    lines = (
        f"{number:02d}\t{name}\t{_SYNTACTIC[name.partition('.')[0]]}\n"
        for number, name in enumerate(_LEXICOGRAPHER_FILES.split())
    )
    (corpus / "lexnames").write_text("".join(lines))
    return into


class WordNet:
    """The synonyms of a word. Read once, kept in memory (about 30 MB)."""

    def __init__(self, place: Path) -> None:
        self._index: dict[str, bytes] = {}
        self._data: dict[str, bytes] = {}
        self._irregular: dict[str, dict[str, list[str]]] = {}
        self.version = "unknown"
        for part in _PARTS:
            self._index[part] = index = _read(place, f"index.{part}")
            stated = _VERSION.search(index, 0, 4096)
            self.version = stated[1].decode() if stated else self.version
            self._data[part] = _read(place, f"data.{part}")
            lines = map(str.split, _read(place, f"{part}.exc").decode().splitlines())
            self._irregular[part] = {line[0]: line[1:] for line in lines if line}
        self._known: dict[str, frozenset[str]] = {}

    def synonyms(self, word: str) -> frozenset[str]:
        """Single words of all senses of a word and of the forms it may be inflected from."""
        if word not in self._known:
            self._known[word] = frozenset(self._looked_up(word.lower()))
        return self._known[word]

    def _looked_up(self, word: str) -> Iterator[str]:
        for part in _PARTS:
            for form in dict.fromkeys((word, *self._base_forms(word, part))):
                for offset in _offsets(self._index[part], form) if form else ():
                    yield from self._members(part, offset)

    def _base_forms(self, word: str, part: str) -> list[str]:
        irregular = self._irregular[part].get(word)
        if irregular is not None:
            return irregular
        return [
            word[: -len(ending)] + instead
            for ending, instead in _INFLECTED[part]
            if word.endswith(ending)
        ]

    def _members(self, part: str, offset: int) -> Iterator[str]:
        """The words of one synonym set: offset, file, type, count (hexadecimal), word, id, …"""
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode().split()
        for name in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
            if "_" not in name:
                yield _MARKER.sub("", name)


def _read(place: Path, name: str) -> bytes:
    if place.suffix != ".zip":
        return (place / name).read_bytes()
    with zipfile.ZipFile(place) as archive:
        return archive.read(f"wordnet/{name}")


def _offsets(index: bytes, word: str) -> list[int]:
    """Offsets of the synonym sets of a lemma: the last fields of its line in a sorted file."""
    wanted = word.encode("utf-8", "surrogatepass") + b" "
    low, high = 0, len(index)
    while low < high:
        # The line the middle lies in.
        start = index.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = index.find(b"\n", start)
        line = index[start:end]
        if line.startswith(wanted):
            fields = line.split()
            return [int(field) for field in fields[-int(fields[2]) :]]
        if line < wanted:
            low = end + 1
        else:
            high = start
    return []


@cache
def open_wordnet(place: Path) -> WordNet:
    """The WordNet at a place, read on the first call."""
    return WordNet(place)
