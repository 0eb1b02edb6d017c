"""The same models on other sets: is the ranking kept, and does fine-tuning help there too?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from clinqa.core.arrays import Floats
from clinqa.core.errors import ConfigError
from clinqa.core.figures import PairedTest, known
from clinqa.core.finished import Finished
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.codes import Codes
from clinqa.scoring.coded import Coded, asked_by_all, key_of, read_meta
from clinqa.scoring.inputs import ITEMS_FILE, SCORES_FILE
from clinqa.stats.design import Design
from clinqa.stats.rank import means_drawn, ranking_kept

__all__ = ["Other", "open_others", "transfer_of"]


def open_others(
    scores: Sequence[Finished], runs: Sequence[FinishedRun], kind: str, metric: str, codes: Codes
) -> list[Other]:
    """Other sets, each scored with two of these models or more; no set twice, and not this one."""
    others: list[Other] = []
    own = (str(runs[0].configuration.get("dataset")), runs[0].split)
    seen: dict[tuple[str, str], str] = {own: "what is scored here"}
    for one in scores:
        folder, other = one.folder, Other(one, kind, metric, codes)
        told = (other.fingerprint, other.split)
        if told in seen:
            raise ConfigError(
                f"--against {folder}: the same {codes.noun}s as {seen[told]}; a ranking is kept on "
                "another set or another split"
            )
        seen[told] = str(folder)
        shared = sum(key_of(run, codes) in other.runs for run in runs)
        if shared < 2:
            raise ConfigError(
                f"--against {folder}: shares {shared} of these runs' models; rankings need two"
            )
        others.append(other)
    return others


def transfer_of(
    others: Sequence[Other],
    coded: Coded,
    tests: Sequence[PairedTest],
    bases: Mapping[str, str],
) -> dict[str, Any]:
    """`transfer`: by other set the models found on both, tau of their primary metric, gains of
    fine-tuning; `rankings`: the same models on every set."""
    seed, draws = coded.design.seed, coded.design.draws
    here = Here(coded)
    transfer = []
    for number, other in enumerate(others, start=1):
        shared = [key for key in here.runs if key in other.runs]
        kept, ours, theirs = _kept(here, other, shared, (seed, seed + number), draws)
        transfer.append(
            {
                "set": other.name,
                "split": other.split,
                "fingerprint": other.fingerprint,
                "models": len(shared),
                **kept,
                "runs": [
                    {"run": here.runs[key], "here": float(a), "there": float(b)}
                    for key, a, b in zip(shared, ours, theirs, strict=True)
                ],
                "gains": [
                    {"base": base, "tuned": tuned, **gain}
                    for tuned, base in bases.items()
                    for gain in _gains(tuned, base, coded, tests, other)
                ],
            }
        )
    return {"transfer": transfer, "rankings": _rankings(here, others, seed, draws)}


def _rankings(here: Here, others: Sequence[Other], seed: int, draws: int) -> dict[str, Any]:
    """The models that every set has, with their accuracy and rank on each; tau of every two sets,
    over the models that those two share."""
    sets: list[Here | Other] = [here, *others]
    keys = list(here.runs)
    everywhere = [key for key in keys if all(key in one.runs for one in sets)]
    columns = [one.accuracies(everywhere, seed, draws)[0] for one in sets] if everywhere else []
    taus = []
    for a, b in combinations(range(len(sets)), 2):
        shared = [key for key in keys if key in sets[a].runs and key in sets[b].runs]
        if len(shared) < 2:
            continue
        kept, _, _ = _kept(sets[a], sets[b], shared, (seed + a, seed + b), draws)
        taus.append({"a": a, "b": b, "models": len(shared), **kept})
    return {
        "sets": [{"set": one.name, "split": one.split} for one in sets],
        "runs": [
            {
                "run": here.runs[key],
                "accuracy": [float(column[at]) for column in columns],
                # equal ones share the middle of their places
                "rank": [float(rankdata(-column)[at]) for column in columns],
            }
            for at, key in enumerate(everywhere)
        ],
        "tau": taus,
    }


def _kept(
    a: Here | Other, b: Here | Other, keys: Sequence[str], seeds: tuple[int, int], draws: int
) -> tuple[dict[str, Any], Floats, Floats]:
    """Tau with its interval, and the accuracies on both sets."""
    ours, our_samples = a.accuracies(keys, seeds[0], draws)
    theirs, their_samples = b.accuracies(keys, seeds[1], draws)
    kept = ranking_kept(ours, theirs, our_samples, their_samples)
    told = {
        "tau": known(kept.value),
        "low": known(kept.low),
        "high": known(kept.high),
        "signature": kept.signature,
    }
    return told, ours, theirs


class Here:
    """The set that is scored."""

    name, split = "this set", ""

    def __init__(self, coded: Coded) -> None:
        self._coded = coded
        self._judged = {one.key: one for one in coded.judged}
        self.runs = {key: one.id for key, one in self._judged.items()}

    def accuracies(self, keys: Sequence[str], seed: int, draws: int) -> tuple[Floats, Floats]:
        """Of these runs, over the items that all of them were asked."""
        ours = [self._judged[key] for key in keys]
        rows = np.flatnonzero(asked_by_all(ours))
        if not len(rows):
            noun = self._coded.codes.noun
            raise ConfigError(f"--against: there is no {noun} that all these runs were asked")
        right = self._coded.right(ours, rows)
        clusters = self._coded.items.cluster[rows]
        return means_drawn(right, Design(clusters, seed=seed, draws=draws))


class Other:
    """A SCORES folder of another set, or of another split."""

    def __init__(self, scores: Finished, kind: str, metric: str, codes: Codes) -> None:
        self._scores, self._cluster = scores, codes.cluster
        meta = read_meta(scores, "--against", kind)
        scores.checked(ITEMS_FILE)  # it is read only when all else is done
        dataset = meta["dataset"]
        self.name, self.split = str(dataset["name"]), str(dataset["split"])
        self.fingerprint = str(dataset["fingerprint"])
        self.runs = {str(run["key"]): str(run["run"]) for run in meta["runs"] if run.get("key")}
        tests = scores.json(SCORES_FILE)["tests"]
        self.tests = [test for test in tests if test["metric"] == metric]

    def accuracies(self, keys: Sequence[str], seed: int, draws: int) -> tuple[Floats, Floats]:
        """Of these runs, over the items that all of them were asked."""
        columns = ["run", "item_id", self._cluster, "right"]
        rows = self._scores.parquet(ITEMS_FILE, columns).to_pydict()
        found: dict[str, dict[str, list[bool]]] = {}
        pairs: dict[str, str] = {}
        for run, item, pair, right in zip(*(rows[name] for name in columns), strict=True):
            found.setdefault(run, {}).setdefault(item, []).append(right)
            pairs[item] = pair
        own = [found[self.runs[key]] for key in keys]
        items = sorted(set.intersection(*(set(one) for one in own)))
        if not items:
            raise ConfigError(f"--against {self._scores.folder}: its runs share no item")
        share = np.array([[np.mean(one[item]) for item in items] for one in own])
        clusters = [pairs[item] for item in items]
        return means_drawn(share, Design(clusters, seed=seed, draws=draws))


def _gains(
    tuned: str, base: str, coded: Coded, tests: Sequence[PairedTest], other: Other
) -> Iterator[dict[str, Any]]:
    """What fine-tuning gained here and there, where both sets tested it."""
    keys = {one.id: one.key for one in coded.judged}
    if {keys[tuned], keys[base]} <= set(other.runs):
        ours = [test.as_json() for test in tests if test.metric == coded.metric]
        there = _gain(other.tests, other.runs[keys[tuned]], other.runs[keys[base]])
        yield {"here": _gain(ours, tuned, base), "there": there}


def _gain(tests: Sequence[Mapping[str, Any]], tuned: str, base: str) -> list[float] | None:
    for test in tests:
        if (test["a"], test["b"]) == (tuned, base):
            return [test["difference"], test["low"], test["high"], test["p"]]
        if (test["a"], test["b"]) == (base, tuned):
            return [-test["difference"], -test["high"], -test["low"], test["p"]]
    return None
