"""Cohen's kappa, plain and weighted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats import agreement as module
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate

labels = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")), min_size=1, max_size=40
)


def kappa(
    a: object, b: object, classes: object, groups: object, *, weights: str = "none", **how: int
) -> Estimate:
    design = Design(groups, **how)  # type: ignore[arg-type]
    return module.kappa(a, b, classes, design, weights)  # type: ignore[arg-type]


def from_table(table: list[list[int]]) -> tuple[list[int], list[int], list[str]]:
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    a, b = ([cell[at] for cell in cells] for at in (0, 1))
    return a, b, [f"{n:04d}" for n in range(len(cells))]


def test_textbook_tables_come_out() -> None:
    a, b, groups = from_table([[20, 5], [10, 15]])
    assert kappa(a, b, [0, 1], groups, seed=1).value == pytest.approx(0.4)
    # Cohen 1968's way of counting, worked by hand for this table.
    table = [[11, 3, 1], [1, 9, 2], [0, 2, 10]]
    a, b, groups = from_table(table)
    n, cells = 39, np.array(table) / 39
    for kind, power in (("linear", 1), ("quadratic", 2)):
        cost = np.abs(np.subtract.outer(range(3), range(3))) ** power
        expected = 1 - (cells * cost).sum() / (np.outer(cells.sum(1), cells.sum(0)) * cost).sum()
        found = kappa(a, b, [0, 1, 2], groups, weights=kind, seed=1)
        assert found.value == pytest.approx(expected) and found.n == n
        assert found.low < found.value < found.high
        assert found.signature.startswith(f"kappa|{kind}|")


@settings(deadline=None, max_examples=60)
@given(labels, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_is_symmetric_at_most_1_and_blind_to_order(
    made: list[tuple[str, str]], kind: str
) -> None:
    groups = [f"p{ord(one) + ord(other)}" for one, other in made]
    a, b = map(list, zip(*made, strict=True))
    one = kappa(a, b, "xyz", groups, weights=kind, seed=1, draws=30)  # type: ignore[arg-type]
    other = kappa(b[::-1], a[::-1], "xyz", groups[::-1], weights=kind, seed=1, draws=30)  # type: ignore[arg-type]
    assert one.value == pytest.approx(other.value, nan_ok=True)
    assert math.isnan(one.value) or -1 - 1e-9 <= one.value <= 1


def test_two_classes_weigh_alike_in_every_kind() -> None:
    a, b, groups = from_table([[20, 5], [10, 15]])
    plain, squared = (kappa(a, b, [0, 1], groups, weights=w, seed=1) for w in ("none", "quadratic"))
    assert plain.value == pytest.approx(squared.value)


def test_one_class_only_has_no_kappa() -> None:
    found = kappa("xxx", "xxx", "xyz", ["a", "b", "c"], seed=1)
    assert math.isnan(found.value) and math.isnan(found.low)


def test_perfect_agreement_has_a_lower_bound_that_rises_with_the_patients() -> None:
    few, many = (
        kappa("xy" * n, "xy" * n, "xyz", [f"{i}" for i in range(2 * n)], seed=1) for n in (10, 200)
    )
    assert few.value == many.value == few.high == 1
    assert few.low == pytest.approx(1 - (1 - 0.025 ** (1 / 20)) / 0.5)
    assert few.low < many.low < 1


def test_the_interval_covers_the_truth() -> None:
    random = np.random.default_rng(3)
    covered = 0
    for trial in range(150):
        truth = random.integers(0, 3, 240)
        copied = random.random((2, 240)) < 0.8
        a, b = (np.where(keep, truth, random.integers(0, 3, 240)) for keep in copied)
        found = kappa(a.tolist(), b.tolist(), [0, 1, 2], np.arange(240) // 4, seed=trial, draws=300)
        covered += found.low <= 0.64 <= found.high  # both copied: 0.8 squared
    assert 0.90 <= covered / 150 <= 0.99


def test_a_label_outside_the_classes_is_refused_without_naming_it() -> None:
    with pytest.raises(ValueError, match="none of the classes") as caught:
        kappa(["secret"], ["x"], "xyz", ["p"], seed=1)
    assert "secret" not in str(caught.value)
