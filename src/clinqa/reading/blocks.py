"""Where reports of one kind stand inside a longer note.

A discharge summary quotes studies among its results: `___ TTE: ...`, then `CXR: ...`, then the
hospital course. The pack names the phrases that open such a block and those that end it; this
module knows how notes are written: bullets, dates and blanks around a header, a colon or a line of
its own. A phrase inside a sentence opens nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

__all__ = ["find_blocks"]

# sections of a discharge summary in which a study is history or opinion, not a result
_NARRATIVE = (
    "chief complaint",
    "history of present illness",
    "hpi",
    "past medical history",
    "social history",
    "family history",
    "physical exam",
    "physical examination",
    "brief hospital course",
    "hospital course",
    "transitional issues",
    "medications on admission",
    "discharge medications",
    "discharge disposition",
    "discharge diagnosis",
    "discharge condition",
    "discharge instructions",
    "followup instructions",
)
# sections that list results; a header may follow one of these labels on the same line
RESULTS = (
    "pertinent results",
    "pertinent studies",
    "relevant results",
    "relevant studies",
    "results",
    "other results",
    "studies",
    "other studies",
    "imaging",
    "imaging studies",
    "diagnostics",
    "cardiac studies",
    "cardiology",
    "study",
    "data",
)
CUES = {*_NARRATIVE, "admission date", "discharge date", "pertinent results"}
# words that a header may hold beside its phrase
WORDS = (
    "on|of|from|dated?|done|at|am|pm|final|prelim(?:inary)?|reports?|study|exam(?:ination)?|"
    "results?|findings|complete|limited|focused|portable|bedside|repeat|initial|admission|"
    "discharge|inpatient|outpatient|post|pre|intra-?op(?:erative)?|op|follow-?up|performed|the|"
    "and|with|contrast|official|formal|read|summary|part"
)
MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[ ]?[ap]m\b)?"
_WHEN = (
    rf"(?:\[\*\*[^\]\n]*\]|_{{2,}}|{_TIME}|\d{{1,4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,4}})?(?![\w%])"
    rf"|(?:{MONTHS})\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?\b|\d{{4}}\b)"
)
_BULLET = r"(?P<bullet>[ \t]*(?:[-*•·#>=~+]+|\d{1,2}[.)](?=[ \t])|\(\d{1,2}\))?)"
# a row of laboratory values, as a results section lists them
_LAB_ROW = rf"[ \t]*{_WHEN}[ \t]+{_TIME}[ \t]+[a-z]{{3,}}[ \t]"
# "RUQ US (___):", a study nobody named; a report's own headers carry no date, save these
_OTHER_STUDY = (
    r"(?!(?:addend|amend|compar|conclu|impress|finding|prior|since|note|review|read)\w*)"
    rf"[a-z][\w/&+-]*(?:[ \t]+[\w/&+-]+){{0,4}}[ \t]*\(?{_WHEN}\)?[ \t]*:"
)
_GOES_ON = re.compile(r"[a-z]{2,},?[ \t]*\r?\Z")
_INLINE = re.compile(r"(?<=[.:;])[ \t]+(?=\S)|[ \t]{2,}(?=\S)")
_BEFORE_TITLE = " \t*#=_-"
_AFTER_TITLE = re.compile(r"[ \t*=]*(?::|(?=\r?\n|\Z))")
# characters of a body without which a header opens nothing
_BODY, _WHOLE_BODY = 6, 60
# a note with fewer line ends than one in so many characters has lost its lines
FLAT = 400


@dataclass(frozen=True, slots=True)
class _Mark:
    """A header: where it begins, where its body does, and the bullet before it."""

    start: int
    end: int
    bullet: str = ""


@dataclass(frozen=True, slots=True)
class _Title:
    """A section title of the note; what follows lists results, or tells a story."""

    start: int
    end: int
    name: str

    @property
    def results(self) -> bool:
        return self.name in RESULTS


@dataclass(frozen=True, slots=True)
class _Patterns:
    starts: tuple[str, ...]
    stops: tuple[str, ...]
    phrase: re.Pattern[str]
    run: re.Pattern[str]
    stop: re.Pattern[str]
    other: re.Pattern[str]


def find_blocks(text: str, starts: Sequence[str], stops: Sequence[str]) -> list[tuple[int, int]]:
    """Where the reports stand in a note, as (start, end) in characters, in text order.

    A note that is a report as a whole gives one block, all of it; it gives several where several
    headers each have a body of their own. In a longer note a block runs from its header to the
    next phrase of `stops`, section of the note, other dated study or row of laboratory values;
    blocks in its history and in its hospital course are no results and are left out.

    >>> note = "Pertinent Results:\\nTTE ___: EF 60%. No AS.\\nCXR: clear."
    >>> [note[a:b] for a, b in find_blocks(note, ["TTE"], ["CXR"])]
    ['TTE ___: EF 60%. No AS.']
    """
    if not text.strip():
        return []
    # most texts are reports as a whole, so literal searches decide before any line is parsed
    low = _lower(text)
    patterns = _compiled(tuple(starts), tuple(stops))
    flat = len(text) > FLAT and text.count("\n") * FLAT < len(text)
    opens = _opens(text, low, patterns, flat)
    titles = _titles(text, low, flat)
    cues = len({title.name for title in titles} & CUES)
    if cues >= 2 or (opens and (cues or _has_stop(text, low, patterns, flat))):
        return _inside(text, opens, titles, patterns, flat)
    return _whole(text, opens)


def _whole(text: str, opens: list[_Mark]) -> list[tuple[int, int]]:
    """All of the text, cut where a header with enough of a body follows another such one."""
    cuts = [0]
    for place, after in pairwise([*(mark.start for mark in opens[1:]), len(text)]):
        if min(_weight(text[cuts[-1] : place]), _weight(text[place:after])) >= _WHOLE_BODY:
            cuts.append(place)
    if len(cuts) == 1:
        return [(0, len(text))]
    return [_trimmed(text, start, end) for start, end in pairwise([*cuts, len(text)])]


def _inside(
    text: str, opens: list[_Mark], titles: list[_Title], patterns: _Patterns, flat: bool
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    starts = {mark.start for mark in opens}
    taken = 0
    for mark in opens:
        section = next((title for title in reversed(titles) if title.start <= mark.start), None)
        if mark.start < taken or (section and not section.results):
            continue
        end = min([title.start for title in titles if title.start > mark.start] or [len(text)])
        for place, own_line in _places(text, mark.end, end, flat):
            if place in starts or _ends(text, place, patterns, own_line):
                # "ECHOCARDIOGRAM" over "TTE ___:" is one header of two lines
                if place in starts and _weight(text[mark.end : place]) < _BODY:
                    continue
                end = place
                break
        end = _bullet_end(text, mark, end)
        if _weight(text[mark.end : end]) >= _BODY:
            found.append(_trimmed(text, mark.start, end))
            taken = end
    return found


def _places(text: str, start: int, end: int, flat: bool) -> Iterator[tuple[int, bool]]:
    """Where something can begin after `start`: lines; in a note that lost them, sentences too."""
    line = start
    while line < end:
        newline = text.find("\n", line, end)
        stop = end if newline < 0 else newline
        if flat:
            yield from ((gap.end(), False) for gap in _INLINE.finditer(text, line, stop))
        line = stop + 1
        if line < end:
            while line < end and text[line] in " \t":
                line += 1
            yield line, True


def _ends(text: str, place: int, patterns: _Patterns, own_line: bool) -> bool:
    """Does something else than the report begin at this place?"""
    match = patterns.stop.match(text, place)
    if match and (match[0].endswith(":") or (own_line and not _continues(text, place))):
        return True
    return bool(patterns.other.match(text, place))


def _bullet_end(text: str, mark: _Mark, end: int) -> int:
    """A header that is one point of a list ends at the next point of that list."""
    if not mark.bullet.strip() or not _weight(text[mark.end : end].partition("\n")[0]):
        return end
    sign = re.sub(r"\d+", "#", re.escape(mark.bullet)).replace("#", r"\d+")
    point = re.compile(rf"^{sign}(?=[ \t]*\w)", re.MULTILINE).search(text, mark.end, end)
    return point.start() if point else end


def _opens(text: str, low: str, patterns: _Patterns, flat: bool) -> list[_Mark]:
    """The headers that open a block, each at a place where one of the phrases stands."""
    tried: set[int] = set()
    found: dict[int, _Mark] = {}
    for phrase in patterns.starts:
        for place in _words(low, phrase.split()[0]):
            line = low.rfind("\n", 0, place) + 1
            begins = [line]
            if flat:
                near = max(line, place - 80)
                gaps = _INLINE.finditer(text, near, place + 1)
                begins += [gap.end() for gap in gaps if gap.end() <= place]
            for begin in begins:
                if begin not in tried:
                    tried.add(begin)
                    mark = _open(text, begin, patterns, own_line=begin == line)
                    if mark:
                        found[mark.start] = mark
    return [found[start] for start in sorted(found)]


def _open(text: str, start: int, patterns: _Patterns, *, own_line: bool) -> _Mark | None:
    """A header at this place: nothing but the phrase, dates and filling words, and then a colon,
    the end of the line, or a date and a dash. "Pertinent Results: ___ TTE: ..." is one too."""
    run = patterns.run.match(text, start)
    if not run or not (phrase := patterns.phrase.search(run["run"])):
        title = _RESULTS_TITLE.match(text, start)
        return _open(text, title.end(), patterns, own_line=own_line) if title else None
    end, said = run.end(), run["run"]
    begin = run.start("run") + len(said) - len(said.lstrip(" \t"))
    follows = text[end : end + 1]
    if follows == ":":
        return _Mark(begin, end + 1, run["bullet"])
    if follows in ("", "\n", "\r"):
        bullet = run["bullet"].strip()
        listed = bool(bullet) and text[end:].lstrip().startswith(bullet)
        alone = own_line and not _continues(text, start) and not listed
        return _Mark(begin, end, run["bullet"]) if alone else None
    dated = _WHEN_RE.search(said[phrase.end() :])
    if dated and said.rstrip()[-1:] in "-–—" and said[-1:] in " \t":
        return _Mark(begin, end, run["bullet"])
    return None


def _has_stop(text: str, low: str, patterns: _Patterns, flat: bool) -> bool:
    for phrase in patterns.stops:
        for place in _words(low, phrase.split()[0]):
            line = low.rfind("\n", 0, place) + 1
            if _ends(text, line, patterns, own_line=True):
                return True
            if flat and patterns.stop.match(text, place):
                return True
    return False


def _titles(text: str, low: str, flat: bool = False) -> list[_Title]:
    """The section titles of a note, in text order."""
    found = []
    for name in _TITLES:
        place = low.find(name)
        while place >= 0:
            after = _AFTER_TITLE.match(text, place + len(name))
            before = place
            while before and text[before - 1] in _BEFORE_TITLE:
                before -= 1
            starts = not before or text[before - 1] == "\n"
            inline = flat and before < place and text[before - 1] in ".:;"
            if after and (starts or (inline and after[0].endswith(":"))):
                found.append(_Title(place, after.end(), name))
            place = low.find(name, place + 1)
    return sorted(found, key=lambda title: (title.start, -title.end))


def _words(low: str, word: str) -> Iterator[int]:
    """Where a word stands by itself."""
    size = len(word)
    place = low.find(word)
    while place >= 0:
        inside = low[place - 1].isalnum() if place else False
        if not inside and not low[place + size : place + size + 1].isalnum():
            yield place
        place = low.find(word, place + 1)


def _lower(text: str) -> str:
    """Lower case with every character at its place."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one if len(one) == 1 else sign for sign, one in ((c, c.lower()) for c in text))


