"""Macro-F1 over levels, against scikit-learn with the same labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from clinqa.kinds.long_form.answer_measures import clinical_measures, level_cells, macro_f1
from clinqa.kinds.long_form.judges import CLASSES, COLUMNS

_FIRST = COLUMNS.index("c:0:0")
_OTHER = len(CLASSES)
LEVELS = CLASSES[:8]

pairs = st.lists(
    st.tuples(st.sampled_from(LEVELS), st.sampled_from((*LEVELS, "none of these"))),
    min_size=1,
    max_size=30,
)


def rows_of(made: list[tuple[str, str]]) -> np.ndarray:
    rows = np.zeros((len(made), len(COLUMNS)))
    for row, (true, read) in zip(rows, made, strict=True):
        at = CLASSES.index(read) if read in CLASSES else _OTHER
        row[_FIRST + CLASSES.index(true) * (_OTHER + 1) + at] = 1
    return rows


@given(pairs)
def test_it_is_scikit_learns_over_the_levels_of_the_references(
    made: list[tuple[str, str]],
) -> None:
    total = rows_of(made).sum(axis=0)
    true, read = zip(*made, strict=True)
    labels = [name for name in LEVELS if name in true]
    expected = f1_score(true, read, labels=labels, average="macro", zero_division=0)
    present = [CLASSES.index(name) for name in labels]
    assert macro_f1(level_cells(total), present) == pytest.approx(expected, abs=1e-9)
    (measure,) = [one for one in clinical_measures(total, "echo") if one.name == "level_macro_f1"]
    assert float(measure.of(total[None])[0]) == pytest.approx(expected, abs=1e-9)
    assert "classes:those of the references" in measure.signature


def test_a_level_no_answer_has_counts_zero_and_one_no_reference_has_none() -> None:
    total = rows_of([("0", "0"), ("0", "3"), ("1", "0")]).sum(axis=0)
    # of normal: one right, one too many, one missed; of mild: never said; severe is no class here
    assert macro_f1(level_cells(total), [CLASSES.index("0"), CLASSES.index("1")]) == (
        pytest.approx((2 / (2 + 1 + 1) + 0) / 2)
    )
