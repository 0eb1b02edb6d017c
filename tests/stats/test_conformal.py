"""Conformal sets: the rank, ties, empty and full sets, what each kind promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats.conformal import (
    beta_binomial_band,
    class_thresholds,
    coverage,
    cross_sets,
    fewest_a_class,
    gold_scores,
    randomised_sets,
    rank_of,
    sets,
    threshold,
)


def _made(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels drawn from them."""
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.full(classes, 0.3), size=n)
    label = (p.cumsum(axis=1) > random.random((n, 1))).argmax(axis=1)
    return p, np.eye(classes, dtype=bool)[label]


def test_the_rank_is_exact_where_a_double_would_slip():
    # (9 + 1)(1 - 0.1) is 9, though 1 - 0.1 in doubles times 10 may come out above it
    assert rank_of(9, 0.1) == 9
    assert rank_of(19, 0.05) == 19
    assert rank_of(99, 0.1) == 90


def test_too_few_calibration_items_give_the_full_set():
    limit = threshold([0.1, 0.2], 0.1)
    assert limit.k == 3 and limit.full
    assert sets(np.array([[0.0, 1.0]]), limit).all()


def test_the_threshold_takes_in_equal_scores():
    p = np.array([[0.3, 0.3, 0.4]])
    limit = threshold(gold_scores(p, np.array([[True, False, False]])), 0.5)
    assert sets(p, limit).tolist() == [[True, True, True]]


def test_a_set_may_stay_empty():
    limit = threshold([0.05] * 20, 0.1)
    held = sets(np.array([[0.5, 0.5]]), limit)
    assert held.sum() == 0
    found = coverage(held, np.array([[True, False]]), limit)
    assert found.empty == 1 and found.mean_size == 0


def test_any_gold_label_takes_the_likeliest_and_all_the_unlikeliest():
    p, gold = np.array([[0.8, 0.1]]), np.array([[True, True]])
    assert gold_scores(p, gold, "any")[0] == pytest.approx(0.2)
    assert gold_scores(p, gold, "all")[0] == pytest.approx(0.9)
    held = np.array([[True, False]])
    limit = threshold([0.2] * 9, 0.1)
    assert coverage(held, gold, limit, cover="any").covered.value == 1
    assert coverage(held, gold, limit, cover="all").covered.value == 0


def test_an_item_without_a_gold_label_cannot_calibrate():
    with pytest.raises(ValueError, match="gold label"):
        gold_scores(np.array([[0.5, 0.5]]), np.array([[False, False]]))


def test_coverage_over_many_draws_is_at_least_what_is_promised_and_near_it():
    shares = []
    for seed in range(200):
        p, gold = _made(300, 6, seed)
        limit = threshold(gold_scores(p[:200], gold[:200]), 0.1)
        shares.append(coverage(sets(p[200:], limit), gold[200:], limit).covered.value)
    assert 0.895 <= np.mean(shares) <= 0.915


def test_ninety_five_of_a_hundred_coverages_lie_within_the_band():
    inside = []
    for seed in range(400):
        p, gold = _made(250, 8, 1000 + seed)
        limit = threshold(gold_scores(p[:150], gold[:150]), 0.1)
        inside.append(coverage(sets(p[150:], limit), gold[150:], limit).within_band)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_the_band_is_the_beta_binomials():
    from scipy.stats import betabinom

    limit = threshold(np.linspace(0, 1, 99), 0.1)
    low, high = beta_binomial_band(limit, 200)
    law = betabinom(200, limit.k, limit.n + 1 - limit.k)
    assert low * 200 == pytest.approx(law.ppf(0.025))
    assert high * 200 == pytest.approx(law.ppf(0.975))


def test_no_band_for_the_full_set_nor_for_the_plain_quantile():
    assert beta_binomial_band(threshold([0.1], 0.1), 10) is None
    plain = threshold(np.linspace(0, 1, 50), 0.1, "plain")
    assert plain.value == pytest.approx(0.9) and beta_binomial_band(plain, 10) is None


def test_five_votes_cover_too_much_and_randomised_sets_do_not():
    # scores of five votes have six values: the plain threshold covers more than it must
    random = np.random.default_rng(3)
    votes = random.multinomial(5, [0.7, 0.2, 0.1], size=40_000) / 5
    gold = np.zeros((40_000, 3), dtype=bool)
    gold[:, 0] = True
    scores = gold_scores(votes[:20_000], gold[:20_000])
    limit = threshold(scores, 0.1)
    tied = coverage(sets(votes[20_000:], limit), gold[20_000:], limit).covered.value
    held = randomised_sets(votes[20_000:], scores, 0.1, seed=1)
    exact = coverage(held, gold[20_000:], limit).covered.value
    assert tied > 0.93
    assert exact == pytest.approx(0.9, abs=0.006)


def test_class_conditional_covers_each_class_and_refuses_few_items():
    p, gold = _made(6000, 4, 5)
    held = sets(p[3000:], class_thresholds(p[:3000], gold[:3000], 0.1))
    for at in range(4):
        own = gold[3000:, at]
        assert held[own, at].mean() > 0.87
    few = gold.copy()
    few[:, 0] = False
    with pytest.raises(ValueError, match=r"fewer than 9 calibration items: \[0\]"):
        class_thresholds(p, few, 0.1)
    assert fewest_a_class(0.1) == 9 and fewest_a_class(0.05) == 19


def test_cross_conformal_covers_about_what_is_asked():
    p, gold = _made(2000, 5, 9)
    folds = [np.arange(1000) % 5 == k for k in range(5)]
    scores = [gold_scores(p[:1000][fold], gold[:1000][fold]) for fold in folds]
    held = cross_sets([p[1000:]] * 5, scores, 0.1)
    assert 0.87 <= (held & gold[1000:]).any(axis=1).mean() <= 0.94


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.sampled_from([0.05, 0.1, 0.25]))
def test_at_least_k_calibration_scores_are_at_most_the_threshold(scores, alpha):
    limit = threshold(scores, alpha)
    if not limit.full:
        assert sum(score <= limit.value for score in scores) >= limit.k
    assert threshold(scores[::-1], alpha) == limit


def test_equal_to_mapie_on_shared_ground():
    mapie = pytest.importorskip("mapie.classification", reason="MAPIE is not installed")
    from sklearn.base import BaseEstimator, ClassifierMixin

    p, gold = _made(400, 5, 11)

    class Fixed(ClassifierMixin, BaseEstimator):
        """Says the probabilities that stand in its input."""

        def fit(self, x, y):
            self.classes_ = np.arange(5)
            self.fitted_ = True
            return self

        def predict(self, x):
            return x.argmax(axis=1)

        def predict_proba(self, x):
            return x

    labels = gold.argmax(axis=1)
    model = Fixed().fit(p, labels)
    for alpha in (0.05, 0.1, 0.3):
        theirs = mapie.SplitConformalClassifier(
            model, confidence_level=1 - alpha, conformity_score="lac", prefit=True
        )
        theirs.conformalize(p[:200], labels[:200])
        _, held = theirs.predict_set(p[200:])
        limit = threshold(gold_scores(p[:200], gold[:200]), alpha)
        assert (held[:, :, 0] == sets(p[200:], limit)).all()
