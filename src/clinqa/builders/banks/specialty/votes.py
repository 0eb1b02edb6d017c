"""Five votes and what they decide. No majority is one outcome, the class "Others" another.

What label a reply committed to; naming a specialty in passing is no vote.

A reply is folded (case, marks, British spelling) and every name in it is found, the longest first
and whole words only, so that "Radiation Oncology" is not "Oncology" and "Neurology" holds no
"Urology". A name that is denied ("not a Cardiology question", "rather than Neurology", "Urology
would be wrong") does not count. Then what was committed to, in this order: a JSON answer; the name
after the last "Specialty:" or "Answer:"; a reply or a first line that is a name; the name that the
last conclusion names; the only name in the reply. Several names and no commitment are no vote, and
neither are two answers ("Specialty: …" twice) of which the last is not said to be the final one, or
to correct the other. What is no reply at all (cut off, half JSON, the question again) is none
(`replies`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from clinqa.builders.banks.specialty.replies import json_in, new_text, said_before_cut
from clinqa.core.records import Reason
from clinqa.packs.specialties import Specialties, fold

__all__ = ["VOTERS", "ReadLabel", "Vote", "VoteTally", "read_label", "tally"]

VOTERS = 5


@dataclass(frozen=True, slots=True)
class Vote:
    """What one voter said: its label (None: no vote), and its reply as it came."""

    voter: str
    label: str | None
    raw: str
    why: str = ""  # why there is no vote: empty, none, ambiguous, or a model's error

    def as_struct(self) -> dict[str, str | None]:
        return {"voter": self.voter, "label": self.label, "raw": self.raw}


@dataclass(frozen=True, slots=True)
class VoteTally:
    """`label` and how many voted for it; None where no label has more votes than every other."""

    label: str | None
    count: int

    def decided(self, quorum: int) -> str | None:
        """The label, if so many voted for it."""
        return self.label if self.label is not None and self.count >= quorum else None

    def reason(self, quorum: int, others: str) -> Reason | None:
        """Why it is no item; None if it is one."""
        label = self.decided(quorum)
        if label is None:
            return Reason.NO_MAJORITY
        return Reason.OTHERS if label == others else None


def tally(labels: Sequence[str | None], pack: Specialties | None = None) -> VoteTally:
    """Count votes; with a pack, names in any spelling are resolved first.

    >>> tally(["Cardiology", "Cardiology", "Neurology", "Neurology", "Others"])
    VoteTally(label=None, count=2)
    """
    if pack is not None:
        labels = [None if one is None else pack.resolve(one) for one in labels]
    counts: Mapping[str, int] = Counter(one for one in labels if one is not None)
    if not counts:
        return VoteTally(None, 0)
    most = max(counts.values())
    first = [label for label, count in counts.items() if count == most]
    return VoteTally(first[0] if len(first) == 1 else None, most)


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """`label` is None where nothing was committed to; `why` then says empty, none, ambiguous,
    echo, cut_off or odd_json."""

    label: str | None
    why: str = ""


_MARKED = re.compile(
    r"(?:^|[\n.;!?(]|\b(?:so|therefore|thus|hence) )\s*"
    r"(?:the |my |final |most |best |fitting |likely |clinical |medical |correct |appropriate |"
    r"suitable |relevant )*"
    r"(?:specialty|speciality|answer|label|category|classification)"
    r"\s*(?::|=|-|\bis\b|\bwould be\b)\s*"
    r"(?:the |most |likely |clinical |medical |specialty |of |to be |therefore |that of )*",
)
_CONCLUSION = re.compile(
    r"\b(?:belongs? (?:most clearly |best )?(?:to|in|under)|falls? (?:under|within|into)|"
    r"(?:is|be) (?:best )?(?:classified|categorized|assigned|placed) (?:as|under|to|in)|"
    r"(?:i|we) (?:would )?(?:choose|select|pick|assign|classify this as|go with)|"
    r"(?:so|therefore|thus|hence),? (?:it is|this is|i choose|the choice is)?|"
    r"best (?:fit|match|choice|described by) (?:is|would be)?|"
    r"this is (?:clearly |primarily |mainly )?)"
    r"\s*(?:a |an |the )?(?:field of |specialty of |domain of |question of |question in )?"
)
_DENIED = re.compile(
    r"(?:\bnot|\b(?:is|was|are|does|do|did|would|could|should|ca|wo)nt|"
    r"\bcannot|\bunable|\bnever|\bimpossible|\bwrong to|\bincorrect to|\bhard to|\brefuse|"
    r"\bnor|\bneither|\brather than|\binstead of|\bunlike|\bexcept|\bexcluding|"
    r"\bwithout|\bbut not|\bno)\b[^.;:!?\n]{0,40}"
    r"(?:\b(?:specialty|speciality|answer|label|category)\s*[:=]\s*)?$"
)
_DENIED_AFTER = re.compile(
    r"[\"'\s]*(?:(?:is|was|would be|seems|cannot be|can be) )?"
    r"(?:not (?:right|correct|it|the|a|an|certain)|wrong|incorrect|ruled out|excluded|unlikely|"
    r"less likely)\b"
)
_CORRECTS = re.compile(
    r"\b(?:final|finally|correction|corrected|rather|instead|actually|no|wait|however|so|therefore|"
    r"thus|hence|reflection|reconsider\w*|but)\b"
)
_OPEN_OBJECT = re.compile(r"\{\s*[\"']")
_ENDS_DENIAL = re.compile(r"\b(?:but|rather|instead|it is|its|is a|however)\b(?! than| of)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,40}>")
_LEADS = re.compile(r"^(?:\(?[a-z0-9]{1,2}[.)]\s+|[-•]\s+)?")


def read_label(reply: str, pack: Specialties, prompt: str = "", *, cut: bool = False) -> ReadLabel:
    """The label that a reply to a prompt votes for; `cut`: it ended before it was done.

    >>> from clinqa.packs.specialties import builtin_specialties
    >>> pack = builtin_specialties()
    >>> read_label("Neurology. This is not a Cardiology question.", pack).label
    'Neurology'
    >>> read_label("This is not a Cardiology question.", pack)
    ReadLabel(label=None, why='none')
    """
    if not reply.strip():
        return ReadLabel(None, "empty")
    reply = new_text(reply, prompt)
    if not reply:
        return ReadLabel(None, "echo")
    if cut:
        reply = said_before_cut(reply)
        stated = _stated(reply, pack) or pack.resolve(_TAG.sub("", reply))
        return ReadLabel(stated, "" if stated else "cut_off")
    stated = _stated(reply, pack)
    if stated:
        return ReadLabel(stated)
    if _OPEN_OBJECT.search(reply):  # half of JSON, or one that what stands around it denies
        return ReadLabel(None, "odd_json")
    whole = pack.resolve(_TAG.sub("", reply))
    if whole:
        return ReadLabel(whole)
    lines = [_plain(line) for line in reply.splitlines()]
    text = "\n".join(line for line in lines if line)
    found = _mentions(text, pack)
    lead = _LEADS.match(text)
    marked = _after(_MARKED, text)
    if _contradicted(marked, found, text, pack):
        return ReadLabel(None, "ambiguous")
    for places in (marked, [lead.end() if lead else 0]):
        committed = _one_at(places, found, text, pack)
        if committed:
            return ReadLabel(committed)
    named = [m for m in found if m.label != pack.others and not _is_denied(m, text)]
    committed = _one_at(_after(_CONCLUSION, text), named, text, pack)
    if committed:
        return ReadLabel(committed)
    labels = {m.label for m in named}
    if len(labels) == 1:
        return ReadLabel(labels.pop())
    return ReadLabel(None, "ambiguous" if labels else "none")


@dataclass(frozen=True, slots=True)
class _Mention:
    label: str
    start: int
    end: int


def _stated(reply: str, pack: Specialties) -> str | None:
    """The label of a JSON answer; none where it gives two."""
    said, _ = json_in(reply)
    keys = ("specialty", "speciality", "label", "answer")
    given = [said[key] for key in keys if isinstance(said.get(key), str)] if said else []
    labels = {pack.resolve(one) for one in given}
    return labels.pop() if len(labels) == 1 else None


def _contradicted(marked: list[int], found: list[_Mention], text: str, pack: Specialties) -> bool:
    """Are there two answers, and is the last neither the final one nor a correction?"""
    said = [(place, _one_at([place], found, text, pack)) for place in marked]
    answers = [(place, label) for place, label in said if label is not None]
    if len({label for _, label in answers}) < 2:
        return False
    last, label = answers[0]
    before = next(place for place, other in answers if other != label)
    return _CORRECTS.search(text, before, last) is None


def _plain(line: str) -> str:
    """A line folded, with the marks that end sentences left in it."""
    line = _TAG.sub("", unicodedata.normalize("NFKC", line))
    parts = re.split(r"([.;:!?,()=]+\s*|\s+-+\s+|/)", line)
    return "".join(
        fold(part) + (" " if part[-1:].isspace() else "") if at % 2 == 0 else part
        for at, part in enumerate(parts)
        if part
    ).strip()


@lru_cache(maxsize=4)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    joined = "|".join(re.escape(name).replace(r"\ ", r"[\s,/-]+") for name in longest)
    return re.compile(rf"(?<![\w-])(?:{joined})(?![\w])(?!-\w)")


def _mentions(text: str, pack: Specialties) -> list[_Mention]:
    names = tuple(pack.by_name)
    return [
        _Mention(pack.by_name[_key(match[0])], match.start(), match.end())
        for match in _pattern(names).finditer(text)
        if _key(match[0]) in pack.by_name
    ]


def _key(found: str) -> str:
    return fold(found) if "/" in found or "," in found else " ".join(found.split())


def _after(pattern: re.Pattern[str], text: str) -> list[int]:
    """Where what follows a mark begins, the last mark first: later words correct earlier ones."""
    return [match.end() for match in reversed(list(pattern.finditer(text)))]


def _one_at(places: list[int], found: list[_Mention], text: str, pack: Specialties) -> str | None:
    """The label that begins right at one of the places, and is not denied, nor one of two."""
    for place in places:
        for mention in found:
            if mention.start == place and not _is_denied(mention, text):
                rest = text[mention.end : mention.end + 4]
                other = next((m for m in found if m.start > mention.end), None)
                joined = other and re.fullmatch(
                    r"\s*(?:(?:/|or|and|and/or|,)\s*)?", text[mention.end : other.start]
                )
                if joined and other and other.label != mention.label:
                    return None
                if mention.label == pack.others and re.match(r"\s+\w", rest):
                    break  # "other doctors …" is no label
                return mention.label
    return None


def _is_denied(mention: _Mention, text: str) -> bool:
    if _DENIED_AFTER.match(text, mention.end):
        return True
    before = text[max(0, mention.start - 60) : mention.start]
    denied = _DENIED.search(before)
    return denied is not None and not _ENDS_DENIAL.search(before, denied.start() + 3)
