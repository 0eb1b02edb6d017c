"""clinqa terms: clinical terms of a dataset, and what models make of them."""

from __future__ import annotations

from clinqa.cli.arguments import DatasetArgument, Out
from clinqa.cli.commands import group
from clinqa.cli.outcome import Outcome, ended
from clinqa.cli.terminal import ProgressLine
from clinqa.terms.term_options import FindOptions, LogprobOptions

__all__ = ["terms"]


def find(dataset: DatasetArgument, out: Out, options: FindOptions) -> Outcome:
    """Find clinical terms, map them to specialties, compare train with test."""
    from clinqa.terms.find import find_terms

    with ProgressLine() as progress:
        result = find_terms(dataset, out, options, progress)
    return ended("terms find", out, result, options.dry_run, counts_of="terms")


def logprobs(dataset: DatasetArgument, out: Out, options: LogprobOptions) -> Outcome:
    """Log-probability of a specialty's own terms under a model and its adapters."""
    from clinqa.terms.logprobs import term_logprobs

    with ProgressLine() as progress:
        result = term_logprobs(dataset, out, options, progress)
    return ended("terms logprobs", out, result, options.dry_run, counts_of="log-probabilities")


terms = group(
    "terms",
    "Clinical terms: find them, compare models on them.",
    {"find": find, "logprobs": logprobs},
)
