"""SCORES folders read into one evaluation: runs in their order, figures by key, tests by pair.

What the folders hold was written by clinqa, but may have been edited since: a key of the wrong kind
is an error that names the file and the key, and never quotes a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from clinqa.core.errors import CheckFailed, ConfigError, SourceError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.inputs import read_parquet
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.origin import origin_of
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import DataClass, inherit
from clinqa.kinds.facets.shows import GROUPS, Evaluation, ShownRun, Shows
from clinqa.kinds.registry import kind_named, kinds
from clinqa.present.audit.read import Audit, is_audit, read_audit, record_of
from clinqa.present.plain import PLAIN

__all__ = ["Read", "read_folders", "read_one"]

SCORES, ITEMS = "scores.json", "items.parquet"
_CLASSES = {each.value: each for each in DataClass}
_Record = TypeVar("_Record")
Read = tuple[Evaluation, Audit | None, Shows]


def read_folders(folders: Sequence[Path]) -> Read:
    """What SCORES folders hold, the AUDIT among them if any, and how their kind is shown.

    Raises ConfigError for folders that do not go together, SourceError and CheckFailed for what
    is not as it was made.
    """
    audits = [folder for folder in folders if is_audit(folder)]
    folders = [folder for folder in folders if folder not in audits]
    if len(audits) > 1:
        raise ConfigError(f"{audits[1]}: a page holds one audit; report each by itself")
    if not folders:
        raise ConfigError("no SCORES folder given; an audit is reported beside scores of its runs")
    merged, *parts = (read_one(folder) for folder in folders)
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
    audit = read_audit(audits[0])
    _same_dataset(audits[0], merged.dataset, audit.meta["dataset"])
    both = (*merged.manifests, audit.manifest)
    strict = _strictest([merged.data_class, audit.manifest.data_class])
    origin = origin_of(both)
    return replace(merged, manifests=both, data_class=strict, origin=origin), audit, shows


def _shown_by(meta: Mapping[str, Any]) -> Shows:
    """The facet of the kind that the scores say they are of, or the plain page."""
    if "kind" in meta:
        kind = kind_named(str(meta["kind"]))
        return kind.facet("shows") if kind.has("shows") else PLAIN
    facets = (kind.facet("shows") for kind in kinds() if kind.has("shows"))
    return next((facet for facet in facets if facet.unmarked), PLAIN)


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
    meta = data.get("meta") or {}
    if not isinstance(meta, dict):
        raise SourceError(f"{path}: meta is not an object; score again")
    dataset = meta.get("dataset") or {}
    index: dict[Any, tuple[Figure, ...]] = {}
    for figure in _records(path, data, "figures", Figure):
        key = (figure.run, figure.metric, tuple(sorted(figure.subset.items())))
        index[key] = (*index.get(key, ()), figure)
    return Evaluation(
        runs=_runs([found[0] for found in index.values()], meta.get("runs") or ()),
        figures=index,
        tests=tuple(_records(path, data, "tests", PairedTest)),
        dataset=dataset,
        meta=meta,
        metas=(meta,),
        manifests=(manifest,),
        data_class=_strictest([manifest.data_class, str(dataset.get("data_class") or "public")]),
        items=_items(folder / ITEMS),
        origin=manifest.origin,
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


def _items(path: Path) -> pa.Table | None:
    if not path.is_file():
        return None
    return read_parquet(path, advice="score again", error=SourceError)


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
        data_class=_strictest([one.data_class, two.data_class]),
        origin=origin_of([one, two]),
        items=pa.concat_tables(items, promote_options="permissive") if items else None,
        warnings=tuple(dict.fromkeys((*one.warnings, *two.warnings))),
    )


def _pair(test: PairedTest) -> tuple[frozenset[str], str, str]:
    return frozenset((test.a, test.b)), test.metric, test.signature


def _strictest(classes: Iterable[str]) -> str:
    """The strictest of the classes; an unknown word counts as the strictest there is."""
    return inherit(_CLASSES.get(one, DataClass.PHI) for one in classes).value
