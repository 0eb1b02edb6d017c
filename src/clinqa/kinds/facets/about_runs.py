"""What was evaluated, on what, how fast, and how to do it again: of scores of any kind."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from clinqa.core.redaction import HIDDEN, redact, redact_command
from clinqa.core.wording import MISSING, count, percent, short_hash
from clinqa.kinds.facets.figure_tables import grid_of_runs
from clinqa.kinds.facets.pages import (
    FactList,
    Grid,
    GridCell,
    GridColumn,
    PageSection,
    Prose,
    ShellLine,
    Styled,
)
from clinqa.kinds.facets.shows import Evaluation, ShownRun

__all__ = [
    "about_facts",
    "commands",
    "costs",
    "how_computed",
    "number",
    "run_table",
    "size",
    "spread_words",
]

_NOT_RECORDED = "not known, or not recorded"


def about_facts(evaluation: Evaluation) -> FactList:
    """What the questions come from, and how figures and intervals were made; what is known."""
    facts = [*_dataset_facts(evaluation), *_scoring_facts(evaluation)]
    facts.append(("Versions", _versions(evaluation)))
    hashed = ("Fingerprint", "Scores", "Source files (SHA-256)")
    return FactList(
        [
            (name, (Styled(str(value), "hash"),) if name in hashed else str(value))
            for name, value in facts
            if value
        ]
    )


def _dataset_facts(evaluation: Evaluation) -> list[tuple[str, Any]]:
    about = evaluation.dataset
    sources = about.get("source_sha256") or ()
    return [
        ("Dataset", about.get("name")),
        ("Fingerprint", about.get("fingerprint")),
        ("Data class", evaluation.data_class),
        ("Origin", evaluation.origin),
        ("Split", about.get("split")),
        ("Items of the split", _number(about.get("items"))),
        ("Patients of the split", _number(about.get("patients"))),
        ("Items scored", _number(about.get("items_scored"))),
        ("Patients scored", _number(about.get("patients_scored"))),
        ("Label pack", about.get("pack")),
        ("Built by", _version(about.get("clinqa"))),
        ("Source files (SHA-256)", ", ".join(str(sha) for sha in sources)),
    ]


def _scoring_facts(evaluation: Evaluation) -> list[tuple[str, Any]]:
    """How the figures and their intervals were made."""
    drawn = evaluation.meta.get("interval") or {}
    family = evaluation.meta.get("family") or {}
    short, metric = evaluation.meta.get("short_references"), str(family.get("metric") or "")
    share = float(drawn.get("level") or 0.95)
    pairs = family.get("comparisons")
    parts = [
        str(drawn.get("method") or ""),
        f"by {drawn['unit']}" if drawn.get("unit") else "",
    ]
    declared = [
        f"primary metric {evaluation.metric_name(metric)}" if metric else "",
        f"{pairs} {'pair' if pairs == 1 else 'pairs'} of runs" if pairs else "",
        str(family.get("method") or ""),
        str(family.get("adjusted") or ("adjusted after Holm" if family else "")),
    ]
    prints = ", ".join(dict.fromkeys(m.fingerprint for m in evaluation.manifests))
    return [
        ("Scores", prints),
        ("Scored by", ", ".join(dict.fromkeys(_version(m.clinqa) for m in evaluation.manifests))),
        (f"Intervals ({100 * share:.0f}\u00a0%)", ", ".join(filter(None, parts))),
        ("Paired tests", ", ".join(filter(None, declared))),
        ("References under four tokens", percent(float(short)) if short is not None else ""),
    ]


def _version(version: Any) -> str:
    return f"clinqa {version}" if version else ""


def _number(value: Any) -> str:
    return count(value) if isinstance(value, int) else ""


def _versions(evaluation: Evaluation) -> str:
    """Library versions that change results, of scoring and of the runs."""
    found: dict[str, set[str]] = {}
    stated: list[Mapping[str, Any]] = [m.versions for m in evaluation.manifests]
    stated += [run.about.get("versions") or {} for run in evaluation.runs]
    for part in stated:
        for name, version in part.items():
            found.setdefault(str(name), set()).add(str(version))
    return ", ".join(f"{name} {' and '.join(sorted(found[name]))}" for name in sorted(found))


def run_table(evaluation: Evaluation) -> Grid:
    """A row a run: what was asked, how, and the fingerprint of its folder."""

    def cells(run: ShownRun) -> list[GridCell]:
        about = run.about
        return [
            GridCell(str(about.get("name") or run.id)),
            _cell(about.get("family")),
            _cell(size(about.get("parameters"))),
            _cell(about.get("licence")),
            GridCell(", ".join(map(str, about.get("adapters") or ())) or "none"),
            GridCell(spread_words(run)),
            _cell(_sampling(about.get("sampling"))),
            _cell(about.get("seed")),
            _cell(short_hash(str(about.get("fingerprint") or ""))),
        ]

    titles = (
        "Run", "Family", "Parameters", "Licence", "Adapter", "Repeats", "Sampling", "Seed",
        "Fingerprint",
    )  # fmt: skip
    columns = [GridColumn(t.lower().replace(" ", "_"), t, numeric=False) for t in titles]
    return grid_of_runs(evaluation, "runs", "The runs", columns, cells, meanings=False)


def spread_words(run: ShownRun) -> str:
    """How often a run was repeated and what varied; one deterministic pass has no spread.

    >>> spread_words(ShownRun("r", 1, "m", about={"deterministic": True}))
    '1, deterministic'
    """
    repeats, vary = _repeats(run), str(run.about.get("vary") or "")
    if run.about.get("deterministic") or _greedy_once(run.about):
        return f"{repeats}, deterministic"
    if repeats == 1:
        return "1"
    varied = {"training-seed": "training seed"}.get(vary, vary)
    return f"{repeats}, {varied} varied" if varied else str(repeats)


def _repeats(run: ShownRun) -> int:
    return int(run.about.get("repeats") or 1)


def _greedy_once(known: Mapping[str, Any]) -> bool:
    """Asked once, without shots, nothing drawn: the same again on the same machine and versions.

    A service may change beneath its name, so a closed model is never called deterministic.
    """
    sampling = known.get("sampling") or {}
    return (
        known.get("repeats") == 1
        and known.get("shots") == 0
        and sampling.get("temperature") == 0
        and known.get("group") not in (None, "closed")
    )


def _cell(value: Any) -> GridCell:
    text = "" if value is None else str(value)
    return GridCell(text) if text else GridCell(MISSING, reason=_NOT_RECORDED)


def size(parameters: Any) -> str:
    r"""A number of parameters as people say it; a small number is of billions.

    >>> size(135_000_000), size(7e9), size(0.27), size("8B"), size(0)
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


