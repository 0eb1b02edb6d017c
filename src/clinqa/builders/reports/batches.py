"""One batch of notes to the tables of a dataset: divide, scan, read what is new, resolve, ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from clinqa.builders.reports.batch_items import ItemMaker, ItemOptions
from clinqa.builders.reports.labelled import Labelled, labels_table
from clinqa.builders.reports.writer import BatchTables
from clinqa.core.records import Level, Reason, Reject
from clinqa.kinds.long_form.questions import questionnaire
from clinqa.packs.loader import Pack, builtin_pack, load_pack
from clinqa.privacy.screen import Screen
from clinqa.reading.attribute import Attributor
from clinqa.reading.labeller import LONGEST, Labeller
from clinqa.reading.pieces import Pieces
from clinqa.reading.readings import Readings
from clinqa.reading.resolve import resolution_table
from clinqa.reading.scan import ScanEngine, Scanner
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.studies import Studies, studies_of
from clinqa.sources.reports import ReportBatch

__all__ = ["BatchBuilder", "Built", "Recipe"]

STAGE = "label"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How batches are built: small enough to be sent to another process."""

    pack: str = "echo"
    pack_dir: Path | None = None
    profile: str = "default"
    engine: ScanEngine = "auto"
    size_hint: int | None = None
    items: ItemOptions = field(default_factory=ItemOptions)

    def load(self) -> Pack:
        """The pack."""
        return builtin_pack(self.pack) if self.pack_dir is None else load_pack(self.pack_dir)


@dataclass(frozen=True, slots=True)
class Built:
    """One batch's tables, and what was counted on the way."""

    tables: BatchTables
    identifiers: Counter[str]
    without_block: int
    notes: int
    too_long: int  # statements that were not read, each as often as it occurs


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch divided into studies and statements."""

    batch: ReportBatch
    studies: Studies
    pieces: Pieces


class BatchBuilder:
    """Builds batches one after the other; statements met before are not read again."""

    def __init__(self, recipe: Recipe) -> None:
        pack = recipe.load()
        labeller = Labeller(pack, recipe.profile)
        self._labeller = labeller
        self._blocks = pack.spec.blocks
        self._scanner = Scanner(SectionTable(pack), recipe.engine, size_hint=recipe.size_hint)
        self.readings = Readings(tuple(pack.abnormalities), self._scanner.statements)
        self._attributor = Attributor(
            resolution_table(pack, recipe.profile),
            self.readings,
            [role for role in Role if labeller.counts(role)],
        )
        self._items = ItemMaker(pack, questionnaire(pack), recipe.items)
        self._screen = Screen()

    def build(self, batch: ReportBatch) -> Built:
        """The tables of a batch. Statements are numbered as in `readings`."""
        return self.finish(self.begin(batch))

    def begin(self, batch: ReportBatch) -> Begun:
        """The half of the work that is compiled code: another thread may do it, one batch after
        the other, while `finish` is busy with the batch before."""
        studies = studies_of(batch.studies, self._blocks)
        bounds = None if studies.bounds is None else (studies.bounds[:, 0], studies.bounds[:, 1])
        pieces = self._scanner.scan(studies.texts, bounds)
        return Begun(batch, studies, pieces)

    def finish(self, begun: Begun) -> Built:
        """The tables of a batch whose statements are found. Batches come in the order begun."""
        batch, studies, pieces = begun.batch, begun.studies, begun.pieces
        self.readings.read_new(self._labeller)
        labels = self._attributor.labels(pieces, len(studies))
        labelled = Labelled(studies, pieces, labels, self.readings)
        occurrences = {"study": pa.array(pieces.study), "statement": pa.array(pieces.statement)}
        identifiers = Counter(self._screen.count(pa.array(labelled.kept_texts, pa.large_string())))
        tables = BatchTables(
            studies.table(),
            self._items.table(labelled),
            labels_table(labelled),
            pa.table(occurrences),
            [*batch.rejects, *_rejects(labelled)],
        )
        # counted here and not by who reads: two processes may both have met a statement
        lengths = self.readings.statements["length"][pieces.statement]
        too_long = int((lengths > LONGEST).sum())
        return Built(tables, identifiers, studies.without_block, len(batch.studies), too_long)


def _rejects(batch: Labelled) -> list[Reject]:
    """Studies without a label, and labels that contradict themselves."""
    labels, studies = batch.labels, batch.studies
    silent = np.bincount(labels.study, minlength=len(studies)) == 0
    conflicts = np.flatnonzero((labels.phase == 0) & (labels.level == Level.CONFLICT))
    places = [(int(study), Reason.NO_FINDINGS, "") for study in np.flatnonzero(silent)]
    names = batch.readings.abnormalities
    for label in conflicts.tolist():
        detail = names[labels.abnormality[label]]
        places.append((int(labels.study[label]), Reason.CONFLICTING_LEVELS, detail))
    return [
        Reject(
            STAGE,
            reason,
            studies.ids[study].as_py(),
            part=studies.parts[study].as_py(),
            row=studies.rows[study].as_py(),
            detail=detail,
        )
        for study, reason, detail in places
    ]
