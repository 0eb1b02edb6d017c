"""Write made echo reports in the layout of MIMIC-III's NOTEEVENTS, with their labels beside them.

A third file says by which version, size and seed they were made: what it says can be made again, so
a file that is given out as simulated is one or is not (`is_simulated`).

The truth of a report follows from the statements chosen for it, not from reading it, so a builder
can be measured against it. Wording is the project's own; nothing here comes from a real report.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO

from clinqa import __version__
from clinqa.core.errors import ConfigError, refuse
from clinqa.core.ids import rng
from clinqa.core.processes import end_with_parent
from clinqa.simulate.bank import load_bank
from clinqa.simulate.patient import follow_up, new_patient
from clinqa.simulate.report import compose
from clinqa.simulate.wording import date

__all__ = ["SimulationResult", "gold_path", "is_simulated", "made_by_path", "simulate"]

HEADER = (
    '"ROW_ID","SUBJECT_ID","HADM_ID","CHARTDATE","CHARTTIME","STORETIME",'
    '"CATEGORY","DESCRIPTION","CGID","ISERROR","TEXT"\n'
)
_BLOCK = 512  # studies a unit of work; patients do not reach over its edge
_P_WITHDRAWN, _P_OTHER = 0.004, 0.03
_OTHER = (
    ("Nursing/other", "Report", "Patient seen by echo today, severe mitral regurgitation noted."),
    ("Radiology", "CHEST (PORTABLE AP)", "The heart is moderately enlarged. No effusion."),
    ("ECG", "Report", "Sinus rhythm. Left ventricular hypertrophy by voltage."),
    ("Discharge summary", "Report", "Echocardiogram in house: moderate aortic stenosis."),
)


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What was written. `rows` counts withdrawn reports and other notes too."""

    out: Path
    gold: Path
    studies: int
    subjects: int
    rows: int
    empty: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class _Block:
    rows: str
    gold: str
    counts: Counter[str]
    """By the names of `SimulationResult`."""


def gold_path(out: Path) -> Path:
    """Where the truth of OUT stands: FILE.gold.jsonl beside FILE.csv."""
    if not out.name:
        raise ConfigError(f"{out}: a folder, not a file that can be written")
    return out.with_name(f"{out.stem}.gold.jsonl")


def made_by_path(out: Path) -> Path:
    """Where it stands by what OUT was made: FILE.simulated.json beside FILE.csv."""
    return out.with_name(f"{out.stem}.simulated.json")


def simulate(
    studies: int, seed: int, out: Path, *, workers: int = 1, overwrite: bool = False
) -> SimulationResult:
    """Write `studies` made echo reports to `out`, and their labels beside it.

    The same seed gives the same bytes for any number of workers; fewer studies give the first
    of them. Memory does not grow with the number.
    """
    out = Path(out)
    gold = gold_path(out)
    refuse(
        (studies < 1, "simulate: at least one study is needed (--studies)"),
        (workers < 1, "simulate: at least one worker is needed (--workers)"),
    )
    made_by = made_by_path(out)
    for path in (out, gold, made_by):
        refuse(
            (
                path.is_symlink() or path.is_dir(),
                f"{path}: a link or a folder, not a file that can be written",
            ),
            (
                path.exists() and not overwrite,
                f"{path}: exists already; choose another name or allow overwriting",
            ),
        )
    parts = [path.with_name(f".{path.name}.partial") for path in (out, gold, made_by)]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        files = [*map(_create, parts)]
        with files[0] as rows_file, files[1] as gold_file, files[2] as by_file:
            by_file.write(_made_by(studies, seed))
            rows_file.write(HEADER)
            totals: Counter[str] = Counter()
            for block in _blocks(studies, seed, workers):
                rows_file.write(block.rows)
                gold_file.write(block.gold)
                totals.update(block.counts)
            for handle in files:
                handle.flush()
                os.fsync(handle.fileno())
        parts[1].replace(gold)
        parts[2].replace(made_by)
        parts[0].replace(out)
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written ({error.strerror})") from error
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    return SimulationResult(out, gold, **totals)


_VERB = "simulate echo"
_LONGEST = 4096  # of what stands beside a simulation


def _made_by(studies: int, seed: int) -> str:
    told = {
        "tool": "clinqa",
        "verb": _VERB,
        "clinqa": __version__,
        "studies": studies,
        "seed": seed,
    }
    return json.dumps(told) + "\n"


