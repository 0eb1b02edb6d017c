"""One made report: what is said, in which words and where, and the labels that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clinqa.simulate.abnormalities import IDS, INDEX, Finding, resolve
from clinqa.simulate.bank import Bank, Statement
from clinqa.simulate.patient import INADEQUATE, UNSPECIFIED, stated_levels
from clinqa.simulate.wording import (
    SECTIONS,
    Draw,
    WordSlots,
    capitals,
    date,
    misspell,
    patient_block,
    pick_headers,
    wrap,
)

__all__ = ["Report", "compose"]

_HOME: dict[str, tuple[str, ...]] = {
    "LA": ("LAC",),
    "RA": ("RAE", "RAP"),
    "LV": ("LVW", "LVC", "LVF", "RWMA", "DD", "LVOT"),
    "RV": ("RVC", "RVF", "RVW", "RVPO", "RVVO"),
    "AV": ("AS", "AR"),
    "MV": ("MS", "MR"),
    "TV": ("TS", "TR", "PH"),
}
_IN_SECTION = {where: tuple(INDEX[code] for code in codes) for where, codes in _HOME.items()}
_ALL = tuple(number for where in _HOME for number in _IN_SECTION[where])
_MAY_LOOK_NORMAL = ("RV", "AV", "MV", "TV")
_MAY_BE_UNSEEN = ("LV", "RV", "RV", "AV", "MV", "TV", "LA", "RA", "RA")

_P_TYPO = 0.012  # a statement: about one in 150 of its words of degree and finding
_P_EMPTY, _P_NARRATIVE, _P_BYPASS = 0.03, 0.05, 0.05
_P_CONFLICT, _P_ADDENDUM, _P_RAISED = 0.012, 0.03, 0.03
_P_LOOKS_NORMAL, _P_UNSEEN, _P_CAPITALS = 0.02, 0.04, 0.04

Labels = dict[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """A report's text and its truth. `post` holds what was found after the procedure."""

    text: str
    labels: Labels
    post: Labels
    kind: str


def compose(bank: Bank, severities: list[int], random: Draw) -> Report:
    """The report of one study, from a bank, a patient and a generator."""
    return _Draft(bank, severities, random).write()


