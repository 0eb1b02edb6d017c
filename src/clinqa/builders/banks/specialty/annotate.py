"""The three annotators behind one result: votes, probabilities where there are any, and sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clinqa.builders.banks.specialty.classifier import FOLDS, Fitted, fit, folds_of, out_of_fold
from clinqa.builders.banks.specialty.expert import Expert, match
from clinqa.builders.banks.specialty.features import Features, Featuriser
from clinqa.builders.banks.specialty.multi import (
    SetReport,
    cross_report,
    divide,
    evaluate,
    frequencies,
    gold_mask,
    make,
    refuse_few_halves,
)
from clinqa.builders.banks.specialty.specialty_options import SetOptions
from clinqa.builders.banks.specialty.votes import Vote, VoteTally, tally
from clinqa.core.arrays import Bools, Floats
from clinqa.core.errors import ConfigError
from clinqa.core.stage import Progress
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankItem
from clinqa.stats.conformal import cross_sets, gold_scores, shift

__all__ = [
    "SpecialtyLabels",
    "by_classifier",
    "by_metadata",
    "by_model",
    "decisions_of",
    "metadata_vote",
]

_CALIBRATION = 0.4  # of the expert's questions: the voters that sets stand on never see them
_BATCH = 4096
ALPHAS = (0.1, 0.05)


@dataclass(slots=True)
class SpecialtyLabels:
    """What an annotator says of each question. `measured` has what is known of it out of sample:
    the decisions of each decider on the expert's questions, in the order of `expert_places`."""

    votes: list[list[Vote]]
    tallies: list[VoteTally]
    method: str
    sets: list[list[str]] | None = None  # labels of each question, the likeliest first
    decisions: dict[str, list[str | None]] = field(default_factory=dict)
    expert_places: list[int] = field(default_factory=list)
    reports: list[SetReport] = field(default_factory=list)
    how: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def metadata_vote(item: BankItem, pack: Specialties) -> Vote | None:
    """The specialty that the bank itself names: by its label, its topic, or its subject."""
    named = {one for one in map(pack.resolve, item.specialties) if one is not None}
    if len(named) == 1:
        return Vote("metadata", named.pop(), "; ".join(item.specialties))
    for text in (item.topic, item.subject):
        label = pack.of_subject(text) if text else None
        if label is not None:
            return Vote("metadata", label, text)
    return None


def by_metadata(items: Sequence[BankItem], pack: Specialties) -> SpecialtyLabels:
    """One vote where the bank names a specialty; never counted as five."""
    votes = [[vote] if (vote := metadata_vote(item, pack)) else [] for item in items]
    tallies = [VoteTally(own[0].label, 1) if own else VoteTally(None, 0) for own in votes]
    return SpecialtyLabels(votes, tallies, "metadata", how="what the bank says")


def by_classifier(
    items: Sequence[BankItem],
    expert: Expert,
    pack: Specialties,
    options: SetOptions,
    embed: Any,
    seed: int,
    progress: Progress,
) -> SpecialtyLabels:
    """Five voters trained on the expert's questions. A question among these is voted on by voters
    that have not seen it."""
    classes = expert.classes
    gold = gold_mask(expert.gold, classes)
    if options.kind == "class":
        kept = np.flatnonzero(divide(expert.groups, seed, "held out for sets", _CALIBRATION))
        groups = [expert.groups[at] for at in kept]
        refuse_few_halves(gold[kept], groups, options.alpha, seed)
    featuriser = Featuriser(pack, embed)
    learned = featuriser.learn(expert.items)
    fold_of = folds_of(expert.labels, expert.groups, FOLDS, seed)
    progress("training", 0, FOLDS + 2)
    unseen = out_of_fold(learned, expert.labels, classes, fold_of)
    progress("training", FOLDS, FOLDS + 2)
    model = fit(learned, expert.labels, classes)
    sets = _SetMaker(options, learned, expert, classes, fold_of, unseen, gold, seed)
    progress("training", FOLDS + 2, FOLDS + 2)
    own = match(items, expert)
    voters, held, top = _applied(items, own, featuriser, model, unseen, sets, progress)
    votes, tallies = [], []
    for place in range(len(items)):
        found = voters[:, place]
        best = found.argmax(axis=1)
        cast = [
            Vote(view, classes[at], f"{row[at]:.4f}")
            for view, at, row in zip(model.views, best.tolist(), found, strict=True)
        ]
        votes.append(cast)
        tallies.append(tally([vote.label for vote in cast]))
    result = SpecialtyLabels(
        votes,
        tallies,
        "classifier",
        decisions=decisions_of(unseen, classes, model.views),
        expert_places=list(range(len(expert.items))),
        how=f"out of fold, {FOLDS} folds",
        details={"voters": list(model.views), "classes": classes, "folds": FOLDS},
        warnings=_few(expert, classes),
    )
    if sets.kind != "none":
        mean = voters.mean(axis=0)
        result.sets = [
            sorted(
                (classes[at] for at in np.flatnonzero(row)),
                key=lambda name, p=probabilities: (-p[classes.index(name)], name),  # type: ignore[misc]
            )
            for row, probabilities in zip(held, mean, strict=True)
        ]
        result.reports = sets.reports
        result.details["sets"] = sets.said
        others = {item.bank for item in items} - expert.banks
        distance, more = shift(
            sets.calibration, top[[p for p in range(len(items)) if p not in own]]
        )
        if others and more:
            result.warnings.append(
                f"sets were calibrated on {', '.join(sorted(expert.banks))} and are used on "
                f"{', '.join(sorted(others))}, whose highest probabilities are distributed "
                f"otherwise (distance {distance:.2f}): the promised coverage may not hold there"
            )
    return result


