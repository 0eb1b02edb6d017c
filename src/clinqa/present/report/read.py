"""SCORES folders read into one evaluation: runs in their order, figures by key, tests by pair.

What the folders hold was written by clinqa, but may have been edited since: a key of the wrong kind
is an error that names the file and the key, and never quotes a value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import CheckFailed, ConfigError, SourceError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.records import DataClass
from clinqa.kinds.long_form.levels import plain_name
from clinqa.present.report.fairness.read import Audit, is_audit, read_audit
from clinqa.present.report.words import GROUPS

__all__ = ["Evaluation", "Run", "read_one", "read_scores"]

SCORES, ITEMS, MANIFEST = "scores.json", "items.parquet", "manifest.json"
_CLASSES = tuple(each.value for each in DataClass)  # from public to phi
_GROUP_ORDER = {key: number for number, (key, _) in enumerate(GROUPS)}

Subset = tuple[tuple[str, str], ...]


_NAME = 16  # letters of a folder's name in a label


@dataclass(frozen=True, slots=True)
class Run:
    """One model asked in one way. `about` is what the scorer knows of it beyond these."""

    id: str
    model: str
    shots: int
    label: str
    group: str = ""
    family: str = ""
    repeats: int = 1
    varied: str = ""
    deterministic: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything the page is made from; nothing here is text of a record but `items`."""

    runs: tuple[Run, ...]
    figures: Mapping[tuple[str, str, Subset], tuple[Figure, ...]]
    tests: tuple[PairedTest, ...]
    dataset: Mapping[str, Any]
    meta: Mapping[str, Any]
    metas: tuple[Mapping[str, Any], ...]
    manifests: tuple[Manifest, ...]
    data_class: str
    items: pa.Table | None
    warnings: tuple[str, ...] = ()
    audit: Audit | None = None

    def figure(
        self, run: str, metric: str, signature: str | None = None, **subset: str
    ) -> Figure | None:
        """A figure; with a signature only one that was computed so."""
        found = self.figures.get((run, metric, tuple(sorted(subset.items()))), ())
        for figure in found:
            if signature is None or figure.signature == signature:
                return figure
        return None

    def signatures(self, metric: str) -> list[str]:
        """The ways in which a metric was computed, over all runs and items."""
        seen: dict[str, None] = {}
        for run in self.runs:
            for figure in self.figures.get((run.id, metric, ()), ()):
                seen.setdefault(figure.signature)
        return list(seen)

    def subsets(self, key: str) -> list[str]:
        """The values figures were given for, in their own order."""
        found = {
            subset[0][1]
            for _, _, subset in self.figures
            if len(subset) == 1 and subset[0][0] == key
        }
        return sorted(found, key=_level_order if key == "level" else str)

    def name(self, abnormality: str) -> str:
        """What the pack calls an abnormality."""
        names = self.meta.get("names") or {}
        return str(names.get(abnormality) or plain_name(abnormality))

    def reason(self, run: str, metric: str) -> str:
        """Why a figure is missing."""
        for meta in self.metas:
            for entry in meta.get("missing") or ():
                if entry.get("run") == run and entry.get("metric") == metric:
                    return str(entry.get("reason", ""))
        return "not computed for this run"

    def spread(self, run: str, metric: str) -> Mapping[str, Any] | None:
        """The spread of a figure over the repeats of a run."""
        for meta in self.metas:
            for entry in meta.get("spreads") or ():
                if entry.get("run") == run and entry.get("metric") == metric:
                    return dict(entry)
        return None


def read_scores(folders: Sequence[Path]) -> Evaluation:
    """The evaluation that one or more SCORES folders hold, with the AUDIT among them if any."""
    audits = [folder for folder in folders if is_audit(folder)]
    folders = [folder for folder in folders if folder not in audits]
    if len(audits) > 1:
        raise ConfigError(f"{audits[1]}: a page holds one audit; report each by itself")
    if not folders:
        raise ConfigError("no SCORES folder given; an audit is reported beside scores of its runs")
    parts = [read_one(folder) for folder in folders]
    prints = [part.manifests[0].fingerprint for part in parts]
    for number, (folder, made) in enumerate(zip(folders, prints, strict=True)):
        if made in prints[:number]:
            raise ConfigError(f"{folder}: the same scores are given twice; give each folder once")
    first = parts[0]
    for folder, part in zip(folders[1:], parts[1:], strict=True):
        same_dataset(folder, first.dataset, part.dataset)
    merged = first
    for folder, part in zip(folders[1:], parts[1:], strict=True):
        merged = _merge(folder, merged, part)
    merged = replace(merged, runs=_labelled(merged.runs))
    return _with_audit(merged, audits[0]) if audits else merged


