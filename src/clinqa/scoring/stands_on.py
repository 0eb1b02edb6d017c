"""The `meta` of scores.json: what the figures stand on, without a word of any record in it.

kind      the kind of the items
dataset   name, fingerprint, data_class, split, items, clinqa, source_sha256; the kind's own
runs      by run: model, shots, what is known of the model, repeats, tokens, seconds, statuses; own
family    the declared tests: metric, pairs, method; `lower` where a low figure is the good one
interval  how intervals were made
ranking   of kinds that rank: by metric and group of models, best and second best run
scale     by family of models: its runs in order of size, with the primary metric
human     what people's verdicts did to the share that they correct
panel     of kinds with codes: see score panel
missing, warnings; and the kind's own keys
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clinqa.core.figures import Figure
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.models.families import base_of, facts_of
from clinqa.scoring.families import Family
from clinqa.stats.comparing import FLIPS
from clinqa.stats.design import Design
from clinqa.stats.estimates import RULE
from clinqa.stats.verdicts import ranked as best_first

__all__ = [
    "by_size",
    "low_metrics",
    "meta_of",
    "model_facts",
    "rankings_of",
]


def meta_of(
    dataset: Dataset,
    kind: str,
    items: SplitItems,
    judged: Mapping[str, Mapping[str, JudgedRun]],
    measures: Measures,
    family: Family,
    figures: Sequence[Figure],
    design: Design,
    lower: Collection[str],
) -> dict[str, Any]:
    """What every kind tells; `judged` are by run and way of reading. A low figure of the metrics
    `lower` is the good one."""
    manifest, wording = dataset.manifest, measures.wording
    every = [one for own in judged.values() for one in own.values()]
    return {
        "kind": kind,
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            "split": every[0].run.split if every[0].run else "",
            "items": len(items),
            **measures.about_items(items, every, manifest),
            "clinqa": manifest.clinqa,
            "source_sha256": [record.sha256 for record in manifest.inputs],
        },
        "runs": [_run(list(own.values()), measures) for own in judged.values()],
        "family": {
            "metric": family.primary,
            **({"lower": True} if family.primary in lower else {}),
            "declared": family.declared,
            "comparisons": len(family.pairs),
            "alpha": round(1 - design.level, 9),
            "method": wording.test.format(flips=FLIPS),
            "adjusted": wording.adjusted,
        },
        "interval": {
            "level": design.level,
            "method": RULE.replace("clusters", wording.clusters),
            "resamples": design.draws,
            "unit": wording.unit,
            "seed": design.seed,
            **wording.interval,
        },
        "missing": [
            {
                "run": one.run,
                "metric": one.metric,
                "reason": wording.missing if one.n else wording.missing_of_none or wording.missing,
            }
            for one in figures
            if one.value is None and not one.subset and measures.main(one)
        ],
    }


def low_metrics(
    judged: Sequence[JudgedRun], items: SplitItems, measures: Measures
) -> frozenset[str]:
    """The metrics of which a low figure is the good one."""
    parts = (part for one in judged for part in measures.figures(one, items))
    return frozenset(one.name for part in parts for one, _ in part.measures if one.lower)


def _run(judged: Sequence[JudgedRun], measures: Measures) -> dict[str, Any]:
    one, run = judged[0], judged[0].run
    assert run is not None
    manifest = run.manifest
    return {
        "run": run.id,
        "name": run.name,
        "model": run.model,
        "shots": run.shots,
        "adapters": run.adapters,
        "repeats": one.repeats,
        "deterministic": run.deterministic,
        **model_facts(run.model),
        "fingerprint": manifest.fingerprint,
        "items": len(one.items),
        "statuses": {name: n for name, n in one.statuses.items() if n},
        "input_tokens": manifest.details.get("input_tokens"),
        "output_tokens": manifest.details.get("output_tokens"),
        "seconds": manifest.details.get("model_seconds"),
        "versions": dict(manifest.versions),
        "command": list(manifest.command),
        **measures.about_run(judged),
    }


def rankings_of(
    figures: Sequence[Figure],
    runs: Sequence[Mapping[str, Any]],
    ranked: Sequence[str],
    metric: str,
    lower: Collection[str],
) -> dict[str, Any]:
    """Best and second best of each group, whether they differ is for the tests to say; and what
    size does to the metric within a family: its runs with known sizes, smallest first."""
    group = {run["run"]: run["group"] for run in runs}
    found: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.metric in ranked and not figure.subset and figure.value is not None:
            found[figure.metric, group[figure.run], figure.signature].append(figure)
    ranking = []
    for (name, of, _), among in found.items():
        among = best_first(among, lower)
        second = among[1].run if len(among) > 1 else None
        ranking.append({"metric": name, "group": of, "best": among[0].run, "second": second})
    value = {f.run: f.value for f in figures if f.metric == metric and not f.subset}
    return {
        "ranking": ranking,
        "scale": by_size(runs, ("run", "shots", "parameters"), "value", value),
    }


def by_size(
    runs: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    name: str,
    value: Mapping[str, float | None],
) -> dict[str, list[dict[str, Any]]]:
    """By family of models its runs of known sizes, smallest first, with `keys` and a value each."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        if run["family"] and run["parameters"]:
            told = {key: run[key] for key in keys}
            found[run["family"]].append({**told, name: value.get(run["run"])})
    return {
        family: sorted(among, key=lambda one: [one[key] for key in reversed(keys)])
        for family, among in sorted(found.items())
        if len({one["parameters"] for one in among}) > 1
    }


_BILLION = 1e9


def model_facts(name: str) -> dict[str, Any]:
    """Group, family, number of parameters, base model and licence; None where not known.

    >>> model_facts("embedded:smollm2")["group"], model_facts("hf:/somewhere/ours")["group"]
    ('general', None)
    """
    facts = facts_of(name)
    if facts is None:
        return dict.fromkeys(("title", "group", "family", "parameters", "base", "licence"))
    base = base_of(facts)
    return {
        "title": facts.name,
        "group": facts.group,
        "family": facts.family,
        "parameters": facts.parameters * _BILLION if facts.parameters else None,
        "base": None if base is None else base.id,
        "licence": facts.licence,
    }
