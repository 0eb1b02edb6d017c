"""The bank of statements: what a made report can say, and what each statement makes true."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from clinqa.core.errors import ConfigError
from clinqa.simulate.abnormalities import INDEX, Finding
from clinqa.simulate.wording import WordSlots, known_slot

__all__ = ["Bank", "Statement", "load_bank", "parse_bank"]

_SLOT = re.compile(r"\{([A-Za-z]+?)(?:_([abx]))?\}")
_PLACEHOLDER = re.compile(r"\[\*\*.*?\*\*\]")
_BY_DEGREE = frozenset({"adj", "adv", "grade"})
_COLUMNS = "where\tstyle\tweight\tlabels\tstatement"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, its slots still open, and the findings it makes."""

    text: str
    has_slots: bool
    findings: tuple[Finding, ...]

    def render(self, slots: WordSlots) -> str:
        """The statement as it stands in a report, its first letter a capital."""
        text = self.text.format_map(slots) if self.has_slots else self.text
        return text[0].upper() + text[1:]


Levels = tuple[int, ...]
Group = tuple[tuple[int, ...], dict[Levels, list[Statement]]]


@dataclass(slots=True)
class Bank:
    """Statements by what they can be chosen for. A statement stands as often as its weight."""

    single: dict[tuple[int, int], list[Statement]] = field(default_factory=dict)
    """One finding, naming its structure: fit for any place."""
    headed: dict[tuple[int, int], list[Statement]] = field(default_factory=dict)
    """One finding, under the header of its structure; those of `single` too."""
    groups: dict[str, list[Group]] = field(default_factory=dict)
    """Several findings at once, by section, each naming its structure."""
    headed_groups: dict[str, list[Group]] = field(default_factory=dict)
    """Several findings at once, under the header of their structure; those of `groups` too."""
    normal: dict[str, list[Statement]] = field(default_factory=dict)
    unseen: dict[str, list[Statement]] = field(default_factory=dict)
    fillers: dict[str, list[Statement]] = field(default_factory=dict)
    """What labels nothing, by section or kind."""
    now: dict[tuple[int, int], list[Statement]] = field(default_factory=dict)
    addenda: dict[int, list[Statement]] = field(default_factory=dict)

    def add(self, where: str, style: str, weight: int, statement: Statement) -> None:
        """File one statement under everything it can be chosen for."""
        copies = [statement] * weight
        findings = statement.findings
        if not findings:
            self.fillers.setdefault(where, []).extend(copies)
        elif style in "NU":
            store = self.normal if style == "N" else self.unseen
            store.setdefault(where, []).extend(copies)
            if style == "U" and len(findings) == 1:
                self._add_single(style, findings[0], copies)
        elif where == "ADD":
            self.addenda.setdefault(findings[0][0], []).extend(copies)
        elif where == "NOW":
            self.now.setdefault(findings[0][:2], []).extend(copies)
        elif len(findings) == 1:
            self._add_single(style, findings[0], copies)
        else:
            _add_group(self.headed_groups, where, findings, copies)
            if style != "F":
                _add_group(self.groups, where, findings, copies)

    def _add_single(self, style: str, finding: Finding, copies: list[Statement]) -> None:
        key = finding[:2]
        self.headed.setdefault(key, []).extend(copies)
        if style != "F":
            self.single.setdefault(key, []).extend(copies)


def _add_group(
    store: dict[str, list[Group]],
    where: str,
    findings: tuple[Finding, ...],
    copies: list[Statement],
) -> None:
    abnormalities = tuple(finding[0] for finding in findings)
    levels = tuple(finding[1] for finding in findings)
    groups = store.setdefault(where, [])
    for named, by_levels in groups:
        if named == abnormalities:
            by_levels.setdefault(levels, []).extend(copies)
            return
    groups.append((abnormalities, {levels: list(copies)}))


@cache
def load_bank() -> Bank:
    """The bank that ships with the package."""
    source = resources.files("clinqa.simulate") / "data" / "statements.tsv"
    return parse_bank(source.read_text(encoding="utf-8"))


def parse_bank(text: str) -> Bank:
    """Read a bank; a row that cannot be read is an error with its line."""
    bank = Bank()
    headed = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if not headed:
            if line != _COLUMNS:
                raise ConfigError(f"statements.tsv:{number}: the header must name the columns")
            headed = True
            continue
        cells = line.split("\t")
        if len(cells) != 5 or not cells[2].isdigit():
            raise ConfigError(f"statements.tsv:{number}: five columns, weight a number")
        where, style, weight, labels, wording = cells
        try:
            for statement in _expand(labels, wording):
                bank.add(where, style, int(weight), statement)
        except (KeyError, ValueError) as error:
            raise ConfigError(f"statements.tsv:{number}: {error}") from error
    return bank


def _expand(labels: str, wording: str) -> list[Statement]:
    """One row for each degree it can be filled with."""
    cells = [] if labels == "-" else labels.split()
    letters = sorted({letter for cell in cells for letter in "DAB" if f"={letter}" in cell})
    choices: list[dict[str, int]] = [{}]
    for letter in letters:
        choices = [{**choice, letter: degree} for choice in choices for degree in (1, 2, 3)]
    return [_statement(cells, choice, wording) for choice in choices]


def _statement(cells: list[str], degrees: dict[str, int], wording: str) -> Statement:
    findings = []
    for cell in cells:
        code, _, value = cell.partition("=")
        explicit = not value.endswith("~")
        value = value.rstrip("~")
        level = degrees[value] if value in degrees else int(value)
        findings.append((INDEX[code], level, explicit))

    def slot(match: re.Match[str]) -> str:
        name, tail = match[1], match[2]
        if name.lower() in _BY_DEGREE:
            degree = degrees.get({None: "D", "x": "X"}.get(tail, (tail or "").upper()))
            capital = name[0].isupper()
            name = f"any{name.lower()}" if degree is None else f"{name.lower()}{degree}"
            name = name[0].upper() + name[1:] if capital else name
        if not known_slot(name):
            raise ValueError(f"no such slot: {name}")
        # a word that starts a sentence takes a capital; the first of all takes it when rendered
        if wording[max(0, match.start() - 2) : match.start()] == ". ":
            name = name[0].upper() + name[1:]
        return "{" + name + "}"

    # wrapping must not break a placeholder: it was put in after the lines had been broken
    text = _PLACEHOLDER.sub(lambda one: one[0].replace(" ", "\x00"), _SLOT.sub(slot, wording))
    return Statement(text, "{" in text, tuple(findings))
