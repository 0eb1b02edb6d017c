"""`clinqa score` on multiple-choice items: a dataset and runs in, a SCORES folder out.

scores.json     figures, tests, and meta with readers, positions and the matcher (see meta.py)
items.parquet   a row a prompt and reader: order, what was picked, what is right; no text
matcher.json    the weights of the trained matcher
tables/*.csv    figures, tests, positions
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import clinqa
from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest, StageCounts, identity_of, library_versions
from clinqa.core.outfolder import OutFolder, create_file, open_out, write_durably, writing
from clinqa.core.progress import Progress
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.privacy import is_private
from clinqa.score.choice.asked import Asked, asked_of, design_of
from clinqa.score.choice.compared import PRIMARY, Read, check_primary, main_reader, tests_of
from clinqa.score.choice.figures import WRONG, figures_of, table_of
from clinqa.score.choice.matching import Trained, trained_matcher
from clinqa.score.choice.meta import meta_of
from clinqa.score.choice.positions import Positions, positions_of
from clinqa.score.choice.questions import Questions, load_questions
from clinqa.score.choice.readers import ITEMS, readings_of, rows_of
from clinqa.score.choice.tables import tables_of
from clinqa.score.comparisons import Family, family_of
from clinqa.score.identity import VERB, data_class_of, inputs_of
from clinqa.score.inputs import PREDICTIONS_FILE, Run
from clinqa.score.options import ScoreOptions, ScoreResult

__all__ = ["score_choices"]

SCORES_FILE, ITEMS_FILE, MATCHER_FILE = "scores.json", "items.parquet", "matcher.json"


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
    if options.dry_run:
        return ScoreResult({}, lines=_dry_run(dataset, runs, options, data_class, out))
    matcher = trained_matcher(options.annotated, options.seed) if any(map(_writes, runs)) else None
    inputs = [*inputs_of(dataset, runs, options), *(matcher.inputs if matcher else ())]
    configuration = _configuration(dataset, runs, options)
    identity = identity_of(
        {
            **configuration,
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "data_class": data_class.value,
            "matcher": matcher.fingerprint if matcher else None,
            "inputs": [record.sha256 for record in inputs],
        }
    )
    with open_out(out, identity, fresh=options.fresh, private=is_private(data_class)) as folder:
        if folder.done is not None:
            lines = [f"already done: {out} holds these scores"]
            return ScoreResult(
                _counts(folder.done), list(folder.done.warnings), lines, already_done=True
            )
        with writing(folder.path):
            started, clock = _now(), time.monotonic()
            made = _score(dataset, runs, options, family, matcher, progress, folder)
            warnings = _warnings(made, options)
            _write(made, options, warnings, folder)
            answers = sum(map(len, made.asked))
            outside = sum(one.unknown for one in made.asked)
            why = "not_in_split" if options.limit is None else "limit"
            manifest = Manifest(
                verb=VERB,
                data_class=data_class.value,
                identity=identity,
                clinqa=clinqa.__version__,
                command=["clinqa", *sys.argv[1:]],
                configuration=configuration,
                seeds={"seed": options.seed},
                inputs=inputs,
                counts={
                    "answers": StageCounts(
                        read=answers + outside,
                        kept=answers,
                        out_of_scope=outside,
                        out_of_scope_by_reason={why: outside} if outside else {},
                    )
                },
                started=started,
                finished=_now(),
                seconds=round(time.monotonic() - clock, 3),
                versions=library_versions(("pyarrow", "numpy", "scipy", "scikit-learn")),
                warnings=warnings,
                details={
                    "runs": len(made.asked),
                    "items": len(made.questions),
                    "figures": len(made.figures),
                    "tests": len(made.tests),
                },
            )
            finished = folder.commit(manifest, {ITEMS_FILE: made.rows})
    return ScoreResult(_counts(finished), list(finished.warnings), _lines(made, options.primary))


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
    path = folder.partial / ITEMS_FILE
    rows = 0
    with (
        os.fdopen(create_file(path, private=folder.private), "wb") as file,
        pq.ParquetWriter(file, ITEMS, compression="zstd") as writer,
    ):
        for number, run in enumerate(runs):
            progress("scoring", number, len(runs))
            one = asked_of(run, questions)
            asked.append(one)
            reads[run.id] = {}
            for reading in readings_of(one, questions, matcher.match if matcher else None):
                table: pa.Table = rows_of(reading, questions)
                writer.write_table(table)
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


def _write(made: Scored, options: ScoreOptions, warnings: Sequence[str], folder: OutFolder) -> None:
    private, partial = folder.private, folder.partial
    meta = meta_of(
        made.dataset, made.questions, made.asked, made.reads, made.family, made.reader,
        made.positions, made.matcher, made.figures, warnings,
        seed=options.seed, draws=options.draws,
    )  # fmt: skip
    body = {
        "figures": [figure.as_json() for figure in made.figures],
        "tests": [test.as_json() for test in made.tests],
        "meta": meta,
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
    write_durably(partial / SCORES_FILE, text.encode(), private=private)
    if made.matcher is not None:
        write_durably(partial / MATCHER_FILE, made.matcher.weights, private=private)
    (partial / "tables").mkdir(mode=0o700)
    for name, content in tables_of(made.figures, made.tests, made.positions).items():
        write_durably(partial / "tables" / name, content.encode(), private=private)


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
        others = {k: n for k, n in one.statuses.items() if k != "answered" and n}
        if others:
            told = ", ".join(f"{status} {n:,}" for status, n in sorted(others.items()))
            found.append(
                f"{name}: {sum(others.values()):,} of {len(one):,} answers name no option "
                f"({told}); they count as wrong"
            )
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


def _dry_run(
    dataset: Dataset, runs: Sequence[Run], options: ScoreOptions, data_class: DataClass, out: Path
) -> list[str]:
    questions = load_questions(dataset, runs[0].split, options.limit)
    lines = [f"would score against {len(questions):,} questions of {questions.clusters:,} clusters"]
    for run in runs:
        rows = pq.read_metadata(run.folder / PREDICTIONS_FILE).num_rows
        lines.append(f"would read {run.folder} ({run.model}, {run.shots} shots, {rows:,} answers)")
    annotated = options.annotated or "the bundled annotated outputs"
    lines.append(f"would train the matcher on {annotated}")
    lines.append(
        f"would test {options.family} on {options.primary}, draw {options.draws:,} samples of "
        f"items, and write scores ({data_class.value}) to {out}"
    )
    return [*lines, "would send nothing anywhere"]


def _counts(manifest: Manifest) -> Mapping[str, int]:
    return {
        "answers": manifest.counts["answers"].kept,
        **{name: int(manifest.details[name]) for name in ("runs", "items", "figures", "tests")},
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
                bounds = (
                    ""
                    if figure.low is None or figure.high is None
                    else f"  [{figure.low:.3f}, {figure.high:.3f}]"
                )
                lines.append(
                    f"{metric:<17} {figure.run:<32} {parts[2]:<12} {figure.value:.3f}{bounds}"
                )
    return lines


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
