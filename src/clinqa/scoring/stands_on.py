"""The `meta` of scores.json: what the figures stand on, without a word of any record in it.

kind      the kind of the items
dataset   name, fingerprint, data_class, split, items, clinqa, source_sha256; the kind's own
runs      by run: model, shots, what is known of the model, repeats, tokens, seconds, statuses; own
family    the declared tests: metric, pairs, method; `lower` where a low figure is the good one;
          `dangers`, metrics of dangerous errors that stand in it too
interval  how intervals were made
ranking   of kinds that rank: by metric and group of models, best and second best run
scale     by family of models: its runs in order of size, with the primary metric
human     what people's verdicts did to the share that they correct
panel     of kinds with codes: see score panel
missing, warnings; and the kind's own keys

What people are told of a scoring: warnings, the main figures for the terminal, tables.

In the CSV tables figures that were made in two ways never share a column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest
from clinqa.core.origin import with_origin
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.models.families import base_of, facts_of
from clinqa.scoring.families import Family
from clinqa.stats.comparing import FLIPS
from clinqa.stats.design import Design
from clinqa.stats.estimates import RULE
from clinqa.stats.verdicts import ranked as best_first

__all__ = [
    "by_size",
    "lines_of",
    "low_metrics",
    "meta_of",
    "model_facts",
    "rankings_of",
    "tables_of",
    "warnings_of",
]


def meta_of(
    dataset: Dataset,
    kind: str,
    items: SplitItems,
    judged: Mapping[str, Mapping[str, JudgedRun]],
    measures: Measures,
    family: Family,
    figures: Sequence[Figure],
    design: Design,
    lower: Collection[str],
) -> dict[str, Any]:
    """What every kind tells; `judged` are by run and way of reading. A low figure of the metrics
    `lower` is the good one."""
    manifest, wording = dataset.manifest, measures.wording
    every = [one for own in judged.values() for one in own.values()]
    return {
        "kind": kind,
        "dataset": {
            "name": dataset.folder.resolve().name,
            "fingerprint": manifest.fingerprint,
            "data_class": manifest.data_class,
            **with_origin(manifest.origin),
            "split": every[0].run.split if every[0].run else "",
            "items": len(items),
            **measures.about_items(items, every, manifest),
            "clinqa": manifest.clinqa,
            "source_sha256": [record.sha256 for record in manifest.inputs],
        },
        "runs": [_run(list(own.values()), measures) for own in judged.values()],
        "family": {
            "metric": family.primary,
            **({"lower": True} if family.primary in lower else {}),
            "declared": family.declared,
            **({"dangers": list(family.beside)} if family.beside else {}),
            "comparisons": len(family.pairs) * len(family.metrics),
            "alpha": round(1 - design.level, 9),
            "method": wording.test.format(flips=FLIPS),
            "adjusted": wording.adjusted,
        },
        "interval": {
            "level": design.level,
            "method": RULE.replace("clusters", wording.clusters),
            "unit": wording.unit,
            "seed": design.seed,
            **wording.interval,
        },
        "missing": [
            {
                "run": one.run,
                "metric": one.metric,
                "reason": wording.missing if one.n else wording.missing_of_none or wording.missing,
            }
            for one in figures
            if one.value is None and not one.subset and measures.main(one)
        ],
    }


def low_metrics(
    judged: Sequence[JudgedRun], items: SplitItems, measures: Measures
) -> frozenset[str]:
    """The metrics of which a low figure is the good one."""
    parts = (part for one in judged for part in measures.figures(one, items))
    return frozenset(one.name for part in parts for one, _ in part.measures if one.lower)


def _run(judged: Sequence[JudgedRun], measures: Measures) -> dict[str, Any]:
    one, run = judged[0], judged[0].run
    assert run is not None
    manifest = run.manifest
    return {
        "run": run.id,
        "name": run.name,
        "model": run.model,
        "shots": run.shots,
        "adapters": run.adapters,
        "repeats": one.repeats,
        "deterministic": run.deterministic,
        **model_facts(run.model),
        "fingerprint": manifest.fingerprint,
        "items": len(one.items),
        "statuses": {name: n for name, n in one.statuses.items() if n},
        "input_tokens": manifest.details.get("input_tokens"),
        "output_tokens": manifest.details.get("output_tokens"),
        "seconds": manifest.details.get("model_seconds"),
        "versions": dict(manifest.versions),
        "command": list(manifest.command),
        **measures.about_run(judged),
    }


def rankings_of(
    figures: Sequence[Figure],
    runs: Sequence[Mapping[str, Any]],
    ranked: Sequence[str],
    metric: str,
    lower: Collection[str],
) -> dict[str, Any]:
    """Best and second best of each group, whether they differ is for the tests to say; and what
    size does to the metric within a family: its runs with known sizes, smallest first."""
    group = {run["run"]: run["group"] for run in runs}
    found: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.metric in ranked and not figure.subset and figure.value is not None:
            found[figure.metric, group[figure.run], figure.signature].append(figure)
    ranking = []
    for (name, of, _), among in found.items():
        among = best_first(among, lower)
        second = among[1].run if len(among) > 1 else None
        ranking.append({"metric": name, "group": of, "best": among[0].run, "second": second})
    value = {f.run: f.value for f in figures if f.metric == metric and not f.subset}
    return {
        "ranking": ranking,
        "scale": by_size(runs, ("run", "shots", "parameters"), "value", value),
    }


def by_size(
    runs: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    name: str,
    value: Mapping[str, float | None],
) -> dict[str, list[dict[str, Any]]]:
    """By family of models its runs of known sizes, smallest first, with `keys` and a value each."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        if run["family"] and run["parameters"]:
            told = {key: run[key] for key in keys}
            found[run["family"]].append({**told, name: value.get(run["run"])})
    return {
        family: sorted(among, key=lambda one: [one[key] for key in reversed(keys)])
        for family, among in sorted(found.items())
        if len({one["parameters"] for one in among}) > 1
    }