class _SetMaker:
    """Voters for the sets, and the expert's questions that calibrate them."""

    def __init__(
        self,
        options: SetOptions,
        learned: Features,
        expert: Expert,
        classes: list[str],
        fold_of: Any,
        unseen: Floats,
        gold: Bools,
        seed: int,
    ) -> None:
        self.kind, self._options, self._seed = options.kind, options, seed
        self.reports: list[SetReport] = []
        self.said: dict[str, Any] = {"kind": options.kind}
        self.calibration: Floats = unseen.mean(axis=0)
        self._models: list[Fitted] = []
        if options.kind == "none":
            return
        if options.kind == "cross":
            self._cross(learned, expert, classes, fold_of, unseen, gold)
            return
        out = divide(expert.groups, seed, "held out for sets", _CALIBRATION)
        rest = np.flatnonzero(~out)
        model = fit(learned.take(rest), [expert.labels[at] for at in rest], classes)
        self._models = [model]
        kept = np.flatnonzero(out)
        self.calibration = model.probabilities(learned.take(kept)).mean(axis=0)
        self._gold = gold[kept]
        groups = [expert.groups[at] for at in kept]
        alphas = sorted({*ALPHAS, options.alpha}, reverse=True)
        if options.kind == "class":
            alphas = [options.alpha]
        self.reports = evaluate(self.calibration, self._gold, groups, options, alphas, seed)
        self.said |= {"trained_on": len(rest), "calibrated_on": len(kept)}

    def _cross(
        self,
        learned: Features,
        expert: Expert,
        classes: list[str],
        fold_of: Any,
        unseen: Floats,
        gold: Bools,
    ) -> None:
        mean = unseen.mean(axis=0)
        self._scores = []
        for fold in range(int(fold_of.max()) + 1):
            rest, out = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            labels = [expert.labels[at] for at in rest]
            self._models.append(fit(learned.take(rest), labels, classes))
            self._scores.append(gold_scores(mean[out], gold[out], self._options.cover))
        self.said["guarantee"] = f"at least {1 - 2 * self._options.alpha:.2f}, about"
        self._measure_cross(learned, expert, classes, fold_of, gold)

    def _measure_cross(
        self,
        learned: Features,
        expert: Expert,
        classes: list[str],
        fold_of: Any,
        gold: Bools,
    ) -> None:
        """The same again without a fifth of the questions, on which its coverage is measured."""
        out = divide(expert.groups, self._seed, "held out for sets", 0.2)
        kept = learned.take(np.flatnonzero(out))
        probabilities, scores = [], []
        for fold in range(int(fold_of.max()) + 1):
            rest = np.flatnonzero(~out & (fold_of != fold))
            own = np.flatnonzero(~out & (fold_of == fold))
            model = fit(learned.take(rest), [expert.labels[at] for at in rest], classes)
            seen = model.probabilities(learned.take(own)).mean(axis=0)
            scores.append(gold_scores(seen, gold[own], self._options.cover))
            probabilities.append(model.probabilities(kept).mean(axis=0))
        self.reports = [
            cross_report(probabilities, scores, gold[out], self._options, alpha)
            for alpha in sorted({*ALPHAS, self._options.alpha}, reverse=True)
        ]

    def held(self, features: Features) -> tuple[Bools, Floats]:
        """The sets of these questions, and the probabilities they stand on."""
        found = [model.probabilities(features).mean(axis=0) for model in self._models]
        if self.kind == "cross":
            return cross_sets(found, self._scores, self._options.alpha), np.mean(found, axis=0)
        held, limit = make(found[0], self.calibration, self._gold, self._options, self._seed)
        self.said |= {
            "k": limit.k,
            "n": limit.n,
            "threshold": None if limit.full else limit.value,
            "full_set": limit.full,
        }
        return held, found[0]


