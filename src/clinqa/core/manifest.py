"""The manifest of a finished folder: what was made, from what, how, and whether it adds up.

A folder is complete exactly when its `manifest.json` exists; it is written last, by rename. Its
`seal` is a hash over everything else that stands in it: a manifest that says what its seal does
not was edited, and is refused. It is no secret and no signature. Who may write the folder can make
the seal anew; it finds slips, and edits by people who don't set out to deceive.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.hashing import sha256_file
from clinqa.core.origin import with_origin
from clinqa.core.pathnames import told_name
from clinqa.core.records import DataClass
from clinqa.core.redaction import redact, redact_command
from clinqa.core.strict_json import strict_json

__all__ = [
    "FORMAT",
    "NOT_IDENTITY",
    "TOOL",
    "AcceptedChange",
    "FileRecord",
    "Manifest",
    "StageCounts",
    "differences",
    "fingerprint",
    "identity_of",
    "library_versions",
    "seal_of",
]

FORMAT = "clinqa-manifest/2"
TOOL = "clinqa"

NOT_IDENTITY: Mapping[str, str] = {
    "inputs.path": "where an input lies; its SHA-256 is identity",
    "out": "where the output lies",
    "times": "when it ran and for how long",
    "workers": "number of processes or threads; rows do not depend on it",
    "engine": "how rows are computed; every engine gives the same rows",
    "order": "order of inputs, files and rows; rows are compared after sorting by id",
    "progress": "what is shown while it runs",
    "service": "how fast, how patiently and for how much money a model is asked; on what device",
    "verb_flags": "--json, --dry-run, --fresh, --plot: they change no row",
}
"""What two runs may differ in and still be the same run, each with the reason."""

_INCIDENTAL_KEYS = frozenset(
    {"path", "paths", "out", "times", "started", "finished"}
    | {"workers", "jobs", "threads", "engine", "order", "progress"}
    | {"json", "dry_run", "fresh", "plot", "quiet", "verbose"}
)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of a run: its name (inside the folder, or the input's base name) and content."""

    name: str
    sha256: str
    bytes: int
    rows: int | None = None

    @classmethod
    def of(cls, path: Path, name: str | None = None, rows: int | None = None) -> FileRecord:
        """The record of a file that is there, under `name` (its base name unless given)."""
        return cls(told_name(name or path.name), sha256_file(path), path.stat().st_size, rows)


@dataclass(frozen=True, slots=True, order=True)
class AcceptedChange:
    """A file that was read although it is not as its folder's manifest says (--accept-changed).

    `folder` is the folder's name, `stated` the hash in its manifest, `found` that of what was read.
    """

    folder: str
    file: str
    stated: str
    found: str

    def __str__(self) -> str:
        return f"{self.folder}/{self.file}"


