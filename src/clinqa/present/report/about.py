"""What was evaluated, on what, how fast, and how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clinqa.core.manifest import HIDDEN, redact, redact_command
from clinqa.present.report.claims import primary_metric
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.results import group_name, spread_words
from clinqa.present.report.tables import Cell, Column, Row, Table
from clinqa.present.report.words import (
    MISSING,
    count,
    decimals,
    interval,
    metric_name,
    percent,
    short_hash,
)

__all__ = [
    "commands",
    "costs",
    "dataset_facts",
    "human_sample",
    "run_table",
    "scale",
    "scoring_facts",
    "versions",
]

_NOT_RECORDED = "not known, or not recorded"
Facts = list[tuple[str, str]]


def dataset_facts(evaluation: Evaluation) -> Facts:
    """What the questions come from; only what is known."""
    about = evaluation.dataset
    sources = about.get("source_sha256") or ()
    facts = [
        ("Dataset", about.get("name")),
        ("Fingerprint", about.get("fingerprint")),
        ("Data class", evaluation.data_class),
        ("Split", about.get("split")),
        ("Items of the split", _number(about.get("items"))),
        ("Patients of the split", _number(about.get("patients"))),
        ("Items scored", _number(about.get("items_scored"))),
        ("Patients scored", _number(about.get("patients_scored"))),
        ("Label pack", about.get("pack")),
        ("Built by", _version(about.get("clinqa"))),
        ("Source files (SHA-256)", ", ".join(str(sha) for sha in sources)),
    ]
    return [(name, str(value)) for name, value in facts if value]


def scoring_facts(evaluation: Evaluation) -> Facts:
    """How the figures and their intervals were made."""
    drawn = evaluation.meta.get("interval") or {}
    family = evaluation.meta.get("family") or {}
    short = evaluation.meta.get("short_references")
    share = float(drawn.get("level") or 0.95)
    pairs = family.get("comparisons")
    parts = [
        str(drawn.get("method") or ""),
        f"{drawn['resamples']:,} resamples" if isinstance(drawn.get("resamples"), int) else "",
        f"resampled by {drawn['unit']}" if drawn.get("unit") else "",
        f"seed {drawn['seed']}" if drawn.get("seed") is not None else "",
    ]
    declared = [
        f"primary metric {metric_name(str(family['metric']))}" if family.get("metric") else "",
        f"{pairs} {'pair' if pairs == 1 else 'pairs'} of runs" if pairs else "",
        str(family.get("method") or ""),
        str(family.get("adjusted") or ("adjusted after Holm" if family else "")),
    ]
    prints = ", ".join(dict.fromkeys(m.fingerprint for m in evaluation.manifests))
    facts = [
        ("Scores", prints),
        ("Scored by", ", ".join(dict.fromkeys(_version(m.clinqa) for m in evaluation.manifests))),
        (f"Intervals ({100 * share:.0f}\u00a0%)", ", ".join(filter(None, parts))),
        ("Paired tests", ", ".join(filter(None, declared))),
        ("References under four tokens", percent(float(short)) if short is not None else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _version(version: Any) -> str:
    return f"clinqa {version}" if version else ""


def _number(value: Any) -> str:
    return count(value) if isinstance(value, int) else ""


def versions(evaluation: Evaluation) -> str:
    """Library versions that change results, of scoring and of the runs."""
    found: dict[str, set[str]] = {}
    stated: list[Mapping[str, Any]] = [m.versions for m in evaluation.manifests]
    stated += [run.about.get("versions") or {} for run in evaluation.runs]
    for part in stated:
        for name, version in part.items():
            found.setdefault(str(name), set()).add(str(version))
    return ", ".join(f"{name} {' and '.join(sorted(found[name]))}" for name in sorted(found))


def run_table(evaluation: Evaluation) -> Table:
    """A row a run: what was asked, how, and the fingerprint of its folder."""
    rows = []
    for run in evaluation.runs:
        about = run.about
        cells = (
            Cell(str(about.get("name") or run.id)),
            _cell(run.family),
            _cell(_size(about.get("parameters"))),
            _cell(about.get("licence")),
            Cell(", ".join(map(str, about.get("adapters") or ())) or "none"),
            Cell(spread_words(run)),
            _cell(_sampling(about.get("sampling"))),
            _cell(about.get("seed")),
            _cell(short_hash(str(about.get("fingerprint") or ""))),
        )
        rows.append(Row(run.label, cells, group_name(run)))
    titles = (
        "Run",
        "Family",
        "Parameters",
        "Licence",
        "Adapter",
        "Repeats",
        "Sampling",
        "Seed",
        "Fingerprint",
    )
    columns = tuple(Column(t.lower().replace(" ", "_"), t, numeric=False) for t in titles)
    return Table("runs", "The runs", "Model, shots", columns, tuple(rows))


def _cell(value: Any) -> Cell:
    text = "" if value is None else str(value)
    return Cell(text) if text else Cell(MISSING, reason=_NOT_RECORDED)


def _size(parameters: Any) -> str:
    r"""A number of parameters as people say it; a small number is of billions.

    >>> _size(135_000_000), _size(7e9), _size(0.27), _size("8B"), _size(0)
    ('135\xa0M', '7\xa0B', '270\xa0M', '8B', '')
    """
    if isinstance(parameters, str):
        return parameters
    if not isinstance(parameters, int | float) or not parameters:
        return ""
    if parameters < 100_000:
        parameters *= 1e9
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if parameters >= unit:
            return f"{parameters / unit:.3g}\u00a0{letter}"
    return count(parameters)


def _sampling(sampling: Any) -> str:
    if not isinstance(sampling, Mapping):
        return ""
    heat = sampling.get("temperature")
    said = ["greedy" if heat == 0 else f"temperature {heat}"] if heat is not None else []
    if heat and sampling.get("top_p") not in (None, 1, 1.0):
        said.append(f"top-p {sampling['top_p']}")
    if sampling.get("max_tokens"):
        said.append(f"≤ {sampling['max_tokens']} tokens")
    return ", ".join(said)


def human_sample(evaluation: Evaluation) -> Table | None:
    """What people said of a sample of answers beside what the labeller said of them."""
    rows = []
    for run in evaluation.runs:
        for meta in evaluation.metas:
            for entry in (meta.get("human") or {}).get("runs") or ():
                if entry.get("run") == run.id:
                    rows.append(Row(run.label, _human_cells(evaluation, run, entry)))
    if not rows:
        return None
    columns = (
        Column("judged", "Answers judged", "by people"),
        Column("agreement", "Agreement", "labeller and people on the same answers"),
        Column("labeller_alone", "Labeller alone", "on all items"),
        Column("people_alone", "People alone", "on the sample", figures=True),
        Column("corrected", "Corrected", "both together (prediction-powered)", figures=True),
    )
    return Table("human", "Level accuracy with a sample judged by people", "Model, shots", columns,
                 tuple(rows))  # fmt: skip


def _human_cells(evaluation: Evaluation, run: Run, entry: Mapping[str, Any]) -> tuple[Cell, ...]:
    best = evaluation.figure(run.id, "level_accuracy_corrected")
    low, high = _float(entry.get("people_alone_low")), _float(entry.get("people_alone_high"))
    return (
        Cell(count(entry.get("n"))),
        _share_cell(_float(entry.get("agreement"))),
        _share_cell(_float(entry.get("labeller_alone"))),
        _share_cell(_float(entry.get("people_alone")), low, high),
        _share_cell(best.value, best.low, best.high) if best else _cell(None),
    )


def _share_cell(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    if value is None:
        return _cell(None)
    return Cell(decimals(value), interval(low, high), value=value, low=low, high=high)


def scale(evaluation: Evaluation) -> Table | None:
    """What size does within a family: its runs of known sizes, the smallest first."""
    metric = primary_metric(evaluation)
    sizes: dict[str, set[float]] = {}
    for run in evaluation.runs:
        size = _float(run.about.get("parameters"))
        if run.family and size:
            sizes.setdefault(run.family, set()).add(size)
    rows = []
    for run in evaluation.runs:  # they stand by family and size
        figure = evaluation.figure(run.id, metric)
        if len(sizes.get(run.family, ())) > 1 and figure is not None:
            cells = (
                _cell(_size(run.about.get("parameters"))),
                _share_cell(figure.value, figure.low, figure.high),
            )
            rows.append(Row(run.label, cells, run.family))
    if not rows:
        return None
    columns = (
        Column("parameters", "Parameters"),
        Column(metric, metric_name(metric), figures=True),
    )
    return Table("scale", "Size within a family", "Model, shots", columns, tuple(rows))


def costs(evaluation: Evaluation) -> Table | None:
    """Tokens and seconds of each run. Nothing where no run recorded any."""
    if not any(run.about.get("seconds") is not None for run in evaluation.runs):
        return None
    rows = [Row(run.label, _cost_cells(run), group_name(run)) for run in evaluation.runs]
    columns = (
        Column("answers", "Answers", "items × repeats"),
        Column("input_tokens", "Tokens in"),
        Column("output_tokens", "Tokens out"),
        Column("wall_seconds", "Wall clock, s", "the whole run, loading included"),
        Column("answer_milliseconds", "Per answer, ms", "the model's own time, mean"),
        Column("output_tokens_per_second", "Tokens out a second", "of wall clock, else model time"),
    )
    return Table("costs", "Speed and tokens as recorded by the runs", "Model, shots", columns,
                 tuple(rows))  # fmt: skip


def _cost_cells(run: Run) -> tuple[Cell, ...]:
    about = run.about
    items = about.get("items")
    answers = items * run.repeats if isinstance(items, int) else None
    taken, wall = _float(about.get("seconds")), _float(about.get("wall_seconds"))
    tokens = _float(about.get("output_tokens"))
    clock = wall or taken
    return (
        _measure(answers, 0),
        _measure(_float(about.get("input_tokens")), 0),
        _measure(tokens, 0),
        _measure(wall, 1),
        _measure(1000 * taken / answers if taken is not None and answers else None, 1),
        _measure(tokens / clock if tokens and clock else None, 1),
    )


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _measure(value: float | None, digits: int) -> Cell:
    if value is None:
        return Cell(MISSING, reason=_NOT_RECORDED)
    return Cell(f"{value:,.{digits}f}", value=float(value))


def commands(evaluation: Evaluation, page: str) -> list[tuple[str, str]]:
    """The command lines, in order, each with what it makes; secrets hidden, always."""
    dataset = str(evaluation.dataset.get("name") or "DATASET")
    lines = [(f"Run: {run.label}", _predict(run, dataset)) for run in evaluation.runs]
    for manifest in evaluation.manifests:
        if manifest.command:
            lines.append(("Scores", shlex.join(_shown(manifest.command))))
    made = [_out(manifest.command) for manifest in evaluation.manifests]
    lines.append(("This page", shlex.join(["clinqa", "report", *made, "-o", page])))
    return lines


def _predict(run: Run, dataset: str) -> str:
    stated = run.about.get("command")
    if isinstance(stated, Sequence) and not isinstance(stated, str) and stated:
        return shlex.join(_shown([str(word) for word in stated]))
    words = ["clinqa", "predict", dataset, "--model", run.model, "--shots", str(run.shots)]
    words += ["--repeats", str(run.repeats)]
    if run.about.get("seed") is not None:
        words += ["--seed", str(run.about["seed"])]
    return shlex.join(str(redact(word)) for word in [*words, "--out", "RUN"])


def _out(command: Sequence[str]) -> str:
    """The folder that a command wrote, or SCORES where it does not say."""
    for option, value in pairwise([*command, ""]):
        if option == "--out" and value:
            return value
        if option.startswith("--out="):
            return option.removeprefix("--out=")
    return "SCORES"


def _shown(command: Sequence[str]) -> list[str]:
    """The command line without secrets. The name of a variable (`--api-key-env NAME`) is none;
    where a manifest hid it, NAME stands in its place.

    >>> _shown(["clinqa", "--api-key-env", "MY_KEY", "--api-key", "abc", "--api-key-env=***"])
    ['clinqa', '--api-key-env', 'MY_KEY', '--api-key', '***', '--api-key-env=NAME']
    """
    shown = redact_command(command)
    for place, word in enumerate(shown):
        if word == HIDDEN and place and shown[place - 1].endswith("-env"):
            shown[place] = "NAME"
        elif word.endswith(f"-env={HIDDEN}"):
            shown[place] = word.removesuffix(HIDDEN) + "NAME"
    return shown
