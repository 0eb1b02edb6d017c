"""Krippendorff's alpha on published examples, by hand, and against itself."""

from __future__ import annotations

import numpy as np
import pytest

from clinqa.stats.krippendorff import MISSING, alpha, coded, fleiss_kappa, value_counts

NAN = None


def _example() -> np.ndarray:
    """Krippendorff (2011), example C: four observers, twelve units, missing values."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    return coded([[None if v is None else str(v) for v in row] for row in rows], list("12345"))


def test_krippendorffs_own_example_has_his_values():
    assert alpha(_example(), 5).value == pytest.approx(0.743, abs=5e-4)


def test_two_observers_without_missing_values():
    # the nominal case in closed form: what disagrees over what the margins give by chance
    a = "aabbdcccedda"
    b = "babbbcccedda"
    both = coded([list(a), list(b)], list("abcde"))
    counts = np.bincount(both.ravel(), minlength=5)
    n = counts.sum()
    expected = (n**2 - (counts**2).sum()) / (n - 1)
    wrong = 2 * (both[0] != both[1]).sum()
    assert alpha(both, 5).value == pytest.approx(1 - wrong / expected)
    assert 0.79 < alpha(both, 5).value < 0.80


def test_a_unit_with_one_label_says_nothing():
    table = _example()
    alone = np.full((4, 3), MISSING)
    alone[0] = 2
    assert alpha(np.hstack([table, alone]), 5).value == alpha(table, 5).value
    assert alpha(table, 5).n == 11


def test_no_alpha_where_one_label_fills_all_or_nothing_is_rated():
    assert np.isnan(alpha([[1, 1, 1], [1, 1, 1]], 3).value)
    assert np.isnan(alpha([[MISSING, 1], [0, MISSING]], 2).value)


def test_perfect_agreement_is_one():
    found = alpha([[0, 1, 2, 0], [0, 1, 2, 0]], 3, draws=200)
    assert found.value == 1 and found.high == 1


def test_order_of_units_and_of_raters_changes_nothing():
    table = _example()
    turned = table[::-1, ::-1]
    assert alpha(turned, 5) == alpha(table, 5)


def test_samples_of_units_agree_with_computing_alpha_of_each():
    random = np.random.default_rng(2)
    true = random.integers(0, 4, 120)
    table = np.where(random.random((3, 120)) < 0.7, true, random.integers(0, 4, (3, 120)))
    found = alpha(table, 4, draws=4000, seed=3)
    plain = [alpha(table[:, random.integers(0, 120, 120)], 4, draws=0).value for _ in range(400)]
    low, high = np.quantile(plain, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_the_bootstrap_is_named_and_krippendorffs_needs_no_units():
    by_pair = alpha(_example(), 5, resampling="krippendorff")
    assert "bootstrap: krippendorff" in by_pair.signature
    assert by_pair.low < by_pair.value < by_pair.high
    with pytest.raises(ValueError, match="resampling"):
        alpha(_example(), 5, resampling="other")


def test_codes_beyond_the_labels_are_refused():
    with pytest.raises(ValueError, match="codes"):
        alpha([[0, 5], [0, 1]], 5)


def test_many_raters_and_labels_take_the_long_way_to_the_same_counts():
    random = np.random.default_rng(4)
    table = random.integers(0, 55, (20, 50))
    found = alpha(table, 55, draws=0).value
    assert value_counts(table, 55).sum() == 1000
    assert found == pytest.approx(0.0, abs=0.05)


def test_fleiss_kappa_of_the_1971_paper():
    # ten subjects by fourteen raters, five categories (Fleiss 1971): kappa 0.210
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    table = np.array([[at for at, n in enumerate(row) for _ in range(n)] for row in counts]).T
    assert fleiss_kappa(table, 5) == pytest.approx(0.210, abs=5e-4)
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([[0, 1], [0, MISSING]], 2)