@dataclass(frozen=True, slots=True)
class StageCounts:
    """What became of everything one stage read; the parts must give the sum.

    >>> StageCounts(read=5, kept=3, rejected=1, duplicates=1).sum
    '5 read = 3 kept + 1 rejected + 1 duplicates + 0 out_of_scope'
    """

    read: int
    kept: int
    rejected: int = 0
    duplicates: int = 0
    out_of_scope: int = 0
    rejected_by_reason: Mapping[str, int] = field(default_factory=dict)
    out_of_scope_by_reason: Mapping[str, int] = field(default_factory=dict)

    @property
    def sum(self) -> str:
        """The sum spelled out, for a reader with no tool at hand."""
        return (
            f"{self.read} read = {self.kept} kept + {self.rejected} rejected + "
            f"{self.duplicates} duplicates + {self.out_of_scope} out_of_scope"
        )

    def problems(self) -> list[str]:
        """What does not add up; empty when all is well."""
        found = []
        if self.read != self.kept + self.rejected + self.duplicates + self.out_of_scope:
            found.append(f"{self.sum} does not hold")
        by_reason, by_scope = (
            sum(part.values()) for part in (self.rejected_by_reason, self.out_of_scope_by_reason)
        )
        if by_reason != self.rejected:
            found.append(f"reasons add up to {by_reason}, not {self.rejected} rejected")
        if by_scope != self.out_of_scope:
            found.append(f"scopes add up to {by_scope}, not {self.out_of_scope} out_of_scope")
        return found

    def check(self, stage: str) -> None:
        """Raise CheckFailed unless the parts give the sum."""
        if found := self.problems():
            raise CheckFailed(f"counts of stage {stage} do not reconcile: {'; '.join(found)}")

    def to_json(self) -> dict[str, Any]:
        """The counts as they stand in a manifest."""
        return {
            "read": self.read,
            "kept": self.kept,
            "rejected": self.rejected,
            "duplicates": self.duplicates,
            "out_of_scope": self.out_of_scope,
            "sum": self.sum,
            "rejected_by_reason": dict(sorted(self.rejected_by_reason.items())),
            "out_of_scope_by_reason": dict(sorted(self.out_of_scope_by_reason.items())),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StageCounts:
        """Read back what `to_json` wrote; the spelled-out sum is made again, not trusted."""
        values = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        for value in values.values():
            for n in value.values() if isinstance(value, Mapping) else [value]:
                if not isinstance(n, int):
                    raise TypeError("a count is no number")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a finished folder says of itself. `details` holds what one verb adds; `origin` is
    where its data are known to come from (`core.origin`); `accepted` are the files that it, or what
    it was made from, was made of although they had changed."""

    verb: str
    data_class: str
    identity: Mapping[str, Any]
    clinqa: str
    command: Sequence[str] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    inputs: Sequence[FileRecord] = ()
    outputs: Sequence[FileRecord] = ()
    counts: Mapping[str, StageCounts] = field(default_factory=dict)
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    accepted: Sequence[AcceptedChange] = ()

    @property
    def fingerprint(self) -> str:
        """The hash of the identity: two folders with the same one hold the same rows."""
        return fingerprint(self.identity)

    @property
    def rows(self) -> dict[str, int]:
        """The rows of each file that has any, by its name."""
        return {record.name: record.rows or 0 for record in self.outputs}

    def told(self, name: str) -> str:
        """A value of the configuration, identity or details as text; empty where there is none."""
        for place in (self.configuration, self.identity, self.details):
            value = place.get(name)
            if isinstance(value, str | int | float):
                return str(value)
        return ""

    def to_json(self) -> str:
        """The text of `manifest.json`; commands and configuration are redacted here, always."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "tool": TOOL,
            "clinqa": self.clinqa,
            "verb": self.verb,
            "command": redact_command(self.command),
            "configuration": redact(self.configuration),
            "data_class": self.data_class,
            **with_origin(self.origin),
            "fingerprint": self.fingerprint,
            "identity": redact(self.identity),
            "not_identity": dict(NOT_IDENTITY),
            "seeds": dict(self.seeds),
            "inputs": [asdict(f) for f in self.inputs],
            "outputs": [asdict(f) for f in self.outputs],
            "counts": {stage: counts.to_json() for stage, counts in self.counts.items()},
            "times": {"started": self.started, "finished": self.finished, "seconds": self.seconds},
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "details": dict(self.details),
        }
        if self.accepted:
            body["accepted_changes"] = [asdict(one) for one in self.accepted]
        body["seal"] = seal_of(json.loads(json.dumps(body)))
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path, *, edited: bool = False) -> Manifest:
        """The manifest at `path`.

        ConfigError if it is damaged or another tool's, CheckFailed if it was `edited`; that is
        passed over for a folder that will be made anew.
        """
        try:
            data = strict_json(path.read_text(encoding="utf-8"))
            seal = seal_of(data) if isinstance(data, dict) else ""
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path}: cannot be read as a manifest; is it damaged? Copy the folder again, or "
                "make it anew"
            ) from error
        if not isinstance(data, dict) or data.get("tool") != TOOL:
            raise ConfigError(f"{path}: not a manifest of clinqa")
        if data.get("format") != FORMAT:
            raise ConfigError(
                f"{path}: not in the format this clinqa reads ({FORMAT}); another version made the "
                "folder: use that one, or build it again"
            )
        if not edited and data.get("seal") != seal:
            raise CheckFailed(
                f"{path}: was edited after it was written (its seal is not that of what it says); "
                "put the file back as it was, or make the folder again"
            )
        try:
            _check_types(data)
            _check_class(path, data)
            return cls(
                verb=data["verb"],
                data_class=data["data_class"],
                identity=data["identity"],
                clinqa=data["clinqa"],
                command=data["command"],
                configuration=data["configuration"],
                seeds=data["seeds"],
                inputs=[FileRecord(**f) for f in data["inputs"]],
                outputs=[FileRecord(**f) for f in data["outputs"]],
                counts={k: StageCounts.from_json(v) for k, v in data["counts"].items()},
                started=data["times"]["started"],
                finished=data["times"]["finished"],
                seconds=data["times"]["seconds"],
                versions=data["versions"],
                warnings=data["warnings"],
                details=data["details"],
                origin=data.get("origin", ""),
                accepted=[AcceptedChange(**one) for one in data.get("accepted_changes", ())],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path}: the manifest lacks or garbles a key") from error


