"""Which figures there are of a run: of all items and of parts of them, with what tells of them.

Patients are drawn again, not items: what is said of one patient stands or falls together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Ints
from clinqa.core.cells import csv_text
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import (
    EVERY,
    Corrects,
    FigureTables,
    Measured,
    Measures,
    TestedTogether,
    Wording,
)
from clinqa.kinds.long_form.answer_measures import (
    clinical_measures,
    level_cells,
    status_measures,
    text_measures,
)
from clinqa.kinds.long_form.clinical import KINDS
from clinqa.kinds.long_form.judges import CLASSES
from clinqa.stats.measure import Measure

__all__ = [
    "MEASURES",
    "spreads_of",
]

_EXPLORED = 999  # flips of an exploratory test
_ANSWERED = "status_answered"
_DANGERS = ("error_dangerous_any", "error_dangerous_answered")


def _figures(judged: JudgedRun, items: SplitItems) -> Iterator[Measured]:
    """Of all items; by abnormality, level, question type; by whether the statement that decides
    the reference also decides an item of train (a model may have memorised it)."""
    yield Measured([(measure, EVERY) for measure in _overall(judged, items)])
    types = np.array(items.column("question_type"))
    levels = np.array(
        ["unmentioned" if level is None else str(level) for level in items.column("level")]
    )
    seen = ["seen" if seen else "unseen" for seen in items.column("statement_seen")]
    properties = {
        "abnormality": np.array(items.column("category")),
        "level": levels,
        "question_type": types,
        # what no statement decides is neither seen nor unseen
        "seen": np.where(levels != "unmentioned", seen, ""),
    }
    for key, values in properties.items():
        for value in sorted(set(values.tolist()) - {""}):
            among = values == value
            mask = among[judged.items]
            if mask.any():
                found = _measures(judged, mask, set(types[among].tolist()), classes=key != "level")
                yield Measured([(measure, {key: value}) for measure in found], mask)


def _overall(judged: JudgedRun, items: SplitItems) -> list[Measure]:
    """What is said of all items of a run."""
    kinds = set(items.table["question_type"].unique().to_pylist())
    return _measures(judged, None, kinds, classes=True) + status_measures()


def _measures(
    judged: JudgedRun, mask: Bools | None, types: set[str], *, classes: bool
) -> list[Measure]:
    """Of items whose questions are of these types; `classes` as in `clinical_measures`."""
    total, labeller = judged.total(mask), judged.of_kind.labeller
    only = types.pop() if len(types) == 1 else None
    return [
        *text_measures(judged.of_kind.signatures),
        *clinical_measures(total, labeller, only, classes=classes),
    ]


def _tests(
    every: Sequence[JudgedRun], items: SplitItems, a: JudgedRun, b: JudgedRun, primary: str
) -> list[TestedTogether]:
    """The primary metric, the rates of dangerous errors and the answered share, then all others;
    one whose signature differs is not compared."""
    overall = _overall(every[0], items)
    ours, theirs = a.of_kind.signatures, b.of_kind.signatures
    alike = [one for one in overall if ours.get(one.name) == theirs.get(one.name)]
    dangers = [one for one in alike if one.name in (_ANSWERED, *_DANGERS)]
    others = [one for one in alike if not one.name.startswith(("error_", "status_"))]
    known = [one.name for one in overall if not one.name.startswith(("error_", "status_"))]
    if primary not in (known := [*known, *_DANGERS]):
        raise ConfigError(f"--primary {primary!r}: no such metric; there are {', '.join(known)}")
    first = [one for one in others if one.name == primary]
    return [
        TestedTogether([*first, *dangers]),
        TestedTogether([one for one in others if one.name != primary], _EXPLORED),
    ]


def _about_items(items: SplitItems, judged: Sequence[JudgedRun], _: Manifest) -> dict[str, Any]:
    answered = np.unique(np.concatenate([one.items for one in judged]))
    return {
        "patients": items.many(),
        "items_scored": len(answered),
        "patients_scored": len(np.unique(items.cluster[answered])),
        "pack": judged[0].of_kind.pack.spec.id,
        "nearest_in_train": _nearest(items, answered),
    }


_NEAR = 0.9


def _nearest(items: SplitItems, answered: Ints) -> dict[str, Any]:
    """How like the unseen statements are to the nearest of train, over the items scored."""
    pairs = zip(items.column("statement_seen"), items.column("nearest_in_train"), strict=True)
    every = np.array([np.nan if seen or near is None else near for seen, near in pairs], np.float64)
    found = every[answered]
    found = found[~np.isnan(found)]
    if not len(found):
        return {}
    return {
        "items": len(found),
        "median": round(float(np.median(found)), 4),
        "near": _NEAR,
        "near_share": round(float((found >= _NEAR).mean()), 4),
    }


def _about_run(judged: Sequence[JudgedRun]) -> dict[str, Any]:
    run = judged[0].run
    assert run is not None
    return {
        "vary": "" if run.vary in ("none", "deterministic") else run.vary,
        "seed": run.configuration.get("seed"),
        "sampling": run.configuration.get("sampling"),
        "wall_seconds": run.manifest.seconds,
        "cost": run.manifest.details.get("cost"),
    }


def _about(items: SplitItems, judged: Sequence[JudgedRun], _: int) -> dict[str, Any]:
    measures = _overall(judged[0], items)
    return {
        "spreads": [entry for run in judged for entry in spreads_of(run, measures)],
        "short_references": judged[0].of_kind.short_references,
    }


def _levels(judged: Sequence[JudgedRun], _: Any) -> dict[str, str]:
    """How often each reference class was read as each class; a repeat counts as its share."""
    made = []
    for run in judged:
        cells = level_cells(run.total())
        for row, column in np.argwhere(cells > 0).tolist():
            read = CLASSES[column] if column < len(CLASSES) else "none of these"
            made.append((run.id, CLASSES[row], read, round(float(cells[row, column]), 6)))
    return {"levels.csv": csv_text(("run", "reference", "read", "answers"), made)}


def _warns_of_all(judged: Sequence[JudgedRun], manifest: Manifest, _: Any) -> Iterator[str]:
    if len({run.items.tobytes() for run in judged}) > 1:
        yield (
            "the runs answered different items: compare them by the paired tests, which keep "
            "to common items, and not by their figures"
        )
    profile = manifest.configuration.get("profile", "default")
    if profile != "default":
        yield f"the labels follow the profile {profile}; answers are always read by the default"
    built_with = manifest.identity.get("pack_fingerprint")
    if built_with is not None and built_with != judged[0].of_kind.pack.fingerprint:
        yield (
            "the pack has changed since the dataset was built: answers are read with other "
            "words than the labels were made with; build it again or give --pack-dir"
        )


MEASURES = Measures(
    primary="token_f1",
    figures=_figures,
    tests=_tests,
    wording=Wording(
        drawn="patients",
        unit="patient",
        test="sign-flip of the per-patient difference ({flips} random flips, or all)",
        clusters="patients",
        label="{metric:<20} {run:<36}",
        missing="all items are of one class, so that it is not defined",
        missing_of_none="no item that it could be of",
    ),
    tables=FigureTables(wide=True),
    lines=("level_accuracy", *_DANGERS, _ANSWERED),
    dangers=_DANGERS,
    alike=dict.fromkeys(_DANGERS, _ANSWERED),
    against=lambda items: f"{len(items):,} items of {items.many():,} patients",
    about_items=_about_items,
    about_run=_about_run,
    about=_about,
    more_tables=_levels,
    warns_of_all=_warns_of_all,
    ranked=(
        *("bleu", "rouge1", "rouge2", "rougeL", "token_f1", "meteor", "meteor_exact_stem"),
        *("level_accuracy", "level_macro_f1", "level_weighted_kappa"),
    ),
    # `unrelated_added` is right on what was asked
    corrects=Corrects(
        "level_accuracy",
        frozenset(KINDS) - {"unrelated_added"},
        frozenset({"unrelated_added"}),
        checked=("category", "level", "question_type"),
    ),
)


def spreads_of(judged: JudgedRun, measures: Sequence[Measure]) -> Iterator[dict[str, Any]]:
    """The standard deviation of each metric between repeats, each repeat judged as a whole.

    A run that answers the same each time has no spread; that is not a spread of 0. Nor has one
    that was asked once.
    """
    run, repeats = judged.run, judged.repeats
    assert run is not None and judged.totals is not None
    kind = "deterministic" if run.deterministic else "sd" if repeats > 1 else "asked once"
    varied = "nothing" if run.deterministic or repeats == 1 else run.vary
    for measure in measures:
        value = None
        if kind == "sd":
            each = measure.of(judged.totals)
            value = float(np.std(each, ddof=1)) if np.isfinite(each).all() else None
        yield {
            "run": run.id,
            "metric": measure.name,
            "kind": kind,
            "value": value,
            "varied": varied,
            "repeats": repeats,
        }
