"""Ensembles: votes of sets that were named beforehand, and the search for one on validation.

A set found by a search has seen the items it was found on. So a search is allowed on validation
only, and its winner is reported on test with the number of sets it was the best of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.outfolder import MANIFEST
from clinqa.scoring.binary.judged import NOT_ASKED, Judged, common_repeats, counts_of, how_of
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.inputs import Run
from clinqa.stats.ensembles import majority, search

__all__ = [
    "Named",
    "check_search",
    "found_elsewhere",
    "key_of",
    "named",
    "read_meta",
    "searched",
    "vote",
]

_MOST_SETS = 5_000_000
TIES = "more than half of the members must say it; a tie is no answer"


@dataclass(frozen=True, slots=True)
class Named:
    """An ensemble before it votes. `searched` is how many sets it was the best of, if it was."""

    name: str
    members: tuple[str, ...]
    searched: int = 0


def key_of(run: Run) -> str:
    """What a run is known by on any dataset: model, shots, adapters, and how it was asked."""
    adapters = ",".join(map(str, run.configuration.get("adapters") or ()))
    return f"{run.model}|{run.shots}|{adapters}|{how_of(run)}"


def named(told: Sequence[str], runs: Sequence[Run]) -> list[Named]:
    """What `--ensemble NAME=RUN,RUN,RUN` means; a run by its folder's name."""
    by_name = {one.name: one.id for one in runs} | {one.id: one.id for one in runs}
    made: list[Named] = []
    for text in told:
        name, equals, rest = text.partition("=")
        wanted = [one.strip() for one in rest.split(",") if one.strip()]
        if name.strip() in by_name:
            raise ConfigError(f"--ensemble {name.strip()}: a run has this name; give another")
        if not equals or not name.strip() or len(wanted) < 2:
            raise ConfigError(f"--ensemble {text!r}: give NAME=RUN,RUN and so on, two runs or more")
        unknown = [one for one in wanted if one not in by_name]
        if unknown:
            raise ConfigError(
                f"--ensemble {name}: no run {', '.join(unknown)}; scored are "
                f"{', '.join(one.name for one in runs)}"
            )
        members = tuple(by_name[one] for one in wanted)
        if len(set(members)) < len(members):
            raise ConfigError(f"--ensemble {name}: names a run twice")
        made.append(Named(name.strip(), members))
    if len({one.name for one in made}) < len(made):
        raise ConfigError("--ensemble: two ensembles have one name")
    return made


def vote(ensemble: Named, judged: Sequence[Judged], statements: Statements) -> Judged:
    """The ensemble as a run of its own, over the statements that all its members were asked; of
    members that were asked several times, a vote in each repeat."""
    by_id = {one.id: one for one in judged}
    members = [by_id[one] for one in ensemble.members]
    repeats = common_repeats(members)
    asked = np.logical_and.reduce([one.asked for one in members])
    said = [one.said(repeats) for one in members]
    answers = np.stack([majority(np.stack(votes)) for votes in zip(*said, strict=True)])
    answers[:, ~asked] = NOT_ASKED
    statuses = np.select([~asked, answers >= 0], ["", "answered"], "ambiguous")
    rows = np.mean(
        [
            counts_of(codes, own, statements)
            for codes, own in zip(answers, statuses.tolist(), strict=True)
        ],
        axis=0,
    )
    return Judged(
        id=f"ensemble:{ensemble.name}",
        name=ensemble.name,
        model=f"ensemble:{ensemble.name}",
        shots=0,
        how=f"majority of {len(members)}; {TIES}",
        answers=answers,
        rows=rows,
        statuses={name: int((statuses == name).sum()) for name in ("answered", "ambiguous")},
        members=ensemble.members,
    )


def check_search(size: int, runs: int, split: str) -> None:
    """ConfigError unless so many of these runs may be searched on this split."""
    if split != "validation":
        raise ConfigError(
            f"--search {size}: an ensemble is searched for on the validation split alone (these "
            f"runs are of {split}); report the winner on test with --ensemble-from"
        )
    if not 2 <= size <= runs:
        raise ConfigError(f"--search {size}: between 2 and the {runs} runs that are scored")
    if comb(runs, size) > _MOST_SETS:
        raise ConfigError(
            f"--search {size}: {comb(runs, size):,} sets of {runs} runs; at most {_MOST_SETS:,} "
            "are searched"
        )


def searched(
    size: int, judged: Sequence[Judged], statements: Statements, split: str
) -> dict[str, Any]:
    """The best set of `size` runs on validation, with the number of sets there were."""
    common = np.logical_and.reduce([one.asked for one in judged])
    if not common.any():
        raise ConfigError("--search: there is no statement that all runs were asked")
    # of runs that were asked several times every repeat counts, as if it were a statement more
    repeats = common_repeats(judged)
    gold = np.tile(statements.gold[common], repeats)
    right = np.stack([one.said(repeats)[:, common].ravel() == gold for one in judged])
    found = search(right, gold, size)
    best = found.best()
    members = [judged[at] for at in found.members[best].tolist()]
    return {
        "size": size,
        "searched": len(found),
        "split": split,
        "items": int(common.sum()),
        "accuracy": float(found.accuracy[best]),
        "median_accuracy": float(np.median(found.accuracy)),
        "winner": [one.id for one in members],
        "winner_keys": [key_of(one.run) for one in members if one.run is not None],
        "ties": TIES,
    }


def found_elsewhere(folder: Path, runs: Sequence[Run]) -> Named:
    """The winner of a search in a SCORES folder of the validation split, among these runs."""
    meta = read_meta(folder, "--ensemble-from")
    found = (meta.get("panel") or {}).get("search")
    if not isinstance(found, dict):
        raise ConfigError(f"--ensemble-from {folder}: nothing was searched there (--search N)")
    by_key: dict[str, list[str]] = {}
    for one in runs:
        by_key.setdefault(key_of(one), []).append(one.id)
    members = []
    for key in found["winner_keys"]:
        own = by_key.get(str(key), [])
        if len(own) != 1:
            raise ConfigError(
                f"--ensemble-from {folder}: the winner holds {key}, of which "
                f"{len(own)} runs are scored here; one is needed"
            )
        members += own
    return Named(f"searched-{found['size']}", tuple(members), int(found["searched"]))


def read_meta(folder: Path, option: str) -> Mapping[str, Any]:
    """The `meta` of a complete SCORES folder of statements."""
    if not (folder / MANIFEST).is_file():
        raise ConfigError(f"{option} {folder}: no complete folder of clinqa score")
    try:
        meta = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["meta"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{option} {folder}: its scores.json cannot be read") from error
    if not isinstance(meta, dict) or meta.get("kind") != "true_false":
        raise ConfigError(f"{option} {folder}: not scores of true_false items")
    return meta