_BILLION = 1e9


def model_facts(name: str) -> dict[str, Any]:
    """Group, family, number of parameters, base model and licence; None where not known.

    >>> model_facts("embedded:smollm2")["group"], model_facts("hf:/somewhere/ours")["group"]
    ('general', None)
    """
    facts = facts_of(name)
    if facts is None:
        return dict.fromkeys(("title", "group", "family", "parameters", "base", "licence"))
    base = base_of(facts)
    return {
        "title": facts.name,
        "group": facts.group,
        "family": facts.family,
        "parameters": facts.parameters * _BILLION if facts.parameters else None,
        "base": None if base is None else base.id,
        "licence": facts.licence,
    }


def warnings_of(
    items: SplitItems,
    judged: Mapping[str, Mapping[str, JudgedRun]],
    votes: Sequence[JudgedRun],
    measures: Measures,
    manifest: Manifest,
    figures: Sequence[Figure],
    meta: Mapping[str, Any],
    *,
    limited: bool,
) -> Iterator[str]:
    """What a reader should know before trusting a figure; counts only."""
    yield from measures.warns_of_items(items)
    for own in judged.values():
        run, *_ = ways = list(own.values())
        if len(run.items) < len(items):
            yield (
                f"{run.name}: was asked {len(run.items):,} of the {len(items):,} items; its "
                "figures are of those"
            )
        if run.unknown and not limited:
            yield f"{run.name}: {run.unknown:,} answers to items not in the split"
        yield from _of_statuses(run, measures.wording.none)
        yield from measures.warns_of_run(ways)
    every = [one for own in judged.values() for one in own.values()]
    yield from measures.warns_of_all(every, manifest, meta)
    yield from measures.contradicts(figures, [*every, *votes])


def _of_statuses(run: JudgedRun, are: str) -> Iterator[str]:
    """That some answers are none, by status, and what figures make of them. `are` words what they
    lack."""
    others = {status: n for status, n in run.statuses.items() if status != "answered" and n}
    if others:
        told = ", ".join(f"{status} {n:,}" for status, n in sorted(others.items()))
        yield (
            f"{run.name}: {sum(others.values()):,} of {run.answers:,} answers {are} ({told}); "
            "figures of all items count them as wrong, figures of answered ones leave them out"
        )


