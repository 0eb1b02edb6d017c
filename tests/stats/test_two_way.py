"""Figures of two-way judgements: ECGQuest's printed rows, the reference libraries, identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from clinqa.stats.two_way import MEASURES, Cells, cells_of_rates, contradictions

TRUE_SHARE = 0.506
# sensitivity, specificity -> what the paper prints (accuracy and macro-F1 in percent)
PRINTED = {
    "MedAlpaca": (0.934, 0.060, {"accuracy": 50.2, "macro_f1": 38.0, "kappa": -0.01}),
    "BioMistral": (0.902, 0.187, {"accuracy": 54.9, "macro_f1": 48.0, "kappa": 0.09}),
    "Gemma-3-270M": (0.004, 0.998, {"accuracy": 49.5, "macro_f1": 33.5, "kappa": 0.00}),
    "Qwen2.5-14B": (0.275, 0.936, {"accuracy": 60.2, "macro_f1": 55.5, "youden_j": 0.211}),
    "ensemble": (0.837, 0.73, {"accuracy": 78.5, "macro_f1": 78.4, "youden_j": 0.57}),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_printed_rows_of_the_panel_come_out_of_their_rates(name: str) -> None:
    sensitivity, specificity, printed = PRINTED[name]
    cells = cells_of_rates(sensitivity, specificity, TRUE_SHARE)
    for metric, said in printed.items():
        made = float(MEASURES[metric](cells))
        if metric in ("accuracy", "macro_f1"):
            assert abs(100 * made - said) <= 0.1, (metric, made)
        else:
            assert abs(made - said) <= 0.01, (metric, made)


def test_printed_figures_that_contradict_each_other_are_named() -> None:
    assert contradictions({"accuracy": 0.763, "kappa": 0.49}, TRUE_SHARE)
    assert contradictions({"accuracy": 0.717, "kappa": 0.41}, TRUE_SHARE) == [
        "kappa 0.410, but accuracy 0.717 on a balanced set makes it 0.434"
    ]
    assert not contradictions({"accuracy": 0.763, "youden_j": 0.52}, TRUE_SHARE)
    for sensitivity, specificity, printed in PRINTED.values():
        said = {k: v / 100 if k in ("accuracy", "macro_f1") else v for k, v in printed.items()}
        said |= {"sensitivity": sensitivity, "specificity": specificity}
        assert contradictions(said, TRUE_SHARE) == []


def test_a_specificity_called_unchanged_that_fell_is_seen_from_its_own_figures() -> None:
    """Recall 0.837 and a false positive rate of 0.27 are a specificity of 73.0, not 93.6."""
    said = {"accuracy": 0.785, "sensitivity": 0.837, "specificity": 0.936}
    assert contradictions(said, TRUE_SHARE)
    assert contradictions({**said, "specificity": 1 - 0.27}, TRUE_SHARE) == []


def test_whoever_says_true_to_everything_has_nothing_but_its_accuracy() -> None:
    cells = cells_of_rates(1.0, 0.0, 0.5)
    found = {name: float(measure(cells)) for name, measure in MEASURES.items()}
    assert found["accuracy"] == 0.5
    assert found["macro_f1"] == pytest.approx(1 / 3)
    assert (found["kappa"], found["youden_j"], found["mcc"]) == (0, 0, 0)
    assert found["directional_bias"] == pytest.approx(1 / 6)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=200))
def test_figures_are_those_of_scikit_learn(rows: list[tuple[bool, bool]]) -> None:
    gold, said = (np.array(column) for column in zip(*rows, strict=True))
    cells = Cells(
        *(
            np.float64(np.sum(one))
            for one in (gold & said, gold & ~said, ~gold & ~said, ~gold & said)
        )
    )
    made = {name: float(measure(cells)) for name, measure in MEASURES.items()}
    f1 = metrics.f1_score(gold, said, average="macro", labels=[False, True], zero_division=0)
    assert made["macro_f1"] == pytest.approx(f1, abs=1e-9)
    assert made["accuracy"] == pytest.approx(metrics.accuracy_score(gold, said), abs=1e-9)
    assert made["mcc"] == pytest.approx(metrics.matthews_corrcoef(gold, said), abs=1e-9)
    if len(set(gold)) + len(set(said)) > 2:
        assert made["kappa"] == pytest.approx(metrics.cohen_kappa_score(gold, said), abs=1e-9)
    if len(set(gold)) == 2:
        recall = metrics.recall_score(gold, said, zero_division=0)
        assert made["sensitivity"] == pytest.approx(recall, abs=1e-9)
        balanced = metrics.balanced_accuracy_score(gold, said)
        assert made["youden_j"] == pytest.approx(2 * balanced - 1, abs=1e-9)
    if said.any():
        assert made["precision"] == pytest.approx(metrics.precision_score(gold, said), abs=1e-9)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_on_a_balanced_set_kappa_is_twice_accuracy_less_one(half: int, a: int, b: int) -> None:
    tp, tn = min(a, half), min(b, half)
    cells = Cells(*(np.float64(x) for x in (tp, half - tp, tn, half - tn)))
    kappa, accuracy = float(MEASURES["kappa"](cells)), float(MEASURES["accuracy"](cells))
    assert kappa == pytest.approx(2 * accuracy - 1, abs=1e-9)
    assert float(MEASURES["youden_j"](cells)) == pytest.approx(kappa, abs=1e-9)
