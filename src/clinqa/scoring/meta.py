"""The `meta` of scores.json: what the figures stand on, in keys that the report reads.

dataset   name, fingerprint, data_class, split, items, patients, clinqa, pack, source_sha256
runs      by run: model, shots, what is known of the model, repeats, tokens, seconds, statuses
spreads   by run and metric: sd between repeats, or the word deterministic
family    the declared tests: metric, pairs, method
interval  how intervals were made
ranking   by metric and group of models: best and second best run
scale     by family of models: its runs in order of size, with the primary metric
human     what people's verdicts did to level accuracy
labeller  who read the answers, and that the same labeller made the references
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinqa.core.figures import Figure, PairedTest
from clinqa.dataset.reader import Dataset
from clinqa.packs.loader import Pack
from clinqa.scoring.comparisons import FLIPS, Family
from clinqa.scoring.corrected import Corrected
from clinqa.scoring.figures import LEVEL, METHOD, Drawing
from clinqa.scoring.groups import model_facts
from clinqa.scoring.inputs import Items
from clinqa.scoring.scored import ScoredRun

__all__ = ["Scored", "meta_of"]

RANKED = (
    *("bleu", "rouge1", "rouge2", "rougeL", "token_f1", "meteor", "meteor_exact_stem"),
    *("level_accuracy", "level_macro_f1", "level_weighted_kappa"),
)
_NONE = "no item that it could be of"
_NOTHING = "all items are of one class, so that it is not defined"
SAME_LABELLER = (
    "the labeller that reads the answers also made the reference labels: an error they share goes "
    "unseen. A sample judged by people (--human) corrects level accuracy"
)


@dataclass(frozen=True, slots=True)
class Scored:
    """Everything that is known after scoring."""

    dataset: Dataset
    items: Items
    runs: Sequence[ScoredRun]
    figures: Sequence[Figure]
    tests: Sequence[PairedTest]
    spreads: Sequence[Mapping[str, Any]]
    people: Sequence[Corrected]


def meta_of(
    made: Scored, pack: Pack, family: Family, drawing: Drawing, warnings: Sequence[str]
) -> dict[str, Any]:
    """The object, without a word of any record in it."""
    manifest = made.dataset.manifest
    runs = [_run(scored) for scored in made.runs]
    answered = np.unique(np.concatenate([scored.items for scored in made.runs]))
    return {
        "dataset": {
            "name": made.dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            "split": made.runs[0].run.split,
            "items": len(made.items),
            "patients": made.items.clusters,
            "items_scored": len(answered),
            "patients_scored": len(np.unique(made.items.cluster[answered])),
            "clinqa": manifest.clinqa,
            "pack": pack.spec.id,
            "source_sha256": [record.sha256 for record in manifest.inputs],
        },
        "runs": runs,
        "spreads": list(made.spreads),
        "family": {
            "metric": family.primary,
            "declared": family.declared,
            "comparisons": len(family.pairs),
            "alpha": 1 - LEVEL,
            "method": f"sign-flip of the per-patient difference ({FLIPS} random flips, or all)",
            "adjusted": "Holm over the family; other metrics are exploratory and not adjusted",
        },
        "interval": {
            "level": LEVEL,
            "method": METHOD,
            "resamples": drawing.draws,
            "unit": "patient",
            "seed": drawing.seed,
        },
        "names": {name: spec.name for name, spec in pack.abnormalities.items()},
        "short_references": made.runs[0].short_references,
        "ranking": _ranking(made.figures, runs),
        "scale": _scale(made.figures, runs, family.primary),
        "human": _human(made.people),
        "labeller": {
            "pack": pack.spec.id,
            "fingerprint": pack.fingerprint,
            "made_the_references": True,
            "note": SAME_LABELLER,
        },
        "missing": _missing(made.figures),
        "warnings": list(warnings),
    }


def _run(scored: ScoredRun) -> dict[str, Any]:
    run = scored.run
    manifest, configuration = run.manifest, run.configuration
    facts = model_facts(run.model)
    return {
        "run": run.id,
        "name": run.name,
        "model": run.model,
        "shots": run.shots,
        "adapters": list(configuration.get("adapters") or ()),
        "repeats": len(scored.repeats),
        "vary": "" if run.vary in ("none", "deterministic") else run.vary,
        "deterministic": run.deterministic,
        **facts,
        "fingerprint": manifest.fingerprint,
        "seed": configuration.get("seed"),
        "sampling": configuration.get("sampling"),
        "items": len(scored.items),
        "statuses": dict(scored.statuses),
        "input_tokens": manifest.details.get("input_tokens"),
        "output_tokens": manifest.details.get("output_tokens"),
        "seconds": manifest.details.get("model_seconds"),
        "wall_seconds": manifest.seconds,
        "cost": manifest.details.get("cost"),
        "versions": dict(manifest.versions),
        "command": list(manifest.command),
    }


def _ranking(figures: Sequence[Figure], runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Best and second best of each group; whether they differ is for the tests to say."""
    group = {run["run"]: run["group"] for run in runs}
    found: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.metric in RANKED and not figure.subset and figure.value is not None:
            found[figure.metric, group[figure.run], figure.signature].append(figure)
    made = []
    for (metric, name, _), among in found.items():
        among.sort(key=lambda figure: (-(figure.value or 0.0), figure.run))
        second = among[1].run if len(among) > 1 else None
        made.append({"metric": metric, "group": name, "best": among[0].run, "second": second})
    return made


def _scale(
    figures: Sequence[Figure], runs: Sequence[Mapping[str, Any]], primary: str
) -> dict[str, list[dict[str, Any]]]:
    """What size does within a family: its runs with known sizes, smallest first."""
    value = {f.run: f.value for f in figures if f.metric == primary and not f.subset}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        if run["family"] and run["parameters"]:
            found[run["family"]].append(
                {
                    "run": run["run"],
                    "shots": run["shots"],
                    "parameters": run["parameters"],
                    "value": value.get(run["run"]),
                }
            )
    return {
        family: sorted(among, key=lambda one: (one["parameters"], one["shots"], one["run"]))
        for family, among in sorted(found.items())
        if len({one["parameters"] for one in among}) > 1
    }


def _human(people: Sequence[Corrected]) -> dict[str, Any] | None:
    if not people:
        return None
    return {"n": sum(each.about["n"] for each in people), "runs": [dict(p.about) for p in people]}


def _missing(figures: Sequence[Figure]) -> list[dict[str, str]]:
    return [
        {"run": figure.run, "metric": figure.metric, "reason": _NOTHING if figure.n else _NONE}
        for figure in figures
        if figure.value is None and not figure.subset
    ]
