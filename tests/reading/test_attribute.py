"""Labels by columns are those of `resolve`, and the answer is the best statement, in any order."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.core.records import Method, Phase
from clinqa.packs.loader import builtin_pack
from clinqa.reading.attribute import (
    LEVELS,
    Attributor,
    Labels,
    ResolutionTable,
    resolution_table,
    resolve,
)
from clinqa.reading.findings import Finding, Reading
from clinqa.reading.pieces import Pieces, Statements
from clinqa.reading.readings import Readings
from clinqa.reading.scan_tables import PHASES
from clinqa.reading.sections import Role

PACK = builtin_pack("echo")
NAMES = ("lv_systolic_function", "mitral_regurgitation", "lv_wall")
TABLES = {name: resolution_table(PACK, name) for name in ("default", "strict", "published")}

findings = st.builds(
    Finding,
    st.sampled_from(NAMES),
    st.sampled_from(LEVELS),
    st.booleans(),
    st.booleans(),
    st.sampled_from(list(Phase)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
readings = st.builds(
    Reading,
    st.lists(findings, max_size=4).map(tuple),
    st.sampled_from([Method.LEXICON, Method.GRAMMAR]),
)
statements = st.lists(
    st.tuples(st.sampled_from(["Mild.", "Mild MR.", "No MR.", "a", "\u00e9", "zz"]), readings),
    min_size=1,
    max_size=6,
)
# study, statement, role, phase of each occurrence
occurrences = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from([Role.FINDINGS, Role.CONCLUSION, Role.ADDENDUM]),
        st.sampled_from(list(Phase)),
    ),
    max_size=14,
)


@dataclass(frozen=True)
class Reads:
    """Stands for the labeller: what each statement says is given."""

    said: dict[tuple[str, str], Reading]

    def read(self, text: str, structure: str) -> Reading:
        return self.said[text, structure]


Occurrence = tuple[int, int, Role, Phase]
Statement = tuple[str, Reading]


def attributed(
    said: list[Statement], found: list[Occurrence], table: ResolutionTable
) -> tuple[Labels, Pieces]:
    found = sorted(((s, n % len(said), r, p) for s, n, r, p in found), key=lambda row: row[0])
    words = Statements([text for text, _ in said], [f"S{i}" for i in range(len(said))])
    own = Readings(tuple(PACK.abnormalities), words)
    each = {(text, f"S{i}"): reading for i, (text, reading) in enumerate(said)}
    own.read_new(Reads(each))  # type: ignore[arg-type]
    size = len(found)
    at = np.arange(size, dtype=np.int64)
    pieces = Pieces(
        study=np.array([row[0] for row in found], np.int32),
        statement=np.array([row[1] for row in found], np.int32),
        start=at * 10,
        end=at * 10 + 5,
        role=np.array([int(row[2]) for row in found], np.uint8),
        phase=np.array([PHASES.index(row[3]) for row in found], np.uint8),
        section=np.zeros(size, np.int32),
        head=at * 10,
    )
    counting = [Role.FINDINGS, Role.CONCLUSION, Role.ADDENDUM]
    return Attributor(table, own, counting).labels(pieces, 4), pieces


def placed(
    said: list[Statement], found: list[Occurrence]
) -> dict[tuple[int, Phase], list[tuple[Finding, int]]]:
    """Each study's findings by phase, with the statement that makes them."""
    out: dict[tuple[int, Phase], list[tuple[Finding, int]]] = defaultdict(list)
    for study, number, role, phase in found:
        number %= len(said)
        for finding in said[number][1].findings:
            pinned = finding.pinned and phase is not Phase.POST
            own = pinned or finding.phase is not Phase.BASELINE
            when = finding.phase if own else phase
            corrects = finding.corrects or role is Role.ADDENDUM
            corrects |= pinned and phase is Phase.STRESS
            out[study, when].append((replace(finding, corrects=corrects), number))
    return out