def costs(evaluation: Evaluation) -> Grid | None:
    """Tokens and seconds of each run. Nothing where no run recorded any."""
    if not any(run.about.get("seconds") is not None for run in evaluation.runs):
        return None
    columns = (
        GridColumn("answers", "Answers", "items × repeats"),
        GridColumn("input_tokens", "Tokens in"),
        GridColumn("output_tokens", "Tokens out"),
        GridColumn("wall_seconds", "Wall clock, s", "the whole run, loading included"),
        GridColumn("answer_milliseconds", "Per answer, ms", "the model's own time, mean"),
        GridColumn("output_tokens_per_second", "Tokens out a second",
                   "of wall clock, else model time"),
    )  # fmt: skip
    caption = "Speed and tokens as recorded by the runs"
    return grid_of_runs(evaluation, "costs", caption, columns, _cost_cells)


def _cost_cells(run: ShownRun) -> tuple[GridCell, ...]:
    about = run.about
    items = about.get("items")
    answers = items * _repeats(run) if isinstance(items, int) else None
    taken, wall = number(about.get("seconds")), number(about.get("wall_seconds"))
    tokens = number(about.get("output_tokens"))
    clock = wall or taken
    return (
        _measure(answers, 0),
        _measure(number(about.get("input_tokens")), 0),
        _measure(tokens, 0),
        _measure(wall, 1),
        _measure(1000 * taken / answers if taken is not None and answers else None, 1),
        _measure(tokens / clock if tokens and clock else None, 1),
    )


def number(value: Any) -> float | None:
    """A number of a JSON file, or none."""
    return float(value) if isinstance(value, int | float) else None


def _measure(value: float | None, digits: int) -> GridCell:
    if value is None:
        return GridCell(MISSING, reason=_NOT_RECORDED)
    return GridCell(f"{value:,.{digits}f}", value=float(value))


def commands(evaluation: Evaluation, page: str) -> list[Prose | ShellLine]:
    """The command lines, in order, each with what it makes; secrets hidden, always."""
    dataset = str(evaluation.dataset.get("name") or "DATASET")
    lines = [(f"Run: {run.label}", _predict(run, dataset)) for run in evaluation.runs]
    for manifest in evaluation.manifests:
        if manifest.command:
            lines.append(("Scores", shlex.join(_shown(manifest.command))))
    made = [_out(manifest.command) for manifest in evaluation.manifests]
    lines.append(("This page", shlex.join(["clinqa", "report", *made, "-o", page])))
    return [block for name, line in lines for block in (Prose(name, "lead"), ShellLine(line))]


def _predict(run: ShownRun, dataset: str) -> str:
    stated = run.about.get("command")
    if isinstance(stated, Sequence) and not isinstance(stated, str) and stated:
        return shlex.join(_shown([str(word) for word in stated]))
    words = ["clinqa", "predict", dataset, "--model", run.model, "--shots", str(run.shots)]
    words += ["--repeats", str(_repeats(run))]
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


def how_computed(
    evaluation: Evaluation, page: str, unit: str, how: Callable[[Mapping[str, Any]], str]
) -> PageSection:
    """The last section: intervals, each run in a line of `how`, and the command of the page."""
    drawn = evaluation.meta["interval"]
    facts = [
        (
            "Intervals",
            f"{drawn['method']}, {unit.format(drawn['unit'])}",
        )
    ]
    for run in evaluation.runs:
        about = run.about
        tuned = f", adapter {', '.join(about['adapters'])}" if about.get("adapters") else ""
        facts.append((run.numbered, f"{about['model']}{tuned}; {how(about)}"))
    line = " ".join(("clinqa", "report", "SCORES", "-o", page))
    return PageSection("how", "How it was computed", [FactList(facts), ShellLine(line)])