def _with_audit(evaluation: Evaluation, folder: Path) -> Evaluation:
    """The same with an audit of its dataset; the page is as private as the stricter of the two."""
    audit = read_audit(folder)
    same_dataset(folder, evaluation.dataset, audit.meta["dataset"])
    return replace(
        evaluation,
        audit=audit,
        manifests=(*evaluation.manifests, audit.manifest),
        data_class=strictest([evaluation.data_class, audit.manifest.data_class]),
    )


def read_one(folder: Path) -> Evaluation:
    """What one folder holds, as score wrote it."""
    manifest_path = folder / MANIFEST
    if not manifest_path.is_file():
        raise SourceError(f"{folder}: no {MANIFEST}; not a finished folder of clinqa score")
    manifest = Manifest.read(manifest_path)
    if manifest.verb != "score":
        raise SourceError(f"{folder}: not a folder of clinqa score (made by {manifest.verb!r})")
    path = folder / SCORES
    _check_files(folder, manifest)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: cannot be read; score again") from error
    if not isinstance(data, dict):
        raise SourceError(f"{path}: not an object; score again")
    figures = [_figure(path, entry, n) for n, entry in enumerate(_list(path, data, "figures"))]
    tests = [_test(path, entry, n) for n, entry in enumerate(_list(path, data, "tests"))]
    meta = data.get("meta") or {}
    if not isinstance(meta, dict):
        raise SourceError(f"{path}: meta is not an object; score again")
    dataset = meta.get("dataset") or {}
    index: dict[tuple[str, str, Subset], tuple[Figure, ...]] = {}
    for figure in figures:
        key = (figure.run, figure.metric, tuple(sorted(figure.subset.items())))
        index[key] = (*index.get(key, ()), figure)
    return Evaluation(
        runs=_runs(figures, meta.get("runs") or ()),
        figures=index,
        tests=tuple(tests),
        dataset=dataset,
        meta=meta,
        metas=(meta,),
        manifests=(manifest,),
        data_class=strictest([manifest.data_class, str(dataset.get("data_class") or "public")]),
        items=_items(folder / ITEMS),
        warnings=tuple(str(warning) for warning in meta.get("warnings") or ()),
    )


def _check_files(folder: Path, manifest: Manifest) -> None:
    """What the page is made of is what score wrote."""
    stated = {record.name: record.sha256 for record in manifest.outputs}
    for name in (SCORES, ITEMS):
        path = folder / name
        if not path.is_file():
            if name == SCORES or name in stated:
                raise SourceError(f"{path}: missing; score again")
            continue
        if name not in stated:
            raise CheckFailed(f"{path}: its manifest does not list it; score again")
        if sha256_file(path) != stated[name]:
            raise CheckFailed(f"{path}: changed since it was made (SHA-256); score again")


