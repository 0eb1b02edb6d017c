"""Contender: clinqa's labelling alone, from the CSV file to rows of labels in Parquet."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.builders.reports.batches import ahead
from clinqa.builders.reports.labelled import Labelled, coded
from clinqa.packs.loader import Pack, builtin_pack
from clinqa.reading.attribute import Attributor, resolution_table
from clinqa.reading.findings import Reading
from clinqa.reading.labeller import Labeller
from clinqa.reading.pieces import Pieces
from clinqa.reading.readings import Readings
from clinqa.reading.scan import Scanner
from clinqa.reading.scan_tables import PHASES
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.studies import Studies, studies_of
from clinqa.sources.reports import ReportBatch, read_reports
from measure import Given, say

__all__ = ["Labelling"]


class GivenLabeller(Labeller):
    """Looks statements up instead of reading them, as the loops do."""

    def __init__(self, pack: Pack, given: dict[tuple[str, str], Reading]) -> None:
        super().__init__(pack)
        self._given = given

    def read(self, text: str, structure: str) -> Reading:
        return self._given[structure, text]


class Labelling:
    """The parts of the build that end in labels, put together as the build does."""

    def __init__(self, given: dict[tuple[str, str], Reading] | None = None) -> None:
        pack = builtin_pack("echo")
        self.labeller = Labeller(pack) if given is None else GivenLabeller(pack, given)
        self._blocks = pack.spec.blocks
        self._scanner = Scanner(SectionTable(pack), "compiled")
        self.readings = Readings(tuple(pack.abnormalities), self._scanner.statements)
        roles = [role for role in Role if self.labeller.counts(role)]
        self._attributor = Attributor(resolution_table(pack), self.readings, roles)
        self._counts = np.zeros(0, np.int64)
        self.occurrences = 0

    def write(self, source: Path, out: Path) -> int:
        """Label all reports of `source`; gives the number of rows written."""
        writer: pq.ParquetWriter | None = None
        rows = 0
        for studies, pieces in ahead(map(self._begin, read_reports([source]))):
            table = self._table(studies, pieces)
            if writer is None:
                writer = pq.ParquetWriter(
                    out,
                    table.schema,
                    compression="zstd",
                    store_schema=False,
                    write_statistics=False,
                )
            writer.write_table(table)
            rows += len(table)
        if writer is not None:
            writer.close()
        return rows

    def outside(self) -> int:
        """Occurrences of statements that the lexicon does not hold."""
        method = self.readings.statements["method"]
        return int(self._counts[method[: len(self._counts)] > 0].sum())

    def _begin(self, batch: ReportBatch) -> tuple[Studies, Pieces]:
        studies = studies_of(batch.studies, self._blocks)
        bounds = None if studies.bounds is None else (studies.bounds[:, 0], studies.bounds[:, 1])
        return studies, self._scanner.scan(studies.texts, bounds)

    def _table(self, studies: Studies, pieces: Pieces) -> pa.Table:
        self.readings.read_new(self.labeller)
        self.occurrences += len(pieces)
        counts = np.bincount(pieces.statement, minlength=len(self.readings))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        labels = self._attributor.labels(pieces, len(studies))
        decided = Labelled(studies, pieces, labels, self.readings).decided
        occurrence = labels.deciding[labels.first[:-1]]
        return pa.table(
            {
                "study_id": coded(labels.study, studies.ids),
                "abnormality": coded(labels.abnormality, self.readings.abnormalities),
                "phase": coded(labels.phase, [phase.value for phase in PHASES]),
                "level": pa.array(labels.level),
                "start": pa.array(pieces.start[occurrence]),
                "end": pa.array(pieces.end[occurrence]),
                "answer": coded(decided.answer, decided.texts),
            }
        )


def main(source: Path, out: Path, given: Path | None) -> None:
    if given is None:
        say(rows=Labelling().write(source, out))
        return
    with Given() as before:
        known = {(s, text): reading for s, text, reading in pickle.loads(given.read_bytes())}
    say(rows=Labelling(known).write(source, out), **before.said)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
