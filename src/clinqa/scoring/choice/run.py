"""`clinqa score` on multiple-choice items: a dataset and runs in, a SCORES folder out.

scores.json     figures, tests, and meta with readers, positions and the matcher (see meta.py)
items.parquet   a row a prompt and reader: order, what was picked, what is right; no text
matcher.json    the weights of the trained matcher
tables/*.csv    figures, tests, positions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.outfolder import OutFolder
from clinqa.core.progress import Progress
from clinqa.dataset.reader import Dataset
from clinqa.scoring.choice.asked import Asked, asked_of, design_of
from clinqa.scoring.choice.compared import PRIMARY, Read, check_primary, main_reader, tests_of
from clinqa.scoring.choice.figures import WRONG, figures_of, table_of
from clinqa.scoring.choice.matching import Trained, trained_matcher
from clinqa.scoring.choice.meta import meta_of
from clinqa.scoring.choice.positions import Positions, positions_of
from clinqa.scoring.choice.questions import Questions, load_questions
from clinqa.scoring.choice.readers import readings_of, rows_of
from clinqa.scoring.choice.tables import tables_of
from clinqa.scoring.comparisons import Family, family_of
from clinqa.scoring.folder import (
    LIBRARIES,
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

__all__ = ["score_choices"]

MATCHER_FILE = "matcher.json"


@dataclass
class Scored:
    """Everything that is known after scoring."""

    dataset: Dataset
    questions: Questions
    asked: list[Asked]
    reads: dict[str, dict[str, Read]]
    family: Family
    reader: str
    matcher: Trained | None
    figures: list[Figure] = field(default_factory=list)
    tests: list[PairedTest] = field(default_factory=list)
    positions: list[Positions] = field(default_factory=list)
    rows: int = 0


def score_choices(
    dataset: Dataset,
    runs: Sequence[Run],
    out: Path,
    options: ScoreOptions,
    progress: Progress,
) -> ScoreResult:
    """Score these runs, or say that it has been done."""
    if options.primary == ScoreOptions().primary:
        options = replace(options, primary=PRIMARY)
    check_primary(options.primary)
    if options.human is not None:
        raise ConfigError("--human corrects level accuracy; multiple-choice items have no levels")
    data_class = data_class_of(dataset, runs, options)
    family = family_of(options.family, options.primary, [(run.id, run.name) for run in runs])
    # nothing is trained for a dry run
    needed = any(map(_writes, runs)) and not options.dry_run
    matcher = trained_matcher(options.annotated, options.seed) if needed else None
    scoring = Scoring(
        dataset=dataset,
        runs=runs,
        options=options,
        data_class=data_class,
        configuration=_configuration(dataset, runs, options),
        inputs=[*inputs_of(dataset, runs, options), *(matcher.inputs if matcher else ())],
        decides={"matcher": matcher.fingerprint if matcher else None},
        libraries=(*LIBRARIES, "scikit-learn"),
    )
    if options.dry_run:
        found = load_questions(dataset, runs[0].split, options.limit)
        against = f"{len(found):,} questions of {found.clusters:,} clusters"
        annotated = options.annotated or "the bundled annotated outputs"
        more = [f"would train the matcher on {annotated}"]
        return ScoreResult({}, lines=dry_run(against, "items", scoring, out, more))

    def make(folder: OutFolder) -> Made:
        made = _score(dataset, runs, options, family, matcher, progress, folder)
        warnings = _warnings(made, options)
        return Made(
            items=len(made.questions),
            rows=made.rows,
            answers=sum(map(len, made.asked)),
            outside=sum(one.unknown for one in made.asked),
            figures=made.figures,
            tests=made.tests,
            meta=meta_of(
                made.dataset, made.questions, made.asked, made.reads, made.family, made.reader,
                made.positions, made.matcher, made.figures, warnings,
                seed=options.seed, draws=options.draws,
            ),
            tables=tables_of(made.figures, made.tests, made.positions),
            warnings=warnings,
            lines=_lines(made, options.primary),
            files={} if matcher is None else {MATCHER_FILE: matcher.weights},
        )  # fmt: skip

    return score_into(out, scoring, make)


def _writes(run: Run) -> bool:
    return not run.configuration.get("constrained")


def _score(
    dataset: Dataset,
    runs: Sequence[Run],
    options: ScoreOptions,
    family: Family,
    matcher: Trained | None,
    progress: Progress,
    folder: OutFolder,
) -> Scored:
    questions = load_questions(dataset, runs[0].split, options.limit)
    asked: list[Asked] = []
    reads: dict[str, dict[str, Read]] = {}
    rows = 0
    with items_file(folder) as write:
        for number, run in enumerate(runs):
            progress("scoring", number, len(runs))
            one = asked_of(run, questions)
            asked.append(one)
            reads[run.id] = {}
            for reading in readings_of(one, questions, matcher.match if matcher else None):
                table = rows_of(reading, questions)
                write(table)
                rows += table.num_rows
                reads[run.id][reading.reader] = Read(reading, table_of(reading, questions))
    reader = main_reader(list(reads.values()), options.reader)
    made = Scored(dataset, questions, asked, reads, family, reader, matcher, rows=rows)
    drawing = {"seed": options.seed, "draws": options.draws}
    every = [read for own in reads.values() for read in own.values()]
    for number, read in enumerate(every):
        progress("intervals", number, len(every))
        made.figures += figures_of(read.reading, read.table, questions, **drawing)
        made.positions += positions_of(read.reading, questions, seed=options.seed)
    if len(runs) > 1:
        progress("comparing", 0, 1)
        made.tests = tests_of(family, reads, questions, reader, **drawing)
    return made


def _warnings(made: Scored, options: ScoreOptions) -> list[str]:
    """What a reader should know before trusting a figure; counts only."""
    found = []
    for one in made.asked:
        name, items = one.run.name, len(set(one.item.tolist()))
        if items < len(made.questions):
            found.append(
                f"{name}: was asked {items:,} of the {len(made.questions):,} items; its figures "
                "are of those"
            )
        if one.unknown and options.limit is None:
            found.append(f"{name}: {one.unknown:,} answers to items not in the split")
        found += status_warning(name, one.statuses, "name no option")
        weighed = made.reads[one.run.id].get("first_token")
        ties = 0 if weighed is None else list(weighed.reading.status).count("ambiguous")
        if ties:
            found.append(
                f"{name}: the likeliest letters tie {ties:,} times and are no answer; half "
                "precision rounds small differences away (predict --dtype float32)"
            )
        if not (one.run.configuration.get("choices") or {}).get("orders"):
            found.append(
                f"{name}: asked in the bank's order only; nothing can be said of positions "
                "(predict --orders)"
            )
    if len({design_of(one.run) for one in made.asked}) > 1:
        found.append(
            "the runs were asked in different kinds of orders: their figures have different "
            "signatures and they are not compared"
        )
    without = [one.run.name for one in made.asked if made.reader not in made.reads[one.run.id]]
    if without:
        found.append(f"{', '.join(without)}: cannot be read as {made.reader}; not in the tests")
    return found


def _configuration(dataset: Dataset, runs: Sequence[Run], options: ScoreOptions) -> dict[str, Any]:
    return {
        "dataset": dataset.manifest.fingerprint,
        "kind": "multiple_choice",
        "split": runs[0].split,
        "runs": [run.id for run in runs],
        "primary": options.primary,
        "reader": options.reader,
        "family": options.family,
        "annotated": options.annotated is not None,
        "resamples": options.draws,
        "limit": options.limit,
        "seed": options.seed,
    }


def _lines(made: Scored, primary: str) -> list[str]:
    """The main figures of each run and reader, for the terminal."""
    lines = []
    for metric in dict.fromkeys((primary, "all_orders_right", "same_pick")):
        for figure in made.figures:
            parts = figure.signature.split("|")
            if figure.metric != metric or figure.subset or figure.value is None:
                continue
            if WRONG in parts:
                lines.append(figure_line(f"{metric:<17} {figure.run:<32} {parts[2]:<12}", figure))
    return lines
