"""clinqa demo: the whole line on made reports, so that a newcomer sees what comes out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from clinqa.asking.predict_options import PredictOptions
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.cli import build, simulate
from clinqa.cli.commands import Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.predict import predict
from clinqa.cli.report import report
from clinqa.cli.score import score
from clinqa.cli.show import show
from clinqa.cli.verify import verify
from clinqa.core.errors import ConfigError
from clinqa.present.page_options import PageOptions
from clinqa.scoring.score_options import ScoreOptions

__all__ = ["demo"]

REPORTS = "reports.csv"
DATASET = "dataset"
RUNS, SCORES, FIGURES, PAGE = "runs", "scores", "figures", "report.html"
STATEMENTS = "statements"
OURS = frozenset({DATASET, RUNS, SCORES, FIGURES, PAGE, STATEMENTS})
BASELINES = ("baseline:retrieval", "baseline:prior")
TITLE = "Demo: two baselines on made-up reports"


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the demo: absent, empty, ours.")
    ] = Path("demo"),
    studies: Annotated[
        int, typer.Option("--studies", min=1, metavar="N", help="How many reports to make.")
    ] = 400,
    seed: Seed = 0,
) -> Outcome:
    """Made reports to a page: a checked dataset, two baselines asked, their answers scored."""
    refuse_foreign(out)
    out.mkdir(parents=True, exist_ok=True)
    reports, dataset = out / REPORTS, out / DATASET
    made = simulate.echo(reports, studies=studies, seed=seed, fresh=reports.exists())
    built = build.echo([reports], dataset, BuildOptions(seed=seed, fresh=dataset.exists()))
    checked = verify(dataset, [reports])
    shown = show(dataset)
    evaluated = evaluate(out, seed)
    stated = state(out, seed)
    text = f"""\
1. Reports, made up: nothing in them is about anyone
{indent(made.text)}

2. Dataset (clinqa build echo {reports} --out {dataset})
{indent(built.text)}

3. Check (clinqa verify {dataset} --source {reports})
{indent(checked.text)}

4. Summary (clinqa show {dataset})
{indent(shown.text)}

{evaluated}

{stated}

The results lie in {dataset}: start with {dataset / "README.md"}.
Load them in Python: datasets.load_dataset("{dataset}")
Open the page in a browser: {out / PAGE}"""
    return Outcome(
        "demo",
        out,
        built.counts,
        [*built.warnings, *shown.warnings],  # those of the scores stand on the page
        text,
        checked.exit,
        checked.error,
        coloured=shown.coloured,
    )


def state(out: Path, seed: int) -> str:
    """True and false statements from the ECG primer that comes along; what to tell of it."""
    from clinqa.packs.loader import pack_folder

    primer, dataset = pack_folder("ecg") / "primer" / "primer.pdf", out / STATEMENTS
    words = ["build", "ecg", primer.name, "--out", dataset, "--seed", seed]
    with as_if(words) as line:
        built = build.ecg([primer], dataset, ReferenceOptions(seed=seed, fresh=dataset.exists()))
    checked = verify(dataset, [primer])
    return f"""\
8. Statements from a reference: an ECG primer, no model and no key ({line})
{indent(built.text)}

{indent(checked.text)}"""


def evaluate(out: Path, seed: int) -> str:
    """Ask both light baselines, score what they say, make the page; what to tell of it."""
    dataset, scores, page, figures = out / DATASET, out / SCORES, out / PAGE, out / FIGURES
    told = ["5. Answers of two baselines, the least that a model should beat"]
    runs = []
    for name in BASELINES:
        run = out / RUNS / name.partition(":")[2]
        words = ["predict", dataset, "--model", name, "--seed", seed, "--out", run]
        with as_if(words) as line:
            asked = predict(dataset, run, PredictOptions(model=name, seed=seed, fresh=run.exists()))
        told.append(indent(f"{line}\n{asked.counts.get('items', 0):,} questions asked"))
        runs.append(run)
    with as_if(["score", dataset, *runs, "--out", scores]) as line:
        scored = score(dataset, runs, scores, ScoreOptions(seed=seed, fresh=scores.exists()))
    told += ["", f"6. Scores ({line})", indent(scored.text)]
    drawn = figures if find_spec("matplotlib") else None
    words = ["report", scores, "-o", page, *(["--figures", figures] if drawn else [])]
    with as_if(words) as line:
        shown = report(
            [scores], PageOptions(figures=drawn, title=TITLE, fresh=figures.exists()), page
        )
    told += ["", f"7. Page ({line})", indent(shown.text)]
    return "\n".join(told)


@contextmanager
def as_if(words: list[object]) -> Iterator[str]:
    """As if this verb had been called by itself: its manifest says how to make its folder again."""
    before = sys.argv
    sys.argv = ["clinqa", *map(str, words)]
    try:
        yield " ".join(sys.argv)
    finally:
        sys.argv = before


def refuse_foreign(out: Path) -> None:
    """A demo is written over an earlier demo only, never over anybody's folder."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ConfigError(f"{out} is not a folder of ours; name another with --out")
    if out.is_dir():
        strangers = sorted(
            entry.name
            for entry in out.iterdir()
            if entry.name not in OURS and not entry.name.startswith("reports.")
        )
        if strangers:
            raise ConfigError(
                f"{out} holds {len(strangers)} things no demo wrote ({strangers[0]}, ...);"
                " name another folder with --out"
            )


def indent(text: str) -> str:
    """The text, set in by three blanks."""
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())
