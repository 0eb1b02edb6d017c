"""What scorings of every kind do alike: open the folder, write scores.json, tables and manifest.

scores.json     figures, tests, and the meta of the kind
items.parquet   written by the kind into the partial folder, a table at a time
tables/*.csv    the figures for a spreadsheet
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import clinqa
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import FileRecord, Manifest, StageCounts, identity_of, library_versions
from clinqa.core.outfolder import OutFolder, create_file, open_out, write_durably, writing
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.privacy import is_private
from clinqa.scoring.identity import VERB
from clinqa.scoring.inputs import PREDICTIONS_FILE, Run
from clinqa.scoring.score_options import ScoreOptions, ScoreResult
from clinqa.stats.bootstrap import RULE

__all__ = [
    "ITEMS_FILE",
    "LIBRARIES",
    "SCORES_FILE",
    "Made",
    "Scoring",
    "dry_run",
    "figure_line",
    "items_file",
    "score_into",
    "status_warning",
]

SCORES_FILE, ITEMS_FILE = "scores.json", "items.parquet"
LIBRARIES = ("pyarrow", "numpy", "scipy")


@dataclass(frozen=True, slots=True)
class Scoring:
    """One scoring: what it reads, what it was told, and what decides its figures."""

    dataset: Dataset
    runs: Sequence[Run]
    options: ScoreOptions
    data_class: DataClass
    configuration: Mapping[str, Any]
    inputs: Sequence[FileRecord]
    decides: Mapping[str, Any] = field(default_factory=dict)  # beside configuration and inputs
    libraries: tuple[str, ...] = LIBRARIES

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the figures: a folder of another identity is not written over."""
        return identity_of(
            {
                **self.configuration,
                "verb": VERB,
                "clinqa": clinqa.__version__,
                "data_class": self.data_class.value,
                "intervals": RULE,
                **self.decides,
                "inputs": [record.sha256 for record in self.inputs],
            }
        )


@dataclass(frozen=True, slots=True)
class Made:
    """What a kind hands over to be written. `answers` are of the split, `outside` are not."""

    items: int
    rows: int
    answers: int
    outside: int
    figures: Sequence[Figure]
    tests: Sequence[PairedTest]
    meta: Mapping[str, Any]
    tables: Mapping[str, str]
    warnings: list[str]
    lines: list[str]
    files: Mapping[str, bytes] = field(default_factory=dict)  # what only this kind has


def score_into(out: Path, scoring: Scoring, make: Callable[[OutFolder], Made]) -> ScoreResult:
    """Score into this folder, or say that it has been done. `make` writes items.parquet."""
    identity, private = scoring.identity, is_private(scoring.data_class)
    with open_out(out, identity, fresh=scoring.options.fresh, private=private) as folder:
        if folder.done is not None:
            lines = [f"already done: {out} holds these scores"]
            return ScoreResult(
                _counts(folder.done), list(folder.done.warnings), lines, already_done=True
            )
        with writing(folder.path):
            started, clock = _now(), time.monotonic()
            made = make(folder)
            _write(made, folder)
            finished = folder.commit(
                _manifest(scoring, made, identity, started, time.monotonic() - clock),
                {ITEMS_FILE: made.rows},
            )
    return ScoreResult(_counts(finished), list(finished.warnings), made.lines)


def _write(made: Made, folder: OutFolder) -> None:
    body = {
        "figures": [figure.as_json() for figure in made.figures],
        "tests": [test.as_json() for test in made.tests],
        "meta": made.meta,
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
    (folder.partial / "tables").mkdir(mode=0o700)
    files = {
        SCORES_FILE: text.encode(),
        **made.files,
        **{f"tables/{name}": content.encode() for name, content in made.tables.items()},
    }
    for name, content in files.items():
        write_durably(folder.partial / name, content, private=folder.private)


def _manifest(
    scoring: Scoring, made: Made, identity: Mapping[str, Any], started: str, seconds: float
) -> Manifest:
    """The manifest, but for outputs."""
    why = "not_in_split" if scoring.options.limit is None else "limit"
    return Manifest(
        verb=VERB,
        data_class=scoring.data_class.value,
        identity=identity,
        clinqa=clinqa.__version__,
        command=["clinqa", *sys.argv[1:]],
        configuration=scoring.configuration,
        seeds={"seed": scoring.options.seed},
        inputs=scoring.inputs,
        counts={
            "answers": StageCounts(
                read=made.answers + made.outside,
                kept=made.answers,
                out_of_scope=made.outside,
                out_of_scope_by_reason={why: made.outside} if made.outside else {},
            )
        },
        started=started,
        finished=_now(),
        seconds=round(seconds, 3),
        versions=library_versions(scoring.libraries),
        warnings=made.warnings,
        details={
            "runs": len(scoring.runs),
            "items": made.items,
            "figures": len(made.figures),
            "tests": len(made.tests),
        },
    )


@contextmanager
def items_file(folder: OutFolder) -> Iterator[Callable[[pa.Table], None]]:
    """A function that appends a table to items.parquet; the first table gives the columns."""
    writer: pq.ParquetWriter | None = None
    path = folder.partial / ITEMS_FILE
    with os.fdopen(create_file(path, private=folder.private), "wb") as file:

        def write(rows: pa.Table) -> None:
            nonlocal writer
            if writer is None:
                writer = pq.ParquetWriter(file, rows.schema, compression="zstd")
            writer.write_table(rows)

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()


def dry_run(
    against: str, drawn: str, scoring: Scoring, out: Path, more: Iterable[str] = ()
) -> list[str]:
    """What would be read and written; nothing is sent anywhere.

    `against` says what the runs are scored on, `drawn` what samples are drawn of.
    """
    options = scoring.options
    lines = [f"would score against {against}"]
    for run in scoring.runs:
        rows = pq.read_metadata(run.folder / PREDICTIONS_FILE).num_rows
        lines.append(f"would read {run.folder} ({run.model}, {run.shots} shots, {rows:,} answers)")
    lines += more
    lines.append(
        f"would test {options.family} on {options.primary}, draw {options.draws:,} samples of "
        f"{drawn}, and write scores ({scoring.data_class.value}) to {out}"
    )
    return [*lines, "would send nothing anywhere"]


def status_warning(name: str, statuses: Mapping[str, int], are: str) -> list[str]:
    """That some answers are none, by status; they count as wrong. `are` words what they lack."""
    others = {status: n for status, n in statuses.items() if status != "answered" and n}
    if not others:
        return []
    told = ", ".join(f"{status} {n:,}" for status, n in sorted(others.items()))
    return [
        f"{name}: {sum(others.values()):,} of {sum(statuses.values()):,} answers {are} ({told}); "
        "they count as wrong"
    ]


def figure_line(label: str, figure: Figure) -> str:
    """A figure that has a value, with its interval where it has one, for the terminal."""
    bounds = (
        ""
        if figure.low is None or figure.high is None
        else f"  [{figure.low:.3f}, {figure.high:.3f}]"
    )
    return f"{label} {figure.value:.3f}{bounds}"


def _counts(manifest: Manifest) -> dict[str, int]:
    return {
        "answers": manifest.counts["answers"].kept,
        **{name: int(manifest.details[name]) for name in ("runs", "items", "figures", "tests")},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
