"""SCORES folders read into one evaluation: runs in their order, figures by key, tests by pair.

What the folders hold was written by clinqa, but may have been edited since: a key of the wrong kind
is an error that names the file and the key, and never quotes a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.figures import Figure, PairedTest, signed
from clinqa.core.finished import SCORES, Finished, change_warnings, mark_of, open_finished
from clinqa.core.origin import origin_of
from clinqa.core.records import DataClass, strictest
from clinqa.kinds.facets.shows import GROUPS, Evaluation, ShownRun, Shows
from clinqa.kinds.registry import kind_named, kinds
from clinqa.present.audit.read import Audit, is_audit, read_audit, record_of
from clinqa.present.plain import PLAIN

__all__ = ["Read", "read_folders", "read_one"]

FIGURES, ITEMS = "scores.json", "items.parquet"
_CLASSES = frozenset(DataClass)
_Record = TypeVar("_Record")
Read = tuple[Evaluation, Audit | None, Shows]


def read_folders(folders: Sequence[Path], *, accept: bool = False) -> Read:
    """What SCORES folders hold, the AUDIT among them if any, and how their kind is shown. With
    `accept`, of files that changed too, and a warning says so.

    Raises ConfigError for folders that do not go together, SourceError and CheckFailed for what
    is not as it was made.
    """
    audits = [folder for folder in folders if is_audit(folder)]
    folders = [folder for folder in folders if folder not in audits]
    if len(audits) > 1:
        raise ConfigError(f"{audits[1]}: a page holds one audit; report each by itself")
    if not folders:
        raise ConfigError("no SCORES folder given; an audit is reported beside scores of its runs")
    merged, *parts = (read_one(folder, accept=accept) for folder in folders)
    shows = _shown_by(merged.meta)
    for folder, part in zip(folders[1:], parts, strict=True):
        alone = shows.alone or _shown_by(part.meta).alone
        if alone:
            raise ConfigError(alone)
        if part.manifests[0].fingerprint in [one.fingerprint for one in merged.manifests]:
            raise ConfigError(f"{folder}: the same scores are given twice; give each folder once")
        _same_dataset(folder, merged.dataset, part.dataset)
        merged = _merged(folder, merged, part)
    merged = replace(merged, names={name.key: name for name in shows.names})
    merged = replace(merged, runs=tuple(shows.named(merged)))
    if not audits:
        return merged, None, shows
    audit = read_audit(audits[0], accept=accept)
    _same_dataset(audits[0], merged.dataset, audit.meta["dataset"])
    both = (*merged.manifests, audit.manifest)
    warnings = (*merged.warnings, *change_warnings(audit.finished.accepted))
    made = replace(
        merged,
        manifests=both,
        data_class=strictest([merged.data_class, audit.finished.data_class]).value,
        origin=origin_of(both),
        warnings=tuple(dict.fromkeys(warnings)),
        reads=(*merged.reads, audit.finished),
    )
    return made, audit, shows


def _shown_by(meta: Mapping[str, Any]) -> Shows:
    """The facet of the kind that the scores say they are of, or the plain page."""
    if "kind" in meta:
        kind = kind_named(str(meta["kind"]))
        return kind.facet("shows") if kind.has("shows") else PLAIN
    facets = (kind.facet("shows") for kind in kinds() if kind.has("shows"))
    return next((facet for facet in facets if facet.unmarked), PLAIN)


_KIND = replace(SCORES, error=SourceError)


def read_one(folder: Path, *, accept: bool = False) -> Evaluation:
    """What one folder holds, as score wrote it."""
    scores = open_finished(folder, _KIND, accept=accept)
    manifest, path = scores.manifest, folder / FIGURES
    data = scores.json(FIGURES, SourceError)
    if not isinstance(data, dict):
        raise SourceError(f"{path}: not an object; score again")
    meta = data.get("meta") or {}
    if not isinstance(meta, dict):
        raise SourceError(f"{path}: meta is not an object; score again")
    dataset = meta.get("dataset") or {}
    said = [str(warning) for warning in meta.get("warnings") or ()]
    index: dict[Any, tuple[Figure, ...]] = {}
    mark = mark_of(list(scores.changed.values()))
    for figure in (signed(one, mark) for one in _records(path, data, "figures", Figure)):
        key = (figure.run, figure.metric, tuple(sorted(figure.subset.items())))
        index[key] = (*index.get(key, ()), figure)
    return Evaluation(
        runs=_runs([found[0] for found in index.values()], meta.get("runs") or ()),
        figures=index,
        tests=tuple(signed(one, mark) for one in _records(path, data, "tests", PairedTest)),
        dataset=dataset,
        meta=meta,
        metas=(meta,),
        manifests=(manifest,),
        data_class=_class_of(path, scores, dataset),
        items=scores.parquet(ITEMS) if ITEMS in scores else None,
        origin=manifest.origin,
        warnings=tuple(dict.fromkeys((*change_warnings(scores.accepted), *said))),
        reads=(scores,),
    )


def _class_of(path: Path, scores: Finished, dataset: Mapping[str, Any]) -> str:
    """The strictest of the folder's and of what its figures say of the dataset."""
    told = str(dataset.get("data_class") or "public")
    if told not in _CLASSES:
        raise SourceError(f"{path}: names no such data class; score again")
    return strictest([scores.data_class, told]).value


