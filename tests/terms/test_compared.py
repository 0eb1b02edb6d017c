"""Means and paired differences of occurrences, by the term's specialty."""

from __future__ import annotations

import random

import pytest

from clinqa.core.records import Reason
from clinqa.terms.compared import ALL, Compared, ModelTerm, compared
from clinqa.terms.scoring import ScoredPlace, TermPlace
from clinqa.terms.term_options import BASE


def _row(
    model: str, item: int, start: int, specialty: str, value: float | None, part: str = "question"
) -> ModelTerm:
    lost = None if value is not None else Reason.NOTHING_BEFORE
    scored = ScoredPlace(TermPlace(part, start, start + 4, f"c{start}"), value, 1, False, lost)
    return ModelTerm(model, f"i{item}", f"g{item // 2}", specialty, scored)


def _rows() -> list[ModelTerm]:
    rows = []
    for item in range(40):
        specialty = "Cardiology" if item % 2 else "Neurology"
        for start in (0, 10):
            base = -5.0 - (item % 5)
            gain = 1.0 + 0.1 * (item % 3) if specialty == "Cardiology" else 0.0
            rows.append(_row(BASE, item, start, specialty, base))
            rows.append(_row("tuned", item, start, specialty, base + gain))
    return rows


def _made(rows: list[ModelTerm]) -> Compared:
    return compared(rows, [BASE, "tuned"], model="m", signature="s", seed=0, draws=400)


def _test(made: Compared, specialty: str, part: str = ALL):  # type: ignore[no-untyped-def]
    return next(t.test for t in made.tests if (t.specialty, t.part) == (specialty, part))


def test_differences_are_paired_and_clustered_by_group() -> None:
    made = _made(_rows())
    heart, nerves = _test(made, "Cardiology"), _test(made, "Neurology")
    assert heart.difference == pytest.approx(1.1, abs=0.02)
    assert heart.low > 0.9 and heart.high < 1.3 and heart.p < 0.01
    assert (heart.n, heart.clusters) == (40, 20)
    assert nerves.difference == 0 and nerves.p == 1.0
    assert heart.p_holm == pytest.approx(min(1.0, 2 * heart.p))
    assert _test(made, ALL).p_holm is None
    assert "every" not in heart.signature and heart.signature.startswith("s|")


def test_a_mean_may_lie_below_zero_and_its_interval_too() -> None:
    figure = next(
        f for f in _made(_rows()).figures if f.run == BASE and f.subset["specialty"] == "Cardiology"
    )
    assert figure.value is not None and figure.low is not None and figure.high is not None
    assert figure.low < figure.value < figure.high < 0


def test_what_one_model_could_not_score_is_left_out_for_all() -> None:
    rows = _rows()
    rows += [_row(BASE, 1, 20, "Cardiology", -99.0), _row("tuned", 1, 20, "Cardiology", None)]
    made, without = _made(rows), _made(_rows())
    assert _test(made, "Cardiology") == _test(without, "Cardiology")


def test_the_order_of_rows_does_not_matter() -> None:
    rows = _rows()
    random.Random(1).shuffle(rows)
    assert _made(rows) == _made(_rows())


def test_parts_are_told_apart_where_there_are_two() -> None:
    rows = _rows()
    for item in range(40):
        rows.append(_row(BASE, item, 0, "Cardiology", -2.0, "answer"))
        rows.append(_row("tuned", item, 0, "Cardiology", -3.0, "answer"))
    made = _made(rows)
    assert _test(made, "Cardiology", "answer").difference == pytest.approx(-1.0)
    assert _test(made, "Cardiology", "question").difference == pytest.approx(1.1, abs=0.02)
    assert _test(made, "Cardiology").n == 80


def test_few_groups_are_warned_about() -> None:
    rows = [_row(m, i, 0, "Urology", -1.0 - i) for m in (BASE, "tuned") for i in range(6)]
    assert "Urology: terms in fewer than 10 groups" in _made(rows).warnings[0]
