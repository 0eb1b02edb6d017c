"""What runs of long-form answers are called on a page."""

from __future__ import annotations

from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.kinds.long_form.shows import SHOWS


def test_labels_tell_an_adapter_and_runs_of_one_model_by_their_folders() -> None:
    made = (
        ShownRun("a-1", 1, "", "m", about={"name": "before"}),
        ShownRun("b-2", 2, "", "m", about={"name": "after", "adapters": ["tuned"]}),
        ShownRun("c-3", 3, "", "m", about={"name": "again"}),
    )
    evaluation = Evaluation(made, {}, (), {}, {}, (), (), "public", None)
    labels = {run.id: run.label for run in SHOWS.named(evaluation)}
    assert labels == {
        "a-1": "m, 0-shot, run before",
        "b-2": "m + adapter, 0-shot",
        "c-3": "m, 0-shot, run again",
    }
