"""How groups of patients, or of what else has attributes, are compared by a kind's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from clinqa.core.arrays import Ints
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import JudgedAnswers, SplitItems
from clinqa.stats.measure import Measure

__all__ = ["PATIENTS", "Audited", "Who"]


@dataclass(frozen=True, slots=True)
class Who:
    """Whose attributes are audited: the word, the columns that hold ids, and which ids they are."""

    word: str
    columns: tuple[str, ...]
    ids: str
    in_tracts: bool = True

    @property
    def many(self) -> str:
        """The plural."""
        return f"{self.word}s"


PATIENTS = Who(
    "patient",
    ("patient", "patient_id", "patientid", "subject_id", "subjectid", "subject", "group"),
    "the ids that the dataset's reports carry",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """The figures by which groups are compared: means over answers.

    `subject` is the column of the items that says whose they are, `asks` those that say what an
    item asks, which `strata` words. `means` gives the measures of answers judged in this way
    (`JudgedAnswers.of_kind`), each either with `parts` or 0, 1 or nothing of an answer; `known`
    those that may be named beforehand, `later` names that only judging can tell. `over` and
    `there_are` word what is refused. `check` refuses runs that are not compared.

    `kept_with` tells from metric and signature of the figures of scores.json, and the runs, how
    they were judged, in place of `of_kind` (None: in more ways than one). `kept` makes the judged
    answers of a run's rows of items.parquet, given the item of each; `columns` are those that are
    read for some measures, given the names there are.
    """

    metric: str
    who: Who
    subject: str
    asks: tuple[str, ...]
    strata: str
    over: str
    there_are: str = "there are"
    means: Callable[[Any], Sequence[Measure]]
    known: Callable[[], Sequence[Measure]]
    later: tuple[str, ...] = ()
    check: Callable[[Sequence[FinishedRun]], None] = lambda _: None
    kept_with: Callable[[Sequence[Mapping[str, str]], Sequence[FinishedRun]], Any]
    kept: Callable[[pa.Table, Ints, SplitItems, Sequence[Measure]], JudgedAnswers]
    columns: Callable[[Sequence[Measure], Sequence[str]], Sequence[str]]
