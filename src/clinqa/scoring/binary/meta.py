"""The `meta` of scores.json for true_false items: what the figures stand on.

kind      "true_false"
dataset   name, fingerprint, data_class, split, items, pairs, sources, true_share, unit
runs      by run: what is known of the model, its key on any set, statuses, tokens, seconds
family, interval, warnings, missing     as for long-form scores
panel     see score/binary/panel.py; ensembles, search and transfer where they were asked for
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinqa.core.figures import Figure
from clinqa.dataset.reader import Dataset
from clinqa.scoring.binary.figures import BY_PAIR, WRONG
from clinqa.scoring.binary.judged import Judged
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.binary.votes import key_of
from clinqa.scoring.comparisons import FLIPS, Family
from clinqa.scoring.groups import model_facts
from clinqa.stats.binary import contradictions
from clinqa.stats.bootstrap import RULE

__all__ = ["ALWAYS_ONE", "identities", "meta_of"]

#: Figures of one computation differ by rounding only.
_WITHIN = 1e-9
_CHECKED = ("accuracy", "macro_f1", "kappa", "youden_j", "mcc", "sensitivity", "specificity")
ALWAYS_ONE = (
    "The two statements of a pair have opposite labels. A model that always gives one answer has "
    "exactly one of each pair right, so that its accuracy is 0.5 in every resample and its "
    "interval has no width; models near that are given narrow intervals for the same reason."
)


def meta_of(
    dataset: Dataset,
    statements: Statements,
    runs: Sequence[Judged],
    votes: Sequence[Judged],
    family: Family,
    figures: Sequence[Figure],
    panel: dict[str, Any],
    warnings: Sequence[str],
    *,
    seed: int,
    draws: int,
) -> dict[str, Any]:
    """The object, without a word of any record in it."""
    manifest = dataset.manifest
    split = runs[0].run.split if runs[0].run is not None else ""
    return {
        "kind": "true_false",
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            "split": split,
            "items": len(statements),
            "pairs": statements.pairs,
            "sources": statements.sources,
            "true_share": float(statements.gold.mean()),
            "unit": "statement; two statements that differ in one edit are a pair",
            "topics": dict(manifest.details.get("topics") or {}),
            "clinqa": manifest.clinqa,
            "source_sha256": [record.sha256 for record in manifest.inputs],
        },
        "runs": [_run(one) for one in runs] + [_vote(one) for one in votes],
        "family": {
            "metric": family.primary,
            "declared": family.declared,
            "comparisons": len(family.pairs),
            "alpha": 0.05,
            "method": "McNemar's exact test where each item is a pair of its own, else sign-flip "
            f"of the summed difference of each pair ({FLIPS} random flips, or all)",
            "adjusted": "Holm over the family; other metrics are exploratory and not adjusted",
        },
        "interval": {
            "level": 0.95,
            "method": RULE,
            "resamples": draws,
            "unit": "pair; beside it source document",
            "seed": seed,
            "always_one_answer": ALWAYS_ONE,
        },
        "panel": panel,
        "missing": [
            {"run": f.run, "metric": f.metric, "reason": "not defined: nothing it could be of"}
            for f in figures
            if f.value is None and not f.subset and f"|{WRONG}|{BY_PAIR}|" in f.signature
        ],
        "warnings": list(warnings),
    }


def identities(figures: Sequence[Figure], judged: Sequence[Judged]) -> list[str]:
    """Where our own figures contradict each other: each computed apart, together they must fit."""
    names = {one.id: one.name for one in judged}
    found: dict[str, dict[str, float]] = {}
    shares: dict[str, tuple[float, float]] = {}
    for figure in figures:
        if figure.subset or f"|{WRONG}|{BY_PAIR}|" not in figure.signature:
            continue
        if figure.metric in _CHECKED and figure.value is not None:
            found.setdefault(figure.run, {})[figure.metric] = figure.value
        if figure.metric in ("sensitivity", "specificity"):
            true, false = shares.get(figure.run, (0.0, 0.0))
            shares[figure.run] = (
                (float(figure.n), false) if figure.metric == "sensitivity" else (true, figure.n)
            )
    made = []
    for run, own in found.items():
        true, false = shares.get(run, (0.0, 0.0))
        if true + false:
            said = contradictions(own, true / (true + false), within=_WITHIN)
            made += [f"{names.get(run, run)}: figures contradict each other: {one}" for one in said]
    return made


def _run(one: Judged) -> dict[str, Any]:
    assert one.run is not None
    manifest, configuration = one.run.manifest, one.run.configuration
    return {
        "run": one.id,
        "name": one.name,
        "key": key_of(one.run),
        "model": one.model,
        "shots": one.shots,
        "how": one.how,
        "adapters": list(configuration.get("adapters") or ()),
        "repeats": one.repeats,
        "deterministic": one.run.deterministic,
        **model_facts(one.model),
        "fingerprint": manifest.fingerprint,
        "items": int(one.asked.sum()),
        "statuses": {name: n for name, n in one.statuses.items() if n},
        "input_tokens": manifest.details.get("input_tokens"),
        "output_tokens": manifest.details.get("output_tokens"),
        "seconds": manifest.details.get("model_seconds"),
        "versions": dict(manifest.versions),
        "command": list(manifest.command),
    }


def _vote(one: Judged) -> dict[str, Any]:
    return {
        "run": one.id,
        "name": one.name,
        "key": "",
        "model": one.model,
        "shots": 0,
        "how": one.how,
        "members": list(one.members),
        "group": "ensemble",
        "items": int(one.asked.sum()),
        "statuses": {name: n for name, n in one.statuses.items() if n},
    }
