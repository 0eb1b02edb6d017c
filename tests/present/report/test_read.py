"""Scores as the page reads them: what runs are called."""

from __future__ import annotations

from clinqa.present.report.read import Run, _labelled


def test_labels_tell_an_adapter_and_runs_of_one_model_by_their_folders() -> None:
    made = [
        Run("a-1", "m", 0, "", about={"name": "before"}),
        Run("b-2", "m", 0, "", about={"name": "after", "adapters": ["tuned"]}),
        Run("c-3", "m", 0, "", about={"name": "again"}),
    ]
    labels = {run.id: run.label for run in _labelled(made)}
    assert labels == {
        "a-1": "m, 0-shot, run before",
        "b-2": "m + adapter, 0-shot",
        "c-3": "m, 0-shot, run again",
    }