class _Draft:
    """One report being written."""

    def __init__(self, bank: Bank, severities: list[int], random: Draw) -> None:
        self.bank = bank
        self.random = random
        self.severities = severities
        self.slots = WordSlots(severities, random)
        self.width = 70 + int(random() * 7)
        self.said: list[Finding] = []

    def write(self) -> Report:
        random = self.random
        kind_draw = random()
        stated = stated_levels(self.severities, random)
        if kind_draw < _P_EMPTY:
            text = self._block(tee=False) + "INTERPRETATION:\n\nFindings:\n\n\n\n\n"
            kind = "empty"
            stated = {}
        elif kind_draw < _P_EMPTY + _P_NARRATIVE:
            text, kind = self._narrative(stated), "narrative"
        else:
            bypass = kind_draw < _P_EMPTY + _P_NARRATIVE + _P_BYPASS
            kind = "bypass" if bypass else "sections"
            text = self._block(tee=bypass) + "INTERPRETATION:\n\n" + self._findings(stated)
            if bypass:
                return self._finish(*self._with_phases(text, stated), kind)
            if random() < 0.92:
                text += self._conclusions(stated)
        if stated and random() < _P_ADDENDUM:
            text += self._addendum()
        return self._finish(text, {}, kind)

    def _finish(self, text: str, post: Labels, kind: str) -> Report:
        if self.random() < _P_CAPITALS:
            text = capitals(text)
        return Report(text.replace("\x00", " "), _named(resolve(self.said)), post, kind)

    # saying things

    def _pick(self, pool: list[Statement]) -> Statement:
        return pool[int(self.random() * len(pool))]

    def _render(self, statement: Statement) -> str:
        text = statement.render(self.slots)
        return misspell(text, self.random) if self.random() < _P_TYPO else text

    def _say(self, statement: Statement) -> str:
        self.said.extend(statement.findings)
        return self._render(statement)

    def _filler(self, where: str) -> str:
        return self._pick(self.bank.fillers[where]).render(self.slots)

    def _statements(self, where: str, wanted: dict[int, int], headed: bool) -> list[str]:
        """Say each wanted level, some of them together in one statement."""
        random, said = self.random, []
        store = self.bank.headed_groups if headed else self.bank.groups
        groups = store.get(where)
        if groups and len(wanted) > 1:
            for _ in range(2):
                abnormalities, by_levels = groups[int(random() * len(groups))]
                levels = tuple([wanted.get(number, 9) for number in abnormalities])
                pool = by_levels.get(levels)
                if pool is not None and random() < 0.6:
                    said.append(self._say(self._pick(pool)))
                    for number in abnormalities:
                        del wanted[number]
        single = self.bank.headed if headed else self.bank.single
        said += [self._say(self._pick(single[item])) for item in wanted.items()]
        return said

    # the parts of a report

    def _block(self, tee: bool) -> str:
        random = self.random
        indication = self._filler("IND")
        more = self._filler("IND") if random() < 0.3 else ""
        if more not in indication:
            indication += " " + more
        history = self._filler("HX") if random() < 0.12 else ""
        return patient_block(indication, history, date(random), tee, random, self.width)

    def _findings(self, stated: dict[int, int]) -> str:
        random = self.random
        unseen = ""
        if random() < _P_UNSEEN:
            unseen = _MAY_BE_UNSEEN[int(random() * len(_MAY_BE_UNSEEN))]
            # of a structure not seen, only something plainly abnormal may still be told
            for number, _, _ in self.bank.unseen[unseen][0].findings:
                if stated.get(number, 0) <= 0 or random() < 0.7:
                    stated.pop(number, None)
        looks_normal = ""
        if random() < _P_LOOKS_NORMAL * 2:
            looks_normal = _MAY_LOOK_NORMAL[int(random() * len(_MAY_LOOK_NORMAL))]
        header = pick_headers(random)
        sections = []
        for where, name in SECTIONS:
            said = self._section(where, stated, unseen, looks_normal)
            if said:
                sections.append(wrap(header(name) + " ".join(said), self.width))
        if random() < 0.04:
            sections.append(sections.pop(int(random() * len(sections))))
        gap = "\n\n" if random() < 0.75 else "\n"
        lead = "Findings:\n\n" if random() < 0.85 else "FINDINGS\n"
        compared = ""
        if random() < 0.12:
            compared = f"This study was compared to the prior study of {self.slots['date']}.\n\n"
        return lead + compared + gap.join(sections) + "\n\n"

    def _section(
        self, where: str, stated: Mapping[int, int], unseen: str, looks_normal: str
    ) -> list[str]:
        random = self.random
        said = []
        numbers = _IN_SECTION.get(where)
        if numbers:
            wanted = {number: stated[number] for number in numbers if number in stated}
            if where == unseen:
                said.append(self._say(self._pick(self.bank.unseen[where])))
            elif where == looks_normal and any(level > 0 for level in wanted.values()):
                said.append(self._say(self._pick(self.bank.normal[where])))
            said += self._statements(where, wanted, headed=True)
        elif where == "GC" and random() < 0.6:
            return said
        fillers = 0.55 if numbers else 0.9
        while random() < fillers:
            text = self._filler(where)
            if text not in said:
                said.insert(int(random() * (len(said) + 1)), text)
            # where nothing is labelled one remark is enough: two could contradict each other
            fillers *= 0.4 if numbers else 0.0
        return said

    def _prose(self, stated: Mapping[int, int]) -> list[str]:
        """Conclusions say again what is abnormal and some of what is not."""
        random = self.random
        wanted = {
            number: stated[number]
            for number in _ALL
            if number in stated and random() < (0.35 if stated[number] == 0 else 0.75)
        }
        said = []
        across = self.bank.groups["*"]
        abnormalities, by_levels = across[int(random() * len(across))]
        pool = by_levels.get(tuple([wanted.get(number, 9) for number in abnormalities]))
        if pool is not None:
            said.append(self._say(self._pick(pool)))
            for number in abnormalities:
                del wanted[number]
        for where, numbers in _IN_SECTION.items():
            here = {number: wanted[number] for number in numbers if number in wanted}
            if here:
                said += self._statements(where, here, headed=False)
        if random() < 0.5:
            said.append(self._filler("CON"))
        return said

    def _remarks(self, stated: Mapping[int, int]) -> list[str]:
        """What stands beside: comparison, other studies, a slip that contradicts the findings."""
        random = self.random
        said = []
        if random() < 0.22:
            said.append(self._filler("PRIOR"))
        if random() < 0.1:
            keys = [key for key in self.bank.now if stated.get(key[0]) == key[1]]
            if keys:
                said.append(self._say(self._pick(self.bank.now[keys[int(random() * len(keys))]])))
        if random() < 0.05:
            said.append(self._filler("OTHER"))
        if random() < _P_RAISED:
            said += self._raised()
        if random() < _P_CONFLICT:
            said += self._contradiction()
        return said

    def _raised(self) -> list[str]:
        """A lesion graded once more, a degree worse: the worse one is the label."""
        for number, level, explicit in self.said:
            if explicit and level in (1, 2) and (number, level + 1) in self.bank.single:
                return [self._say(self._pick(self.bank.single[number, level + 1]))]
        return []

    def _contradiction(self) -> list[str]:
        """A statement that cannot stand beside one of those made: the label is -50."""
        explicit = {number for number, _, named in self.said if named}
        inferred = {number for number, _, named in self.said if not named}
        able = sorted(explicit - inferred)
        if not able:
            return []
        number = able[int(self.random() * len(able))]
        levels = {level for found, level, _ in self.said if found == number}
        opposite = {0: UNSPECIFIED, UNSPECIFIED: 0, INADEQUATE: 1}.get(min(levels), INADEQUATE)
        # an inferred statement would give way to the explicit one
        pool = [
            statement
            for statement in self.bank.single.get((number, opposite), [])
            if statement.findings[0][2]
        ] or [
            statement
            for statement in self.bank.single[number, INADEQUATE if 1 not in levels else 0]
            if statement.findings[0][2]
        ]
        return [self._say(self._pick(pool))]

    def _paragraph(self, said: list[str]) -> str:
        return wrap(" ".join(said), self.width) + "\n"

    def _conclusions(self, stated: Mapping[int, int]) -> str:
        random = self.random
        prose = self._prose(stated)
        remarks = self._remarks(stated)
        if random() < 0.07:
            lines = [f"{n}. {text}" for n, text in enumerate(prose + remarks, start=1)]
            body = "".join(wrap(line, self.width) + "\n" for line in lines)
        else:
            body = self._paragraph(prose) if prose else ""
            if remarks:
                body += ("\n" if prose and random() < 0.7 else "") + self._paragraph(remarks)
        text = ("Conclusions:\n" if random() < 0.93 else "CONCLUSION: ") + body
        if random() < 0.08:
            text += "\n" + wrap("IMPRESSION: " + " ".join(self._impression(stated)), self.width)
            text += "\n"
        if random() < 0.1:
            text += "\nCLINICAL IMPLICATIONS:\n" + self._paragraph([self._filler("IMPL")])
        return text

    def _impression(self, stated: Mapping[int, int]) -> list[str]:
        worst = sorted((number for number in stated if stated[number] > 0), key=_ALL.index)[:3]
        said = [self._say(self._pick(self.bank.single[number, stated[number]])) for number in worst]
        return said or ["Findings as above."]

    def _narrative(self, stated: Mapping[int, int]) -> str:
        """A report without sections."""
        random = self.random
        opening = f"Transthoracic echocardiogram of {date(random)}."
        said = self._prose({n: level for n, level in stated.items() if level or n % 3})
        text = self._paragraph([opening, *said])
        remarks = self._remarks(stated)
        return text + ("\n" + self._paragraph(remarks) if remarks else "")

    def _with_phases(self, text: str, stated: Mapping[int, int]) -> tuple[str, Labels]:
        """Conclusions before and after the procedure; what came after is no label of the study."""
        random = self.random
        before = self._prose(stated) or ["Images were stored."]
        headers = (
            ("PRE-BYPASS", "POST-BYPASS"),
            ("PRE-BYPASS", "POST-BYPASS"),
            ("PRE-BYPASS", "POST-BYPASS"),
            ("Pre-bypass", "Post-bypass"),
            ("PRE-CPB", "POST-CPB"),
            ("PRE-PROCEDURE", "POST-PROCEDURE"),
        )[int(random() * 6)]
        baseline, self.said = self.said, []
        after = []
        for number in _ALL:
            level = self.severities[number]
            if (level > 0 and random() < 0.6) or random() < 0.08:
                later = min(1, max(0, level - 1 - int(random() * 2)))
                after.append(self._say(self._pick(self.bank.single[number, later])))
        post, self.said = _named(resolve(self.said)), baseline
        after.append("The aortic contours are unchanged.")
        text += "Conclusions:\n" + wrap(f"{headers[0]}: " + " ".join(before), self.width)
        text += "\n\n" + wrap(f"{headers[1]}: " + " ".join(after), self.width) + "\n"
        return text, post

    def _addendum(self) -> str:
        """A correction: what it names replaces what the body said of it."""
        random = self.random
        able = sorted(
            {n for n, level, named in self.said if named and level in (1, 2, 3)}
            & self.bank.addenda.keys()
        )
        if not able:
            return ""
        number = able[int(random() * len(able))]
        before = {level for found, level, _ in self.said if found == number}
        pool = self.bank.addenda[number]
        statement = self._pick([one for one in pool if one.findings[0][1] not in before] or pool)
        self.said = [finding for finding in self.said if finding[0] != number]
        head = "ADDENDUM: " if random() < 0.6 else f"ADDENDUM {date(random)}: "
        return "\n" + wrap(head + self._say(statement), self.width) + "\n"


def _named(levels: Mapping[int, int]) -> Labels:
    return {IDS[number]: level for number, level in levels.items()}
