"""Groups of documents compared by how runs judged the statements taken from them.

A statement belongs to the document (or the question of a bank) it was taken from: that is what has
attributes, is drawn again and permuted. The dataset's `group` is a cluster of like texts; nobody
keeps a table of those.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Ints
from clinqa.core.errors import ConfigError
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.audited import Audited, Who
from clinqa.kinds.facets.judges import JudgedAnswers, SplitItems
from clinqa.kinds.true_false import codes
from clinqa.kinds.true_false.judges import laid_out
from clinqa.kinds.true_false.two_way import ANSWERED, BY_SOURCE, PRIMARY, measures_of
from clinqa.stats.measure import Measure

__all__ = ["AUDITED"]

DOCUMENTS = Who(
    "document",
    ("source_id", "document", "document_id", "pdf_md5", "md5", "source"),
    "the dataset's source_id (a PDF's MD5, or a bank's name and item id), and not its group",
    in_tracts=False,
)
#: Means over statements. What is a mean over pairs, or over what a run said, is none.
_MEANS = (PRIMARY, "sensitivity", "specificity", *(f"status_{status}" for status in STATUSES))


def _means(how: str) -> list[Measure]:
    return [
        one
        for (name, convention), one in measures_of(BY_SOURCE, how).items()
        if name in _MEANS and convention != ANSWERED
    ]


def _check(runs: Sequence[FinishedRun]) -> None:
    if len({codes.how_of(run) for run in runs}) > 1:
        raise ConfigError(
            "some runs were read from what they wrote and some weighed True against False: their "
            "figures are not compared; audit them one kind at a time"
        )


def _kept(rows: pa.Table, found: Ints, items: SplitItems, _: Sequence[Measure]) -> JudgedAnswers:
    return codes.judge_codes(*laid_out(rows, found, len(items)), items)


AUDITED = Audited(
    metric=PRIMARY,
    who=DOCUMENTS,
    subject="source_id",
    asks=("category", "label"),
    strata="topic × label",
    over="statements",
    there_are="of true_false items there are",
    means=_means,
    known=lambda: _means(""),
    check=_check,
    kept_with=lambda _, runs: codes.how_of(runs[0]),
    kept=_kept,
    columns=lambda *_: ("answer", "answer_status"),
)
