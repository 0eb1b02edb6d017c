"""clinqa score: what runs answered, scored against the dataset they were asked from."""

from __future__ import annotations

from functools import partial

from clinqa.cli.commands import DatasetArgument, Out, RunsArgument
from clinqa.cli.outcome import Outcome, staged
from clinqa.scoring.score_options import ScoreOptions

__all__ = ["score"]


def score(dataset: DatasetArgument, runs: RunsArgument, out: Out, options: ScoreOptions) -> Outcome:
    """Score runs: text metrics, clinical reading, intervals, paired tests.

    Every figure has an interval over patients; dangerous errors stand on their own. Runs on true
    and false statements: two-way figures over pairs, agreement, ensembles, difficulty. Runs on
    multiple choice: accuracy by order of the options and by reader, bias of position.
    """
    from clinqa.scoring.score_runs import score as make

    work = partial(make, dataset, runs, out, options)
    return staged("score", out, options, work, "scores")
