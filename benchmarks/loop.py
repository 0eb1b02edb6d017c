"""Contender: a Python loop over reports, with `re` and a dictionary of statements.

As a careful programmer would write it: no data frame, each statement looked up once, a study
resolved in plain dictionaries, columns gathered in lists and written batch by batch.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.packs.loader import builtin_pack
from clinqa.reading.attribute import LEVELS
from clinqa.reading.readings import PHASES
from dictionary import Entry, entries_of, header_finder, level_tables
from measure import Given, say
from statements import Headers, Statement, statements

__all__ = ["Decided", "Reports", "Resolver"]

BATCH = 4096
POST, STRESS = 1, PHASES.index(PHASES[-1])
Found = tuple[int, int, int, str, str, bool, int]
"""Place among the answers, start, end, words, structure, found by the lexicon?, key."""
Decided = tuple[int, int, int, list[Found], int]
"""Abnormality, phase, level, the deciding statements, flags (explicit, hedged, prosthesis)."""


def reports(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Row number, study, patient and text of every report that counts."""
    csv.field_size_limit(1 << 30)
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        study, subject, category, error, text = map(
            names.index, ("ROW_ID", "SUBJECT_ID", "CATEGORY", "ISERROR", "TEXT")
        )
        for number, row in enumerate(rows, start=1):
            if row[category].strip().lower() == "echo" and row[error] != "1":
                yield number, row[study], row[subject], row[text]


class Resolver:
    """One study's statements to its labels."""

    def __init__(self, known: dict[str, dict[str, Entry]], tables: list[tuple[int, ...]]) -> None:
        self._known, self._tables = known, tables

    def decide(self, found: list[Statement]) -> list[Decided]:
        """The labels of a study, by abnormality and phase."""
        known = self._known
        ranks: dict[int, int] = {}
        masks: dict[int, int] = {}
        best: dict[tuple[int, int, int], Found] = {}
        flags: dict[tuple[int, int, int], int] = {}
        for start, end, words, structure, addendum, section_phase, _, _ in found:
            entry = known[structure].get(words)
            if entry is None or not entry[1]:
                continue
            order, findings, lexicon, key = entry
            for (
                abnormality,
                level,
                phase,
                explicit,
                corrects,
                pinned,
                hedged,
                prosthesis,
            ) in findings:
                pins = pinned and section_phase != POST
                if not phase and not pins:
                    phase = section_phase
                rank = 0
                if explicit:
                    fixes = corrects or addendum or (pins and section_phase == STRESS)
                    rank = 2 if fixes else 1
                label = abnormality * 3 + phase
                before = ranks.get(label, -1)
                if rank < before:
                    continue
                if rank > before:
                    ranks[label], masks[label] = rank, 0
                masks[label] |= 1 << level
                at = label, rank, level
                kept = best.get(at)
                if kept is None or order < kept[0]:
                    best[at] = (order, start, end, words, structure, lexicon, key)
                flags[at] = flags.get(at, 0) | explicit | hedged << 1 | prosthesis << 2
        made: list[Decided] = []
        for label in sorted(ranks):
            rank, mask = ranks[label], masks[label]
            abnormality, phase = divmod(label, 3)
            level = self._tables[abnormality][mask]
            bits = [bit for bit in range(7) if mask >> bit & 1]
            if len(bits) > 1 and level in LEVELS and mask >> LEVELS.index(level) & 1:
                bits = [LEVELS.index(level)]
            flag = 0
            for bit in bits:
                flag |= flags[label, rank, bit]
            made.append((abnormality, phase, level, [best[label, rank, b] for b in bits], flag))
        return made


def answer_of(level: int, deciding: list[Found]) -> str:
    """The deciding sentence, or several where only their combination means the level."""
    if len(deciding) == 1 or level == -50:
        return deciding[0][3].replace("\t", " ")
    return " ".join(found[3].replace("\t", " ") for found in deciding)


class Reports:
    """What both jobs of the loop need."""

    def __init__(self, given: Path) -> None:
        self.pack = builtin_pack("echo")
        with Given() as before:
            known = entries_of(given, self.pack)
        self.given = before.said
        self.names = list(self.pack.abnormalities)
        self.headers = Headers(header_finder(self.pack))
        self.resolver = Resolver(known, level_tables(self.pack))

    def statements(self, text: str) -> list[Statement]:
        return statements(text, self.headers)


def main(source: Path, out: Path, given: Path) -> None:
    job = Reports(given)
    columns: list[list[object]] = [[] for _ in range(7)]
    ids, abnormalities, phases, levels, starts, ends, answers = columns
    names, phase_names = job.names, [phase.value for phase in PHASES]
    schema = pa.schema(
        [
            ("study_id", pa.string()),
            ("abnormality", pa.string()),
            ("phase", pa.string()),
            ("level", pa.int8()),
            ("start", pa.int64()),
            ("end", pa.int64()),
            ("answer", pa.string()),
        ]
    )
    rows = 0
    with pq.ParquetWriter(
        out, schema, compression="zstd", store_schema=False, write_statistics=False
    ) as writer:

        def write() -> None:
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            for column in columns:
                column.clear()

        for number, (_, study, _, text) in enumerate(reports(source), start=1):
            for abnormality, phase, level, deciding, _ in job.resolver.decide(job.statements(text)):
                ids.append(study)
                abnormalities.append(names[abnormality])
                phases.append(phase_names[phase])
                levels.append(level)
                starts.append(deciding[0][1])
                ends.append(deciding[0][2])
                answers.append(answer_of(level, deciding))
            if number % BATCH == 0:
                rows += len(ids)
                write()
        rows += len(ids)
        write()
    say(rows=rows, **job.given)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