def is_simulated(path: Path, workers: int = 1) -> bool:
    """Was this file written by `simulate`? Size and seed stand beside it, and give its bytes again.

    What is made anew is held against the file as it comes, and no further than it agrees.
    """
    beside = made_by_path(path)
    try:
        if not (path.is_file() and beside.is_file() and beside.stat().st_size <= _LONGEST):
            return False
        told = json.loads(beside.read_text(encoding="utf-8"))
        studies, seed = told["studies"], told["seed"]
        if told["verb"] != _VERB or type(studies) is not int or type(seed) is not int:
            return False
        with path.open("rb") as file:
            return studies > 0 and _holds(file, studies, seed, workers)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _holds(file: BinaryIO, studies: int, seed: int, workers: int) -> bool:
    """Are these the bytes of that simulation, all of them and no more?"""
    pieces = chain([HEADER], (block.rows for block in _blocks(studies, seed, workers)))
    for piece in pieces:
        body = piece.encode("utf-8")
        if file.read(len(body)) != body:
            return False
    return not file.read(1)


def _create(path: Path) -> TextIO:
    """A new file only its owner reads, as for any report."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8", newline="")


def _blocks(studies: int, seed: int, workers: int) -> Iterator[_Block]:
    starts = range(0, studies, _BLOCK)
    make = partial(_make_block, studies, seed)
    if workers == 1 or len(starts) == 1:
        yield from map(make, starts)
        return
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(min(workers, len(starts)), end_with_parent) as pool:
        yield from pool.imap(make, starts)


def _make_block(studies: int, seed: int, start: int) -> _Block:
    """The studies from `start` on. Whose they are depends on the whole block, not on its cut."""
    bank = load_bank()
    owners = _owners(seed, start)
    seen: dict[int, list[int]] = {}
    rows: list[str] = []
    gold: list[str] = []
    counts = Counter(empty=0, conflicts=0)
    for index in range(start, min(start + _BLOCK, studies)):
        subject = owners[index - start]
        random = rng(seed, "simulate.echo", str(index)).random
        if subject in seen:
            severities = follow_up(seen[subject], random)
        else:
            severities = new_patient(rng(seed, "simulate.patient", str(subject)).random)
        seen[subject] = severities
        report = compose(bank, severities, random)
        number = 60_000 + 3 * index
        admission = f"{100_000 + int(random() * 99_999)}" if random() < 0.8 else ""
        year, month, dom = date(random)[3:-3].split("-")
        day = f"{year}-{int(month):02d}-{int(dom):02d}"
        rows.append(_row(number, subject, admission, day, "Echo", "Report", "", report.text))
        truth = {
            "study_id": str(number),
            "subject_id": str(subject),
            "labels": report.labels,
            "post": report.post,
        }
        gold.append(json.dumps(truth) + "\n")
        counts["empty"] += report.kind == "empty"
        counts["conflicts"] += -50 in report.labels.values()
        chance = random()
        if chance < _P_WITHDRAWN:
            withdrawn = compose(bank, severities, random).text
            rows.append(_row(number + 1, subject, admission, day, "Echo", "Report", "1", withdrawn))
        elif chance < _P_WITHDRAWN + _P_OTHER:
            category, description, text = _OTHER[int(random() * len(_OTHER))]
            rows.append(_row(number + 1, subject, admission, day, category, description, "", text))
    counts.update(studies=len(gold), subjects=len(seen), rows=len(rows))
    return _Block("".join(rows), "".join(gold), counts)


def _owners(seed: int, start: int) -> list[int]:
    """The subject of each study of a block: about 1.6 studies each, in mixed order."""
    generator = rng(seed, "simulate.owners", str(start))
    owners: list[int] = []
    subject = 10_000 + start
    while len(owners) < _BLOCK:
        chance = generator.random()
        owners += [subject] * (
            1 if chance < 0.63 else 2 if chance < 0.85 else 3 if chance < 0.95 else 4
        )
        subject += 1
    del owners[_BLOCK:]
    generator.shuffle(owners)
    return owners


def _row(
    number: int,
    subject: int,
    admission: str,
    day: str,
    category: str,
    description: str,
    error: str,
    text: str,
) -> str:
    """One CSV row, quoted as MIMIC-III quotes: text always, numbers never, nothing if empty."""
    flag = f'"{error}"' if error else ""
    quoted = text.replace('"', '""')
    return (
        f'{number},{subject},{admission},"{day}",,,"{category}","{description}",,{flag},'
        f'"{quoted}"\n'
    )
