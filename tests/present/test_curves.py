"""Curves of a training: what is drawn, and that the same log gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.present.curves import plot_curves, smoothed

LOG = [
    *({"step": n, "loss": 2.0 / n, "learning_rate": 1e-4} for n in range(1, 101)),
    {"step": 50, "eval_loss": 0.5, "eval_exact": 0.2, "eval_accuracy": 0.2},
    {"step": 100, "eval_loss": 0.4, "eval_exact": 0.6, "eval_accuracy": 0.6},
]


def test_losses_validation_and_the_kept_state_are_drawn(tmp_path: Path) -> None:
    plot_curves(LOG, tmp_path / "a.svg", title="a model", private=True, best_step=50)
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for word in ("a model", "mean of 2 steps", "validation", "exact answers", "kept"):
        assert f"<!-- {word} -->" in drawn
    assert "<!-- accuracy -->" not in drawn  # the same curve
    assert (tmp_path / "a.svg").stat().st_mode & 0o077 == 0
    plot_curves(LOG, tmp_path / "b.svg", title="a model", private=True, best_step=50)
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()


def test_a_short_log_and_an_empty_one_are_drawn(tmp_path: Path) -> None:
    plot_curves(LOG[:3], tmp_path / "short.svg", title="t", private=False)
    plot_curves([], tmp_path / "empty.svg", title="t", private=False)
    assert (tmp_path / "empty.svg").stat().st_size > 1000


def test_a_mean_looks_back_only() -> None:
    assert smoothed([1.0, 3.0, 5.0, 7.0], 2) == [1.0, 2.0, 4.0, 6.0]
    assert smoothed([], 3) == []


def test_one_validation_stands_at_its_step_on_the_axis_of_all_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    drawn = []
    save = figure.Figure.savefig

    def keep(self: object, *given: object, **named: object) -> None:
        drawn.append(self)
        save(self, *given, **named)

    monkeypatch.setattr(figure.Figure, "savefig", keep)
    log = [{"step": step, "loss": 1.0} for step in range(1, 7)]
    log.append({"step": 6, "eval_loss": 1.0, "eval_exact": 0.5, "eval_accuracy": 0.75})
    plot_curves(log, tmp_path / "c.svg", title="a model", private=False)
    left, right = drawn[0].axes
    assert left.get_xlim() == right.get_xlim()
    assert all(tick == round(tick) for tick in right.get_xticks())
    # of multiple choice the letter decides the accuracy, and may be right where the text is not
    said = [text.get_text() for text in right.get_legend().get_texts()]
    assert said == ["accuracy", "exact answers"]
