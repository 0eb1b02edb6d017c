"""The `meta` of scores.json for multiple-choice items: what the figures stand on.

kind       "multiple_choice"
dataset    name, fingerprint, data_class, split, items, clusters, options, unit
reader     the reading that decides the declared tests
runs       by run: what is known of the model, its orders and readers, statuses, tokens, seconds
positions  by run, reader and number of options: picks, test, spread of recall
matcher    what it was trained on, and its accuracy on held-out questions
agreement  by run and pair of readers: share of prompts of which both read the same
family, interval, warnings     as for other kinds
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from clinqa.core.figures import Figure
from clinqa.dataset.reader import Dataset
from clinqa.scoring.choice.asked import Asked, design_of
from clinqa.scoring.choice.compared import Read
from clinqa.scoring.choice.figures import UNIT
from clinqa.scoring.choice.matching import Trained
from clinqa.scoring.choice.positions import Positions
from clinqa.scoring.choice.questions import Questions
from clinqa.scoring.comparisons import FLIPS, Family
from clinqa.scoring.groups import model_facts
from clinqa.stats.bootstrap import RULE

__all__ = ["meta_of"]


def meta_of(
    dataset: Dataset,
    questions: Questions,
    asked: Sequence[Asked],
    reads: Mapping[str, Mapping[str, Read]],
    family: Family,
    reader: str,
    positions: Sequence[Positions],
    matcher: Trained | None,
    figures: Sequence[Figure],
    warnings: Sequence[str],
    *,
    seed: int,
    draws: int,
) -> dict[str, Any]:
    """The object, without a word of any record in it."""
    manifest = dataset.manifest
    sizes = Counter(len(own) for own in questions.options)
    return {
        "kind": "multiple_choice",
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            "split": asked[0].run.split,
            "items": len(questions),
            "clusters": questions.clusters,
            "options": {str(size): sizes[size] for size in sorted(sizes)},
            "unit": "a question with its near-duplicates; its orders and repeats stay together",
            "clinqa": manifest.clinqa,
            "source_sha256": [record.sha256 for record in manifest.inputs],
        },
        "reader": reader,
        "runs": [_run(one, reads[one.run.id]) for one in asked],
        "positions": [one.as_json() for one in positions],
        "matcher": matcher.as_json() if matcher else None,
        "agreement": [row for own in reads.values() for row in _agreement(own)],
        "family": {
            "metric": family.primary,
            "declared": family.declared,
            "comparisons": len(family.pairs),
            "alpha": 0.05,
            "method": f"sign-flip of the summed difference of each item ({FLIPS} random flips, "
            "or all)",
            "adjusted": "Holm over the family, read by the deciding reader; other readers and "
            "metrics are exploratory and not adjusted",
        },
        "interval": {
            "level": 0.95,
            "method": RULE,
            "resamples": draws,
            "unit": UNIT,
            "seed": seed,
        },
        "missing": [
            {"run": f.run, "metric": f.metric, "reason": "not defined: nothing it could be of"}
            for f in figures
            if f.value is None and not f.subset
        ],
        "warnings": list(warnings),
    }


def _run(one: Asked, reads: Mapping[str, Read]) -> dict[str, Any]:
    run = one.run
    manifest, configuration = run.manifest, run.configuration
    items = np.unique(one.item)
    return {
        "run": run.id,
        "name": run.name,
        "model": run.model,
        "shots": run.shots,
        "orders": design_of(run),
        "readers": list(reads),
        "adapters": list(configuration.get("adapters") or ()),
        "repeats": len(np.unique(one.repeat)),
        "deterministic": run.deterministic,
        **model_facts(run.model),
        "fingerprint": manifest.fingerprint,
        "items": len(items),
        "unshuffled": len(np.unique(one.item[one.positional])),
        "prompts": len(one),
        "statuses": {name: n for name, n in one.statuses.items() if n},
        "input_tokens": manifest.details.get("input_tokens"),
        "output_tokens": manifest.details.get("output_tokens"),
        "seconds": manifest.details.get("model_seconds"),
        "versions": dict(manifest.versions),
        "command": list(manifest.command),
    }


def _agreement(reads: Mapping[str, Read]) -> list[dict[str, Any]]:
    """How often two readers find the same in one run; no answer is an answer of its own."""
    rows = []
    for (a, one), (b, two) in combinations(reads.items(), 2):
        same = one.reading.place == two.reading.place
        both = (one.reading.place >= 0) & (two.reading.place >= 0)
        rows.append(
            {
                "run": one.reading.asked.run.id,
                "a": a,
                "b": b,
                "prompts": len(same),
                "same": float(same.mean()),
                "both_answered": int(both.sum()),
                "same_of_both": float(same[both].mean()) if both.any() else None,
                "signature": f"agreement|multiple_choice|{a} and {b}|share of prompts",
            }
        )
    return rows
