"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.stats.comparing import holm

chances = st.lists(st.floats(0, 1), max_size=12)


def test_a_textbook_family_comes_out() -> None:
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])


@given(chances)
def test_adjusted_values_keep_the_order_and_lie_between_p_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    for one, other in zip(p, adjusted, strict=True):
        assert one <= other <= min(1.0, len(p) * one) or one == other == 0
    ranked = [q for _, q in sorted(zip(p, adjusted, strict=True))]
    assert ranked == sorted(ranked)


@given(chances, st.randoms(use_true_random=False))
def test_the_order_of_tests_has_no_part_in_it(p: list[float], shuffler: object) -> None:
    order = list(range(len(p)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    assert holm([p[at] for at in order]) == [holm(p)[at] for at in order]


@pytest.mark.parametrize("wrong", [[float("nan")], [1.5], [-0.1]])
def test_what_is_no_p_value_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(wrong)