def _records(path: Path, data: Mapping[str, Any], key: str, kind: type[_Record]) -> list[_Record]:
    entries = data.get(key, [])
    if not isinstance(entries, list):
        raise SourceError(f"{path}: {key} is not a list; score again")
    made = []
    for number, entry in enumerate(entries):
        try:
            made.append(record_of(kind, entry))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SourceError(
                f"{path}: {key}[{number}] lacks or garbles a key; score again"
            ) from error
    return made


def _runs(figures: Iterable[Figure], described: Any) -> tuple[ShownRun, ...]:
    """The runs that have figures: those that the scorer describes in its order, then others."""
    about = {str(entry.get("run")): dict(entry) for entry in described}
    first: dict[str, Figure] = {}
    for figure in figures:
        first.setdefault(figure.run, figure)
    ordered = [run for run in (*about, *(run for run in first if run not in about)) if run in first]
    return tuple(_run(first[run], at, about.get(run, {})) for at, run in enumerate(ordered, 1))


def _run(figure: Figure, number: int, about: Mapping[str, Any]) -> ShownRun:
    group = "encoder" if figure.model.startswith("encoder:") else str(about.get("group") or "")
    label = str(about.get("name") or figure.run)
    group = group if group in GROUPS else ""
    return ShownRun(figure.run, number, label, figure.model, figure.shots, group, about)


def _same_dataset(folder: Path, first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for key in ("fingerprint", "split"):
        if first.get(key) != other.get(key):
            raise ConfigError(
                f"{folder}: scored on another {'dataset' if key == 'fingerprint' else key}"
                " than the folders before it; figures of different items never share a table."
                " Report them apart"
            )


def _merged(folder: Path, one: Evaluation, two: Evaluation) -> Evaluation:
    figures = dict(one.figures)
    for key, found in two.figures.items():
        known = {figure.signature: figure for figure in figures.get(key, ())}
        for figure in found:
            if known.setdefault(figure.signature, figure) != figure:
                raise ConfigError(
                    f"{folder}: holds run {figure.run[:12]} again with other figures;"
                    " give each run once"
                )
        figures[key] = tuple(known.values())
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
        data_class=strictest([one.data_class, two.data_class]).value,
        origin=origin_of([one, two]),
        items=pa.concat_tables(items, promote_options="permissive") if items else None,
        warnings=tuple(dict.fromkeys((*one.warnings, *two.warnings))),
        reads=(*one.reads, *two.reads),
    )


def _pair(test: PairedTest) -> tuple[frozenset[str], str, str]:
    return frozenset((test.a, test.b)), test.metric, test.signature
