"""Curves of a training: what is drawn, and that the same log gives the same bytes."""

from __future__ import annotations

from pathlib import Path

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
