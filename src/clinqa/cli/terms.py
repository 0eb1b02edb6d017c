"""clinqa terms: clinical terms of a dataset, and what models make of them."""

from __future__ import annotations

from functools import partial

from clinqa.cli.commands import DatasetArgument, Out, group
from clinqa.cli.outcome import Outcome, counted, staged
from clinqa.terms.term_options import FindOptions, LogprobOptions

__all__ = ["terms"]


def find(dataset: DatasetArgument, out: Out, options: FindOptions) -> Outcome:
    """Find clinical terms, map them to specialties, compare train with test."""
    from clinqa.terms.find import find_terms

    work = partial(find_terms, dataset, out, options)
    return staged("terms find", out, options, work, counted("terms"))


def logprobs(dataset: DatasetArgument, out: Out, options: LogprobOptions) -> Outcome:
    """Log-probability of a specialty's own terms under a model and its adapters."""
    from clinqa.terms.logprobs import term_logprobs

    work = partial(term_logprobs, dataset, out, options)
    return staged("terms logprobs", out, options, work, counted("log-probabilities"))


terms = group(
    "terms",
    "Clinical terms: find them, compare models on them.",
    {"find": find, "logprobs": logprobs},
)
