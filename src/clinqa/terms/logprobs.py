"""`clinqa terms logprobs`: what a model gives clinical terms in the gold text, base and tuned.

Only terms that belong to one specialty count, every occurrence of them. Base and adapters read the
same texts, so each occurrence is its own control; questions (by group) are what is drawn again.

scores.parquet    each occurrence under each model: log-probability, number of tokens
rejects.parquet   occurrences without a score, with the reason
logprobs.json     means, paired differences with intervals and tests, what they stand on
tables/*.csv      the same for a spreadsheet
logprobs*.svg     the picture of S-MedQA's Figure 2
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.finished import Finished, FolderKind, change_warnings, open_finished
from clinqa.core.ids import stable_hash
from clinqa.core.journal import Journal, read_journal
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.origin import origin_of
from clinqa.core.records import DataClass, Reason, strictest
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.models.protocol import ModelOptions
from clinqa.models.registry import weights_sha256
from clinqa.models.trained import trained_behind
from clinqa.models.weights import folder_sha256
from clinqa.terms.compared import ModelTerm, compared
from clinqa.terms.find import VERB as FIND
from clinqa.terms.find import counts_of
from clinqa.terms.item_texts import TermItem, read_items
from clinqa.terms.scoring import ScoredPlace, TermPlace, open_scorer, score_items
from clinqa.terms.term_options import BASE, LogprobOptions
from clinqa.terms.write import CONCEPTS_FILE, OCCURRENCES_FILE, write_logprobs

__all__ = ["VERB", "term_logprobs"]

VERB = "terms logprobs"
_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class _Work:
    """The items to be scored, with the places of their terms, and whose terms these are."""

    items: Sequence[tuple[TermItem, Sequence[TermPlace]]]
    owner: Mapping[str, str]
    asked: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def term_logprobs(
    dataset: Path, out: Path, options: LogprobOptions, progress: Progress = silent
) -> StageResult:
    """Score the terms of a split under a model and its adapters, or say that it is done."""
    options.check()
    opened = open_dataset(dataset, accept=options.accept_changed)
    found = _open_terms(options.terms, opened)
    terms, work = found.manifest, _work(opened, found, options)
    if not work.items:
        raise ConfigError(
            f"{options.terms}: no term of a single specialty in split {options.split}; name "
            "another with --split"
        )
    trained = trained_behind(options.model, options.adapters, accept=options.accept_changed)
    reads = [opened.finished, found, *(one.finished for one in trained)]
    classes = [one.data_class for one in reads]
    return run_stage(
        Stage(
            verb=VERB,
            holds="these log-probabilities",
            out=out,
            options=options,
            data_class=strictest(classes, options.data_class),
            origin=origin_of([opened.manifest, terms]),
            reads=reads,
            plan=partial(_plan, work, options, out),
            known=lambda: Known(_configuration(opened, terms, options)),
            work=partial(_compared, opened, terms, work, options, progress),
            told=counts_of,
            seeds={"seed": options.seed},
            libraries=("numpy", "scipy", "torch", "transformers", "peft"),
            resume=True,
        )
    )


def _compared(
    dataset: Dataset,
    terms: Manifest,
    work: _Work,
    options: LogprobOptions,
    progress: Progress,
    place: Workplace,
) -> Made:
    rows, facts = _score_all(place, work, options, progress)
    made = compared(
        rows, [BASE, *options.names()], model=options.model,
        signature=_signature(options) + place.mark, seed=options.seed, draws=options.draws,
    )  # fmt: skip
    meta = {
        "dataset": dataset.manifest.fingerprint,
        "terms": terms.fingerprint,
        "vocabulary": terms.configuration.get("vocabulary"),
        "settings": _configuration(dataset, terms, options),
        "models": facts,
        "warnings": [*change_warnings(place.accepted), *made.warnings],
    }
    drawn = write_logprobs(place, rows, made, meta)
    stages = _stages(work, rows)
    return Made(
        counts=stages,
        warnings=[*made.warnings, *drawn],
        details={
            "items": len(work.items),
            "occurrences": work.asked,
            "scored": stages["occurrences"].kept,
            "lost": stages["occurrences"].rejected,
            "models": 1 + len(options.adapters),
        },
        lines=made.lines(),
    )


_TERMS = FolderKind("folder of terms", f"clinqa {FIND}", f"run clinqa {FIND} again", (FIND,))


def _open_terms(folder: Path, dataset: Dataset) -> Finished:
    found = open_finished(folder, _TERMS, accept=dataset.finished.accept)
    if found.manifest.configuration.get("dataset") != dataset.manifest.fingerprint:
        raise ConfigError(f"{folder}: the terms of another dataset than {dataset.folder}")
    return found


def _work(dataset: Dataset, terms: Finished, options: LogprobOptions) -> _Work:
    concepts = terms.parquet(CONCEPTS_FILE).to_pylist()
    owner = {
        one["concept"]: one["specialties"][0] for one in concepts if len(one["specialties"]) == 1
    }
    places: defaultdict[str, list[TermPlace]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    for row in terms.parquet(OCCURRENCES_FILE).to_pylist():
        if row["split"] != options.split:
            continue
        if row["part"] not in options.parts:
            left_out["in_another_part"] += 1
        elif row["concept"] not in owner:
            left_out["not_of_one_specialty"] += 1
        else:
            places[row["item_id"]].append(
                TermPlace(row["part"], row["start"], row["end"], row["concept"])
            )
    items = [
        (item, sorted(places[item.id], key=lambda p: (p.part, p.start)))
        for item in read_items(dataset, options.split)
        if item.id in places
    ]
    if options.limit is not None and options.limit < len(items):
        # by chance, the same for every model, and N is part of any larger N
        items.sort(key=lambda one: stable_hash("terms", one[0].id))
        left_out["beyond_limit"] += sum(len(found) for _, found in items[options.limit :])
        items = items[: options.limit]
    items.sort(key=lambda one: one[0].id)
    asked = sum(len(found) for _, found in items)
    return _Work(items, owner, asked, dict(left_out))


def _score_all(
    place: Workplace,
    work: _Work,
    options: LogprobOptions,
    progress: Progress,
) -> tuple[list[ModelTerm], dict[str, dict[str, str]]]:
    """Every occurrence under every model; what an earlier run scored is taken over."""
    kept: dict[str, list[Any]] = {}
    facts: dict[str, dict[str, str]] = {}
    for record in read_journal(place.journal):
        if isinstance(record.get("scores"), list):
            kept[str(record["key"])] = record["scores"]
        elif isinstance(record.get("facts"), dict):
            facts[str(record["key"])] = record["facts"]
    rows: list[ModelTerm] = []
    names = [(BASE, None), *zip(options.names(), options.adapters, strict=True)]
    done = 0
    with Journal(place.journal, private=place.private) as journal:
        for name, adapter in names:
            missing = [one for one in work.items if f"{name}/{one[0].id}" not in kept]
            if missing:
                facts[name] = _score_model(
                    name, adapter, missing, options, place.data_class, journal, kept,
                    partial(_tell, progress, name, done, len(names) * len(work.items)),
                )  # fmt: skip
            done += len(work.items)
            for item, places in work.items:
                for spot, told in zip(places, kept[f"{name}/{item.id}"], strict=True):
                    logprob, tokens, reaches, lost = told
                    scored = ScoredPlace(
                        spot, logprob, tokens, reaches, Reason(lost) if lost else None
                    )
                    rows.append(
                        ModelTerm(name, item.id, item.group, work.owner[spot.concept], scored)
                    )
    return rows, facts


def _score_model(
    name: str,
    adapter: Path | None,
    items: Sequence[tuple[TermItem, Sequence[TermPlace]]],
    options: LogprobOptions,
    data_class: DataClass,
    journal: Journal,
    kept: dict[str, list[Any]],
    tell: Callable[[int], None],
) -> dict[str, str]:
    """Score these items under one model and write each down as it is done."""
    extra = {"threads": str(options.threads)} if options.threads else {}
    model = open_scorer(
        options.model,
        ModelOptions(
            data_class=data_class,
            adapter=adapter,
            dtype=options.dtype,
            device=options.device,
            batch_size=options.batch_size,
            extra=extra,
        ),
    )
    try:
        journal.append({"key": name, "facts": dict(model.describe())})
        for start in range(0, len(items), _AT_ONCE):
            tell(start)
            asked = [
                (item.id, dict(item.parts), places)
                for item, places in items[start : start + _AT_ONCE]
            ]
            for item_id, scored in score_items(model, asked, options.form):
                told = [
                    [one.logprob, one.tokens, one.reaches, one.lost.value if one.lost else ""]
                    for one in scored
                ]
                kept[f"{name}/{item_id}"] = told
                journal.append({"key": f"{name}/{item_id}", "scores": told})
        tell(len(items))
        return dict(model.describe())
    finally:
        model.close()


def _tell(progress: Progress, name: str, before: int, total: int, done: int) -> None:
    progress(f"scoring under {name}", before + done, total)


def _signature(options: LogprobOptions) -> str:
    where = " and ".join(options.parts)
    return (
        "log-probability of a term's tokens together, nats|every occurrence of terms of one "
        f"specialty in the {where}|{options.form} text|mean over occurrences"
    )


def _stages(work: _Work, rows: Sequence[ModelTerm]) -> dict[str, StageCounts]:
    """An occurrence is kept if every model scored it."""
    lost: dict[tuple[str, str, int], str] = {}
    for row in rows:
        if row.scored.lost is not None:
            place = row.scored.place
            lost.setdefault((row.item, place.part, place.start), row.scored.lost.value)
    outside = sum(work.left_out.values())
    counts = StageCounts(
        read=work.asked + outside,
        kept=work.asked - len(lost),
        rejected=len(lost),
        out_of_scope=outside,
        rejected_by_reason=dict(Counter(lost.values())),
        out_of_scope_by_reason=dict(work.left_out),
    )
    return {"occurrences": counts}


def _configuration(dataset: Dataset, terms: Manifest, options: LogprobOptions) -> dict[str, Any]:
    return {
        "dataset": dataset.manifest.fingerprint,
        "terms": terms.fingerprint,
        "model": options.model,
        "weights_sha256": weights_sha256(options.model),
        "adapters": {
            name: folder_sha256(path)
            for name, path in zip(options.names(), options.adapters, strict=True)
        },
        "split": options.split,
        "parts": list(options.parts),
        "form": options.form,
        "dtype": options.dtype,
        "draws": options.draws,
        "seed": options.seed,
        "limit": options.limit,
    }


def _plan(work: _Work, options: LogprobOptions, out: Path) -> list[str]:
    return [
        f"would score {work.asked:,} occurrences in {len(work.items):,} items of {options.split}",
        f"would read them with {options.model} and with {', '.join(options.names())} on it",
        f"would write tables, a figure and a manifest to {out}",
        "would send nothing anywhere",
    ]
