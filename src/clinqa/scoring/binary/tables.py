"""The figures of statements as CSV: one signature a column, pairs and documents apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, PairedTest
from clinqa.scoring.binary.judged import Judged
from clinqa.scoring.binary.panel import difficulty_rows
from clinqa.scoring.binary.statements import Statements

__all__ = ["tables_of"]

_FIGURE = (
    *("run", "model", "shots", "category", "metric", "value", "low", "high", "n", "clusters"),
    "signature",
)
_TEST = (
    *("a", "b", "metric", "difference", "low", "high", "p", "p_holm", "n", "clusters"),
    "signature",
)
_ITEM = (
    "item_id", "pair_id", "category", "label", "models_right", "models",
    "strong_fail_weak_succeed",
)  # fmt: skip


def tables_of(
    figures: Sequence[Figure],
    tests: Sequence[PairedTest],
    panel: Mapping[str, Any],
    judged: Sequence[Judged],
    statements: Statements,
) -> dict[str, str]:
    """The tables by file name; figures stand in long form, a row each with its signature."""
    made = {
        "overall.csv": csv_text(_FIGURE, [_row(f) for f in figures if not f.subset]),
        "by_category.csv": csv_text(_FIGURE, [_row(f) for f in figures if f.subset]),
        "tests.csv": csv_text(_TEST, [[getattr(t, name) for name in _TEST] for t in tests]),
        "difficulty.csv": csv_text(_ITEM, difficulty_rows(judged, statements)),
    }
    found = panel.get("agreement")
    if found:
        judges = found["judges"]
        made["kappa.csv"] = csv_text(
            ("a", "b", "kappa", "low", "high"),
            [
                (a, b, *(found[key][i][j] for key in ("value", "low", "high")))
                for i, a in enumerate(judges)
                for j, b in enumerate(judges)
                if i < j
            ],
        )
        made["errors.csv"] = csv_text(
            ("a", "b", "relation", "kappa", "kappa_low", "kappa_high", "error_kappa",
             "error_kappa_low", "error_kappa_high", "either_wrong", "both_wrong"),
            [
                (e["a"], e["b"], e["relation"], *e["kappa"], *e["error_kappa"],
                 e["either_wrong"], e["both_wrong"])
                for e in panel["errors"]
            ],
        )  # fmt: skip
    return made


def _row(figure: Figure) -> list[object]:
    return [
        figure.run, figure.model, figure.shots, figure.subset.get("category", ""), figure.metric,
        figure.value, figure.low, figure.high, figure.n, figure.clusters, figure.signature,
    ]  # fmt: skip
