"""The table of statement pairs, each True or False; what holds of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from clinqa.core.problems import Problem
from clinqa.core.schema import items_schema
from clinqa.kinds.facets.columns import Checked, Columns

__all__ = ["COLUMNS", "TRUE_FALSE"]

TRUE_FALSE = items_schema(
    ("label", pa.bool_()),
    # the two statements that differ in one edit and have opposite labels
    ("pair_id", pa.string()),
    # what its page was read with: text, both, vision
    ("mode", pa.string()),
    # the text of the page that decides the label; the same in both items of a pair
    ("source_text", pa.string()),
)


def _checks(checked: Checked) -> Iterable[Problem]:
    from clinqa.kinds.true_false.pairs import pair_problems

    return pair_problems(checked)


def _told(checked: Checked) -> tuple[Mapping[str, object], str]:
    from clinqa.kinds.true_false.pairs import probed

    return probed(checked)


COLUMNS = Columns(
    items=TRUE_FALSE,
    meanings={
        "label": "Whether the statement is true; the same as answer",
        "pair_id": "Shared by the two statements of a pair: one edit apart, opposite labels",
        "mode": "What the page was read with: text, both or vision",
        "source_text": "Text of the page that decides the label; the same for both of a pair",
        "md5": "The document: MD5 of its bytes",
        "page": "Page of the document, from 1",
        "text": "The page's text, which spans refer to",
    },
    checks=_checks,
    told=_told,
)
