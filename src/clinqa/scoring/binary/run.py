"""`clinqa score` on true_false items: a dataset and runs in, a SCORES folder out.

scores.json     figures, tests, and meta with the panel (see score/binary/meta.py)
items.parquet   a row an item, run and repeat: label, answer, right or not; no text
tables/*.csv    figures, tests, kappa of all pairs, shared errors, difficulty of each item
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import FileRecord, sha256_file
from clinqa.core.outfolder import OutFolder
from clinqa.core.progress import Progress
from clinqa.dataset.reader import Dataset
from clinqa.scoring.binary.compared import PRIMARY, tested_metrics, tests_of
from clinqa.scoring.binary.figures import BY_PAIR, WRONG, figures_of
from clinqa.scoring.binary.judged import Judged, judge
from clinqa.scoring.binary.meta import identities, meta_of
from clinqa.scoring.binary.panel import panel_of
from clinqa.scoring.binary.statements import Statements, load_statements
from clinqa.scoring.binary.tables import tables_of
from clinqa.scoring.binary.transfer import Other, open_others, rankings_of, transfer_of
from clinqa.scoring.binary.votes import Named, check_search, found_elsewhere, named, searched, vote
from clinqa.scoring.comparisons import Family, family_of
from clinqa.scoring.folder import (
    SCORES_FILE,
    Made,
    Scoring,
    dry_run,
    figure_line,
    items_file,
    score_into,
    status_warning,
)
from clinqa.scoring.identity import data_class_of, inputs_of
from clinqa.scoring.inputs import Run
from clinqa.scoring.score_options import ScoreOptions, ScoreResult

__all__ = ["score_statements"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was declared or opened beforehand."""

    family: Family
    ensembles: Sequence[Named]
    others: Sequence[Other]


@dataclass
class Scored:
    """Everything that is known after scoring."""

    dataset: Dataset
    statements: Statements
    runs: list[Judged]
    votes: list[Judged]
    family: Family
    figures: list[Figure] = field(default_factory=list)
    tests: list[PairedTest] = field(default_factory=list)
    panel: dict[str, Any] = field(default_factory=dict)
    rows: int = 0


def score_statements(
    dataset: Dataset,
    runs: Sequence[Run],
    out: Path,
    options: ScoreOptions,
    progress: Progress,
) -> ScoreResult:
    """Score these runs, or say that it has been done."""
    if options.primary == ScoreOptions().primary:
        options = replace(options, primary=PRIMARY)
    tested_metrics(options.primary)
    if options.human is not None:
        raise ConfigError(
            "--human corrects level accuracy; true_false items have labels, no levels"
        )
    data_class = data_class_of(dataset, runs, options)
    family = family_of(options.family, options.primary, [(run.id, run.name) for run in runs])
    ensembles = named(options.ensembles, runs)
    if options.ensemble_from is not None:
        ensembles.append(found_elsewhere(options.ensemble_from, runs))
    if options.search is not None:
        check_search(options.search, len(runs), runs[0].split)
    others = open_others(options.against, runs)
    scoring = Scoring(
        dataset=dataset,
        runs=runs,
        options=options,
        data_class=data_class,
        configuration=_configuration(dataset, runs, options),
        inputs=[*inputs_of(dataset, runs, options), *_other_inputs(options)],
    )
    if options.dry_run:
        found = load_statements(dataset, runs[0].split, options.limit)
        against = (
            f"{len(found):,} statements of {found.pairs:,} pairs from {found.sources:,} documents "
            "or questions"
        )
        return ScoreResult({}, lines=dry_run(against, "pairs", scoring, out))
    asked = _Asked(family, ensembles, others)

    def make(folder: OutFolder) -> Made:
        made = _score(dataset, runs, options, asked, progress, folder)
        warnings = _warnings(made, options)
        return Made(
            items=len(made.statements),
            rows=made.rows,
            answers=sum(sum(run.statuses.values()) for run in made.runs),
            outside=sum(run.unknown for run in made.runs),
            figures=made.figures,
            tests=made.tests,
            meta=meta_of(
                made.dataset, made.statements, made.runs, made.votes, made.family, made.figures,
                made.panel, warnings, seed=options.seed, draws=options.draws,
            ),
            tables=tables_of(made.figures, made.tests, made.panel, made.runs, made.statements),
            warnings=warnings,
            lines=_lines(made, options.primary),
        )  # fmt: skip

    return score_into(out, scoring, make)