@settings(max_examples=300, deadline=None)
@given(statements, occurrences, st.sampled_from(sorted(TABLES)))
def test_the_labels_are_those_of_the_readable_twin(
    said: list[Statement], found: list[Occurrence], profile: str
) -> None:
    table = TABLES[profile]
    labels, _ = attributed(said, found, table)
    names = tuple(PACK.abnormalities)
    got = {
        (int(study), PHASES[phase], names[abnormality]): int(level)
        for study, phase, abnormality, level in zip(
            labels.study, labels.phase, labels.abnormality, labels.level, strict=True
        )
    }
    expected = {
        (study, phase, name): level
        for (study, phase), rows in placed(said, found).items()
        for name, level in resolve(
            [replace(finding, phase=Phase.BASELINE) for finding, _ in rows], table
        ).items()
    }
    assert got == expected


@settings(max_examples=300, deadline=None)
@given(statements, occurrences, st.sampled_from(sorted(TABLES)))
def test_the_best_statements_of_the_level_decide(
    said: list[Statement], found: list[Occurrence], profile: str
) -> None:
    table = TABLES[profile]
    labels, pieces = attributed(said, found, table)
    names = tuple(PACK.abnormalities)
    by_place = placed(said, found)
    for label in range(len(labels)):
        name = names[labels.abnormality[label]]
        rows = [
            (finding, number)
            for finding, number in by_place[int(labels.study[label]), PHASES[labels.phase[label]]]
            if finding.abnormality == name
        ]
        top = max(rank(finding, table) for finding, _ in rows)
        rows = [(finding, number) for finding, number in rows if rank(finding, table) == top]
        level = int(labels.level[label])
        same = [(finding, number) for finding, number in rows if finding.level == level]
        several = same or rows
        best = [
            min(better(said[number]) for finding, number in several if finding.level == one)
            for one in sorted({finding.level for finding, _ in several})
        ]
        chosen = labels.deciding[labels.first[label] : labels.first[label + 1]]
        assert [better(said[number]) for number in pieces.statement[chosen]] == best
        assert bool(labels.hedged[label]) == any(f.hedged for f, _ in several)
        assert bool(labels.explicit[label]) == any(f.explicit for f, _ in several)
        assert bool(labels.prosthesis[label]) == any(f.prosthesis for f, _ in several)


def rank(finding: Finding, table: ResolutionTable) -> int:
    if finding.explicit:
        return 2 if finding.corrects else 1
    return 0 if table.inferred_yields else 1


def better(statement: Statement) -> tuple[int, int, str]:
    text, reading = statement
    return len({finding.abnormality for finding in reading.findings}), -len(text), text


def test_of_two_equal_sentences_the_first_in_the_text_decides() -> None:
    reading = Reading((Finding("lv_wall", 1),), Method.GRAMMAR)
    said = [("Mild LVH.", reading), ("Mild LVH.", reading)]
    for order in ([0, 1, 0], [1, 0, 0], [1, 1, 0]):
        found = [(0, number, Role.FINDINGS, Phase.BASELINE) for number in order]
        labels, _ = attributed(said, found, TABLES["default"])
        assert labels.deciding.tolist() == [0]


def test_statements_that_contradict_each_other_are_all_shown() -> None:
    said = [
        ("LVH not seen.", Reading((Finding("lv_wall", -3),), Method.GRAMMAR)),
        ("Mild LVH.", Reading((Finding("lv_wall", 1),), Method.GRAMMAR)),
        ("Slight LVH is seen.", Reading((Finding("lv_wall", 1),), Method.GRAMMAR)),
    ]
    found = [(0, number, Role.FINDINGS, Phase.BASELINE) for number in (1, 2, 0)]
    labels, pieces = attributed(said, found, TABLES["default"])
    assert labels.level.tolist() == [-50]
    assert pieces.statement[labels.deciding].tolist() == [0, 2]


def test_no_statements_give_no_labels() -> None:
    labels, _ = attributed([("a", Reading((), Method.GRAMMAR))], [], TABLES["default"])
    assert len(labels) == 0
    assert labels.first.tolist() == [0]