def _applied(
    items: Sequence[BankItem],
    own: dict[int, int],
    featuriser: Featuriser,
    model: Fitted,
    unseen: Floats,
    sets: _SetMaker,
    progress: Progress,
) -> tuple[Floats, Bools, Floats]:
    """Probabilities of each voter, the sets, and what these stand on, a batch at a time."""
    voters = np.zeros((len(model.views), len(items), len(model.classes)))
    held = np.zeros((len(items), len(model.classes)), dtype=bool)
    base = np.zeros((len(items), len(model.classes)))
    for start in range(0, len(items), _BATCH):
        part = slice(start, min(start + _BATCH, len(items)))
        features = featuriser.features(items[part])
        voters[:, part] = model.probabilities(features)
        if sets.kind != "none":
            held[part], base[part] = sets.held(features)
        progress("voting", part.stop, len(items))
    for place, at in own.items():
        voters[:, place] = unseen[:, at]
    return voters, held, base


def decisions_of(
    unseen: Floats, classes: Sequence[str], views: Sequence[str]
) -> dict[str, list[str | None]]:
    """What each voter, each quorum and the sum of probabilities decides."""
    best = unseen.argmax(axis=2)
    found: dict[str, list[str | None]] = {
        view: [classes[at] for at in row.tolist()] for view, row in zip(views, best, strict=True)
    }
    return (
        found
        | _together(
            [[classes[at] for at in column.tolist()] for column in best.T],
        )
        | {"sum of probabilities": [classes[at] for at in unseen.mean(axis=0).argmax(axis=1)]}
    )


def _together(votes: Sequence[Sequence[str | None]]) -> dict[str, list[str | None]]:
    tallies = [tally(own) for own in votes]
    return {
        name: [one.decided(quorum) for one in tallies]
        for quorum, name in ((3, "3+ votes"), (4, "4+ votes"), (5, "5 votes"))
    }


def _few(expert: Expert, classes: Sequence[str]) -> list[str]:
    few = [name for name in classes if expert.labels.count(name) < FOLDS]
    if not few:
        return []
    return [f"fewer than {FOLDS} labelled questions of {', '.join(few)}: hardly learned"]


def by_model(
    items: Sequence[BankItem],
    expert: Expert | None,
    asked: Callable[[Sequence[BankItem]], tuple[list[list[Vote]], dict[str, Any]]],
    options: SetOptions,
    seed: int,
) -> SpecialtyLabels:
    """Five prompts of a model. Sets stand on shares of votes and need an expert's labels."""
    votes, took = asked(items)
    labels = [[vote.label for vote in own] for own in votes]
    own = match(items, expert) if expert else {}
    places = sorted(own)
    result = SpecialtyLabels(
        votes,
        [tally(voted) for voted in labels],
        "llm",
        expert_places=[own[place] for place in places],
        details=took,
    )
    if expert is None or not own:
        if options.kind != "none":
            result.warnings.append(
                "no expert's label on any of these questions, so no sets could be calibrated"
            )
        return result
    result.how = "on the questions the expert labelled"
    for voter in range(len(votes[0])):
        result.decisions[votes[0][voter].voter] = [votes[at][voter].label for at in places]
    result.decisions |= _together([labels[at] for at in places])
    if options.kind == "cross":
        raise ConfigError("--sets cross goes with --annotator classifier: votes have no folds")
    if options.kind != "none":
        _add_sets(result, labels, expert, own, options, seed)
    return result


def _add_sets(
    result: SpecialtyLabels,
    labels: Sequence[Sequence[str | None]],
    expert: Expert,
    own: Mapping[int, int],
    options: SetOptions,
    seed: int,
) -> None:
    """Sets of labels by the shares of votes, calibrated on the questions the expert labelled;
    `own` gives the expert's place of a question's."""
    places = sorted(own)
    voted = {label for row in labels for label in row if label}
    classes = sorted(voted.union(*(expert.gold[at] for at in own.values())))
    shares = frequencies(labels, classes)
    gold = gold_mask([expert.gold[own[at]] for at in places], classes)
    groups = [expert.groups[own[at]] for at in places]
    alphas = [options.alpha] if options.kind == "class" else sorted({*ALPHAS, options.alpha})[::-1]
    result.reports = evaluate(shares[places], gold, groups, options, alphas, seed)
    held, limit = make(shares, shares[places], gold, options, seed)
    result.sets = [
        sorted(
            (classes[at] for at in np.flatnonzero(row)),
            key=lambda name, p=share: (-p[classes.index(name)], name),  # type: ignore[misc]
        )
        for row, share in zip(held, shares, strict=True)
    ]
    result.details["sets"] = {"kind": options.kind, "k": limit.k, "n": limit.n}
    if not options.randomised:
        result.warnings.append(
            "sets stand on shares of five votes, which have six values: ties make them larger than "
            "the promise needs (--randomised breaks them)"
        )
