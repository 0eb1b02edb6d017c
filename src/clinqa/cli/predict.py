"""clinqa predict: a dataset and a model in, a RUN folder out."""

from __future__ import annotations

from clinqa.asking.predict_options import PredictOptions
from clinqa.cli.arguments import BuildArgument, Out
from clinqa.cli.outcome import Outcome, ended
from clinqa.cli.terminal import ProgressLine, say

__all__ = ["predict"]


def predict(dataset: BuildArgument, out: Out, options: PredictOptions) -> Outcome:
    """Ask a model every question of a split; resumable item by item."""
    from clinqa.asking.predict import predict as ask

    with ProgressLine() as progress:
        result = ask(dataset, out, options, progress, say)
    return ended("predict", out, result, options.dry_run, counts_of="run")