def _continues(text: str, start: int) -> bool:
    """Is this line the rest of a sentence that was wrapped?"""
    before = text[:start].rpartition("\n")[0].rpartition("\n")[2] if start else ""
    return len(before.strip()) >= 40 and bool(_GOES_ON.search(before))


def _weight(text: str) -> int:
    return sum(map(str.isalnum, text))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _phrases(phrases: Sequence[str]) -> str:
    """Any of the phrases as whole words, the longest first, with any blanks between words."""
    ordered = sorted(
        {phrase.strip() for phrase in phrases if phrase.strip()}, key=lambda p: -len(p)
    )
    each = [r"[ \t]+".join(map(re.escape, phrase.split())) for phrase in ordered]
    return r"(?<!\w)(?:" + ("|".join(each) or r"(?!)") + r")(?!\w)"


_WHEN_RE = re.compile(_WHEN, re.IGNORECASE)
_RESULTS_TITLE = re.compile(rf"[ \t*#=-]*{_phrases(RESULTS)}[ \t]*:(?=[ \t]*\S)", re.IGNORECASE)
_TITLES = tuple(sorted({*_NARRATIVE, *RESULTS, *CUES}))


@lru_cache(maxsize=16)
def _compiled(starts: tuple[str, ...], stops: tuple[str, ...]) -> _Patterns:
    begin, stop = _phrases(starts), _phrases(stops)
    words = rf"\b(?:{WORDS})(?![\w-])"
    fill = rf"(?:[ \t,;*#=~–—-]|{_WHEN}|\([^()\n]{{0,60}}\)|{begin}|{words})"
    lead = rf"{_BULLET}(?:{_WHEN}|\([^()\n]{{0,60}}\)|[ \t,:*#-])*+"
    rest = r"[^.;:\n]{0,60}"
    return _Patterns(
        starts=tuple(phrase.casefold() for phrase in starts if phrase.strip()),
        stops=tuple(phrase.casefold() for phrase in stops if phrase.strip()),
        phrase=re.compile(begin, re.I),
        run=re.compile(rf"{_BULLET}[ \t]*(?P<run>{fill}++)", re.I),
        stop=re.compile(rf"{lead}{stop}{rest}(?::|(?=\r?\n|\Z))", re.I),
        other=re.compile(rf"{_BULLET}[ \t]*{_OTHER_STUDY}|{_LAB_ROW}", re.I),
    )