def _score(
    dataset: Dataset,
    runs: Sequence[Run],
    options: ScoreOptions,
    asked: _Asked,
    progress: Progress,
    folder: OutFolder,
) -> Scored:
    statements = load_statements(dataset, runs[0].split, options.limit)
    judged, written = [], 0
    with items_file(folder) as write:
        for number, run in enumerate(runs):
            progress("scoring", number, len(runs))
            one, rows = judge(run, statements)
            judged.append(one)
            write(rows)
            written += len(rows)
    votes = [vote(ensemble, judged, statements) for ensemble in asked.ensembles]
    made = Scored(dataset, statements, judged, votes, asked.family, rows=written)
    drawing = {"seed": options.seed, "draws": options.draws}
    for number, one in enumerate([*judged, *votes]):
        progress("intervals", number, len(judged) + len(votes))
        made.figures += figures_of(one, statements, **drawing)
    if len(judged) > 1:
        progress("comparing", 0, 1)
        made.tests = tests_of(asked.family, judged, statements, **drawing)
    progress("panel", 0, 1)
    made.panel = panel_of(judged, votes, statements, **drawing)
    made.panel["ensembles"] = [
        {"run": one.id, "name": told.name, "members": list(told.members),
         "searched": told.searched, "how": one.how}
        for told, one in zip(asked.ensembles, votes, strict=True)
    ]  # fmt: skip
    if options.search is not None:
        made.panel["search"] = searched(options.search, judged, statements, runs[0].split)
    if asked.others:
        made.panel["transfer"] = transfer_of(
            asked.others, judged, statements, made.tests, made.panel["bases"], **drawing
        )
        made.panel["rankings"] = rankings_of(asked.others, judged, statements, **drawing)
    return made


def _warnings(made: Scored, options: ScoreOptions) -> list[str]:
    """What a reader should know before trusting a figure; counts only."""
    found = []
    statements = made.statements
    share = float(statements.gold.mean())
    if statements.paired and abs(share - 0.5) > 1e-9:
        found.append(
            f"{share:.1%} of the statements are True: the set is not made of whole pairs, and what "
            "holds on balanced sets holds only roughly"
        )
    if statements.sources == 1:
        found.append("all statements are of one document: no interval over documents exists")
    for run in made.runs:
        asked = int(run.asked.sum())
        if asked < len(statements):
            found.append(
                f"{run.name}: was asked {asked:,} of the {len(statements):,} items; its figures "
                "are of those"
            )
        if run.unknown and options.limit is None:
            found.append(f"{run.name}: {run.unknown:,} answers to items not in the split")
        found += status_warning(run.name, run.statuses, "are none")
    if len({run.how for run in made.runs}) > 1:
        found.append(
            "some runs were read from what they wrote and some weighed True against False: their "
            "figures have different signatures and do not share a ranking"
        )
    return found + identities(made.figures, [*made.runs, *made.votes])


def _configuration(dataset: Dataset, runs: Sequence[Run], options: ScoreOptions) -> dict[str, Any]:
    return {
        "dataset": dataset.manifest.fingerprint,
        "kind": "true_false",
        "split": runs[0].split,
        "runs": [run.id for run in runs],
        "primary": options.primary,
        "family": options.family,
        "ensembles": list(options.ensembles),
        "search": options.search,
        "ensemble_from": options.ensemble_from is not None,
        "against": len(options.against),
        "resamples": options.draws,
        "limit": options.limit,
        "seed": options.seed,
    }


def _other_inputs(options: ScoreOptions) -> list[FileRecord]:
    """The scores of other sets that a panel stands on."""
    folders = [*([options.ensemble_from] if options.ensemble_from else []), *options.against]
    found = []
    for folder in folders:
        path = folder / SCORES_FILE
        if not path.is_file():
            raise ConfigError(f"{folder}: no {SCORES_FILE}; give the --out of clinqa score")
        name = f"{folder.resolve().name}/{SCORES_FILE}"
        found.append(FileRecord(name, sha256_file(path), path.stat().st_size))
    return found


def _lines(made: Scored, primary: str) -> list[str]:
    """The main figures of each run, for the terminal."""
    lines = []
    for metric in dict.fromkeys((primary, "macro_f1", "youden_j", "pair_both")):
        for figure in made.figures:
            main = f"|{WRONG}|{BY_PAIR}|" in figure.signature
            if figure.metric == metric and main and not figure.subset and figure.value is not None:
                lines.append(figure_line(f"{metric:<12} {figure.run:<36}", figure))
    return lines