def lines_of(figures: Sequence[Figure], measures: Measures, primary: str) -> list[str]:
    """The main figures of each run that have a value, with intervals where there are any."""
    lines = []
    for metric in dict.fromkeys((primary, *measures.lines)):
        found = [
            one
            for one in figures
            if one.metric == metric and not one.subset and one.value is not None
            if measures.main(one)
        ]
        unequal = len({one.n for one in found}) > 1  # no figure of other items without its n
        for one in found:
            way = one.signature.split("|")[2] if measures.ways[1:] else ""
            label = measures.wording.label.format(metric=metric, run=one.run, way=way)
            known = one.low is not None and one.high is not None
            bounds = f"  [{one.low:.3f}, {one.high:.3f}]" if known else ""
            size = f"  n {one.n:,}" if unequal else ""
            lines.append(f"{label} {one.value:.3f}{bounds}{size}")
    return lines


_ALL = "overall"
_VALUES = ("value", "low", "high", "n", "clusters", "signature")
_TEST = (
    *("a", "b", "metric", "difference", "low", "high", "p", "p_holm", "n", "clusters"),
    "signature",
)


def tables_of(
    figures: Sequence[Figure], tests: Sequence[PairedTest], measures: Measures
) -> dict[str, str]:
    """The tables of figures and tests by file name."""
    wide = measures.tables.wide
    made = _wide_tables(figures, measures.wording.drawn) if wide else _tables(figures, measures)
    made["tests.csv"] = csv_text(_TEST, [[getattr(test, name) for name in _TEST] for test in tests])
    return made


def _tables(figures: Sequence[Figure], measures: Measures) -> dict[str, str]:
    """A row a figure, with its subset and its signature."""
    told = measures.tables
    way = [told.way] if told.way else []
    header = ("run", "model", "shots", *way, *told.keys, "metric", *_VALUES)

    def table(chosen: Iterable[Figure]) -> str:
        rows: list[list[object]] = []
        for one in chosen:
            row: list[object] = [one.run, one.model, one.shots]
            row += [one.signature.split("|")[2] for _ in way]
            row += [one.subset.get(key, "") for key in told.keys]
            rows.append([*row, one.metric, *(getattr(one, name) for name in _VALUES)])
        return csv_text(header, rows)

    made = {f"{_ALL}.csv": table(one for one in figures if not one.subset)}
    for name, key in told.files.items():
        made[name] = table(one for one in figures if key in one.subset)
    return made


def _wide_tables(figures: Sequence[Figure], drawn: str) -> dict[str, str]:
    """A row a run, a column a metric; a metric computed in two ways has two columns."""
    by_key: dict[str, list[Figure]] = {_ALL: []}
    for figure in figures:
        key = next(iter(figure.subset), "")
        by_key.setdefault(f"by_{key}" if key else _ALL, []).append(figure)
    made: dict[str, str] = {}
    named: list[tuple[str, str, str]] = []
    for name, found in by_key.items():
        columns = _columns(found)
        named += [(name, column, signature) for (_, signature), column in columns.items()]
        made[f"{name}.csv"] = _wide_table(found, columns, name.removeprefix("by_"), drawn)
    made["signatures.csv"] = csv_text(("table", "column", "signature"), named)
    return made


def _columns(figures: Iterable[Figure]) -> dict[tuple[str, str], str]:
    """The column of each metric and signature."""
    columns: dict[tuple[str, str], str] = {}
    ways: dict[str, int] = {}
    for figure in figures:
        key = (figure.metric, figure.signature)
        if key not in columns:
            ways[figure.metric] = way = ways.get(figure.metric, 0) + 1
            columns[key] = figure.metric if way == 1 else f"{figure.metric}_{way}"
    return columns


def _wide_table(
    figures: Sequence[Figure], columns: dict[tuple[str, str], str], key: str, drawn: str
) -> str:
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for figure in figures:
        row = rows.setdefault((figure.run, figure.subset.get(key, "")), {})
        row[columns[figure.metric, figure.signature]] = figure
    own = [key] if key != _ALL else []
    header = ["run", "model", "shots", *own, drawn]
    header += [f"{one}{part}" for one in columns.values() for part in ("", "_low", "_high", "_n")]
    lines: list[list[object]] = []
    for (run, value), found in rows.items():
        one = next(iter(found.values()))
        line: list[object] = [run, one.model, one.shots, *(value for _ in own)]
        line.append(max(figure.clusters for figure in found.values()))
        for column in columns.values():
            f = found.get(column)
            line += [None] * 4 if f is None else [f.value, f.low, f.high, f.n]
        lines.append(line)
    return csv_text(header, lines)