def _check_class(path: Path, data: Mapping[str, Any]) -> None:
    """ConfigError for a data class that is none."""
    known = [one.value for one in DataClass]
    for told in (data["data_class"], data["identity"].get("data_class", "public")):
        if told not in known:
            raise ConfigError(f"{path}: no such data class; there are {', '.join(known)}")


def _check_types(data: Mapping[str, Any]) -> None:
    """Raise TypeError where a part of a manifest is of another kind than `to_json` writes."""
    expected: Mapping[type, tuple[str, ...]] = {
        str: ("verb", "data_class", "clinqa"),
        dict: ("identity", "configuration", "seeds", "counts", "times", "versions", "details"),
        list: ("command", "inputs", "outputs", "warnings"),
    }
    for kind, names in expected.items():
        for name in names:
            if not isinstance(data[name], kind):
                raise TypeError(name)
    if not isinstance(data.get("origin", ""), str):
        raise TypeError("origin")
    for record in [*data["inputs"], *data["outputs"]]:
        sizes = (record["bytes"], record.get("rows") or 0)
        texts = (record["name"], record["sha256"])
        if not all(isinstance(n, int) for n in sizes) or not all(isinstance(t, str) for t in texts):
            raise TypeError("a file's record")
    changes = [one for change in data.get("accepted_changes", ()) for one in change.values()]
    if not all(isinstance(text, str) for text in [*data["command"], *data["warnings"], *changes]):
        raise TypeError("a text")
    for record in data["outputs"]:
        name = record["name"]
        if not name.isprintable() or PurePosixPath(name).is_absolute() or ".." in name.split("/"):
            raise TypeError("a file outside the folder")


def identity_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` without what is not identity (see NOT_IDENTITY), at any depth."""
    kept = {}
    for key, value in values.items():
        if key not in _INCIDENTAL_KEYS:
            kept[key] = identity_of(value) if isinstance(value, Mapping) else value
    return kept


def _canonical(value: object) -> str:
    return json.dumps(
        value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )


def seal_of(manifest: Mapping[str, Any]) -> str:
    """The hash over everything that a manifest's JSON says, but for the seal itself.

    >>> seal_of({"verb": "v", "seal": "x"}) == seal_of({"verb": "v"})
    True
    """
    said = {key: one for key, one in manifest.items() if key != "seal"}
    text = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def fingerprint(identity: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of what decides the rows.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(redact(identity)).encode("ascii")).hexdigest()


def _flat(value: object, prefix: str) -> dict[str, str]:
    if isinstance(value, Mapping) and value:
        items: Iterable[tuple[object, object]] = value.items()
    elif isinstance(value, list | tuple) and value:
        items = enumerate(value)
    else:
        return {prefix: _canonical(value)}
    flat: dict[str, str] = {}
    for key, inner in items:
        flat.update(_flat(inner, f"{prefix}.{key}" if prefix else str(key)))
    return flat


def differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys in which two identities differ, each with both values where they are short.

    >>> differences({"seed": 1, "pack": "x"}, {"seed": 2, "pack": "x"})
    ['seed (1 there, 2 now)']
    """
    old, new = _flat(redact(there), ""), _flat(redact(now), "")
    named = []
    for key in sorted(old.keys() | new.keys()):
        was, is_now = old.get(key, "absent"), new.get(key, "absent")
        if was != is_now:
            named.append(f"{key} ({_short(was)} there, {_short(is_now)} now)")
    return named


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:12] + '…"' * text.startswith('"')


def library_versions(names: Iterable[str] = ("pyarrow", "numpy", "polars")) -> dict[str, str]:
    """Python and the installed libraries whose version can change a result."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
