"""clinqa predict: a dataset and a model in, a RUN folder out."""

from __future__ import annotations

from functools import partial

from clinqa.asking.predict_options import PredictOptions
from clinqa.cli.commands import BuildArgument, Out
from clinqa.cli.outcome import Outcome, counted, staged
from clinqa.cli.terminal import say

__all__ = ["predict"]


def predict(dataset: BuildArgument, out: Out, options: PredictOptions) -> Outcome:
    """Ask a model every question of a split; resumable item by item."""
    from clinqa.asking.predict import predict as ask

    work = partial(ask, dataset, out, options, notice=say)
    return staged("predict", out, options, work, counted("run"))
