"""Runs whose answers are codes, side by side: who was asked what, and said what in which repeat.

Ensembles: votes of sets that were named beforehand, and the search for one on validation.

A set found by a search has seen the items it was found on. So a search is allowed on validation
only, and its winner is reported on test with the number of sets it was the best of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, lcm
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Floats, Places
from clinqa.core.errors import ConfigError
from clinqa.core.finished import Finished
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.codes import NOT_ASKED, AnswerCodes, Codes
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.scoring.inputs import SCORES_FILE
from clinqa.stats.agreement import majority, search
from clinqa.stats.design import Design

__all__ = [
    "Coded",
    "Named",
    "about_vote",
    "asked_by_all",
    "check_search",
    "common_repeats",
    "declared",
    "key_of",
    "read_meta",
    "said_in",
    "searched",
    "vote",
]

_MOST_REPEATS = 60


@dataclass(frozen=True, slots=True)
class Coded:
    """Runs of one kind with codes, and the votes that some of them cast.

    `metric` is the primary metric of the kind, whatever the tests are declared on.
    """

    kind: str
    metric: str
    codes: Codes
    items: SplitItems
    judged: Sequence[JudgedRun]
    votes: Sequence[JudgedRun]
    design: Design

    def right(self, judged: Sequence[JudgedRun], rows: Places) -> Floats:
        """By run and each of these items the share of its repeats in which it was judged right."""
        gold = self.codes.reference(self.items)[rows]
        said = [codes_by(one)[:, rows] for one in judged]
        return np.stack(
            [(one == gold).sum(axis=0) / (one != NOT_ASKED).sum(axis=0) for one in said]
        )


def key_of(run: FinishedRun, codes: Codes) -> str:
    """What a run is known by on any dataset (`JudgedRun.key`), before it is judged."""
    return f"{run.model}|{run.shots}|{','.join(map(str, run.adapters))}|{codes.how(run)}"


def codes_by(judged: JudgedRun) -> AnswerCodes:
    """Its codes, by repeat and item of the split."""
    assert judged.codes is not None
    return judged.codes


def asked_by_all(judged: Sequence[JudgedRun]) -> Bools:
    """Which items all of them were asked."""
    asked = [(codes_by(one) != NOT_ASKED).any(axis=0) for one in judged]
    return np.asarray(np.logical_and.reduce(asked))


def common_repeats(judged: Sequence[JudgedRun]) -> int:
    """In how many repeats each of them has given each of its answers equally often; of odd
    numbers together, as many as the most patient was asked."""
    times = [one.repeats for one in judged]
    together = lcm(*times)
    return together if together <= _MOST_REPEATS else max(times)


def said_in(judged: JudgedRun, repeats: int) -> AnswerCodes:
    """Its answers in so many repeats, its own in turn; where it was not asked an item in one of
    them, what it said when it was first asked."""
    own = codes_by(judged)
    first = own[(own != NOT_ASKED).argmax(axis=0), np.arange(own.shape[1])]
    whole = np.where(own == NOT_ASKED, first, own)
    return whole[np.arange(repeats) % len(own)]


_MOST_SETS = 5_000_000
TIES = "more than half of the members must say it; a tie is no answer"


@dataclass(frozen=True, slots=True)
class Named:
    """An ensemble before it votes. `searched` is how many sets it was the best of, if it was."""

    name: str
    members: tuple[str, ...]
    searched: int = 0


def named(told: Sequence[str], runs: Sequence[FinishedRun]) -> list[Named]:
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


def declared(
    told: Sequence[str],
    elsewhere: Finished | None,
    runs: Sequence[FinishedRun],
    kind: str,
    codes: Codes,
) -> list[Named]:
    """The ensembles that are named beforehand, or were found elsewhere."""
    made = named(told, runs)
    if elsewhere is not None:
        made.append(found_elsewhere(elsewhere, runs, kind, codes))
    return made


def about_vote(one: JudgedRun) -> dict[str, Any]:
    """A vote among the runs of meta."""
    return {
        "run": one.id,
        "name": one.name,
        "key": "",
        "model": one.model,
        "shots": 0,
        "how": one.how,
        "members": list(one.members),
        "group": "ensemble",
        "items": len(one.items),
        "statuses": {name: n for name, n in one.statuses.items() if n},
    }


def vote(
    ensemble: Named, runs: Mapping[str, JudgedRun], items: SplitItems, codes: Codes
) -> JudgedRun:
    """The ensemble as a run of its own, over the items that all its members were asked; of
    members that were asked several times, a vote in each repeat."""
    members = [runs[one] for one in ensemble.members]
    repeats = common_repeats(members)
    said = [said_in(one, repeats) for one in members]
    answers = np.stack([majority(np.stack(votes)) for votes in zip(*said, strict=True)])
    answers[:, ~asked_by_all(members)] = NOT_ASKED
    statuses = np.select([answers == NOT_ASKED, answers >= 0], ["", "answered"], "ambiguous")
    return codes.judged(
        answers,
        statuses,
        items,
        id=f"ensemble:{ensemble.name}",
        name=ensemble.name,
        how=f"majority of {len(members)}; {TIES}",
        members=ensemble.members,
    )


def check_search(size: int | None, runs: int, split: str) -> None:
    """ConfigError unless so many of these runs (None: no search) may be searched on this split."""
    if size is None:
        return
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


def searched(size: int, coded: Coded, split: str) -> dict[str, Any]:
    """The best set of `size` runs on validation, with the number of sets there were."""
    judged = coded.judged
    common = asked_by_all(judged)
    if not common.any():
        raise ConfigError(f"--search: there is no {coded.codes.noun} that all runs were asked")
    # of runs that were asked several times every repeat counts, as if it were an item more
    repeats = common_repeats(judged)
    gold = np.tile(coded.codes.reference(coded.items)[common], repeats)
    right = np.stack([said_in(one, repeats)[:, common].ravel() == gold for one in judged])
    found = search(right, gold > 0, size)
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
        "winner_keys": [one.key for one in members],
        "ties": TIES,
    }


def found_elsewhere(
    scores: Finished, runs: Sequence[FinishedRun], kind: str, codes: Codes
) -> Named:
    """The winner of a search in a SCORES folder of the validation split, among these runs."""
    folder, meta = scores.folder, read_meta(scores, "--ensemble-from", kind)
    found = (meta.get("panel") or {}).get("search")
    if not isinstance(found, dict):
        raise ConfigError(f"--ensemble-from {folder}: nothing was searched there (--search N)")
    by_key: dict[str, list[str]] = {}
    for one in runs:
        by_key.setdefault(key_of(one, codes), []).append(one.id)
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


def read_meta(scores: Finished, option: str, kind: str) -> Mapping[str, Any]:
    """The `meta` of a complete SCORES folder of this kind of items."""
    body = scores.json(SCORES_FILE)
    meta = body.get("meta") if isinstance(body, dict) else None
    if not isinstance(meta, dict) or meta.get("kind") != kind:
        raise ConfigError(f"{option} {scores.folder}: not scores of {kind} items")
    return meta