def _list(path: Path, data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise SourceError(f"{path}: {key} is not a list; score again")
    return value


def _figure(path: Path, entry: Any, number: int) -> Figure:
    try:
        return Figure(
            run=str(entry["run"]),
            model=str(entry["model"]),
            shots=int(entry["shots"]),
            metric=str(entry["metric"]),
            value=_number(entry["value"]),
            low=_number(entry.get("low")),
            high=_number(entry.get("high")),
            n=int(entry["n"]),
            clusters=int(entry["clusters"]),
            signature=str(entry["signature"]),
            subset={str(k): str(v) for k, v in (entry.get("subset") or {}).items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"{path}: figures[{number}] lacks or garbles a key; score again"
        ) from error


def _test(path: Path, entry: Any, number: int) -> PairedTest:
    try:
        return PairedTest(
            a=str(entry["a"]),
            b=str(entry["b"]),
            metric=str(entry["metric"]),
            difference=float(entry["difference"]),
            low=float(entry["low"]),
            high=float(entry["high"]),
            p=float(entry["p"]),
            p_holm=_number(entry.get("p_holm")),
            n=int(entry.get("n", 0)),
            clusters=int(entry.get("clusters", 0)),
            signature=str(entry.get("signature", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(f"{path}: tests[{number}] lacks or garbles a key; score again") from error


def _number(value: Any) -> float | None:
    """A finite number or None: JSON has no NaN, and a page that prints one is wrong."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _runs(figures: Iterable[Figure], described: Iterable[Mapping[str, Any]]) -> tuple[Run, ...]:
    about = {str(entry.get("run")): dict(entry) for entry in described}
    runs: dict[str, Run] = {}
    for figure in figures:
        if figure.run in runs:
            continue
        known = about.get(figure.run, {})
        group = str(known.get("group") or "")
        runs[figure.run] = Run(
            id=figure.run,
            model=figure.model,
            shots=figure.shots,
            label=figure.model,
            group=group if group in _GROUP_ORDER else "",
            family=str(known.get("family") or ""),
            repeats=int(known.get("repeats") or 1),
            varied=str(known.get("vary") or ""),
            deterministic=bool(known.get("deterministic")) or _greedy_once(known),
            about=known,
        )
    return tuple(runs.values())


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


def _items(path: Path) -> pa.Table | None:
    if not path.is_file():
        return None
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{path}: cannot be read as Parquet; score again") from error


def same_dataset(folder: Path, first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for key in ("fingerprint", "split"):
        if first.get(key) != other.get(key):
            raise ConfigError(
                f"{folder}: scored on another {'dataset' if key == 'fingerprint' else key}"
                " than the folders before it; figures of different items never share a table."
                " Report them apart"
            )


def _merge(folder: Path, one: Evaluation, two: Evaluation) -> Evaluation:
    figures = dict(one.figures)
    for key, found in two.figures.items():
        known = figures.get(key, ())
        for figure in found:
            clash = [f for f in known if f.signature == figure.signature]
            if clash and clash[0] != figure:
                raise ConfigError(
                    f"{folder}: holds run {figure.run[:12]} again with other figures;"
                    " give each run once"
                )
            if not clash:
                figures[key] = (*figures.get(key, ()), figure)
    there = {run.id for run in one.runs}
    pairs = {_pair(test) for test in one.tests}
    items = [table for table in (one.items, two.items) if table is not None]
    return replace(
        one,
        runs=(*one.runs, *(run for run in two.runs if run.id not in there)),
        figures=figures,
        tests=(*one.tests, *(test for test in two.tests if _pair(test) not in pairs)),
        metas=(*one.metas, *two.metas),
        manifests=(*one.manifests, *two.manifests),
        data_class=strictest([one.data_class, two.data_class]),
        items=pa.concat_tables(items, promote_options="permissive") if items else None,
        warnings=tuple(dict.fromkeys((*one.warnings, *two.warnings))),
    )


def _pair(test: PairedTest) -> tuple[frozenset[str], str, str]:
    return frozenset((test.a, test.b)), test.metric, test.signature


def strictest(classes: Iterable[str]) -> str:
    """The strictest of the classes; an unknown word counts as the strictest there is."""
    ranks = [_CLASSES.index(c) if c in _CLASSES else len(_CLASSES) - 1 for c in classes]
    return _CLASSES[max(ranks)]


def _labelled(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs in the order of every table, each with a label no other has."""
    ordered = sorted(runs, key=_run_order)
    plain = [_label(run) for run in ordered]
    names = [str(run.about.get("name") or run.id) for run in ordered]
    named = []
    for run, label, name in zip(ordered, plain, names, strict=True):
        if plain.count(label) > 1:
            own = name if names.count(name) == 1 and len(name) <= _NAME else run.id[:8]
            label = f"{label}, run {own}"
        named.append(replace(run, label=label))
    return tuple(named)


def _label(run: Run) -> str:
    return f"{run.model}{' + adapter' if run.about.get('adapters') else ''}, {run.shots}-shot"


def _run_order(run: Run) -> tuple[int, str, float, str, int, str]:
    size = _number(run.about.get("parameters") or 0) or 0.0
    group = _GROUP_ORDER.get(run.group, len(_GROUP_ORDER))
    return group, run.family or run.model, size, run.model, run.shots, run.id


def _level_order(level: str) -> tuple[int, int]:
    """Normal first, then rising severity, then what has no degree (as every figure of ours)."""
    order = ("0", "-1", "1", "2", "3", "-2", "-3", "-50")
    return (order.index(level), 0) if level in order else (len(order), 0)
