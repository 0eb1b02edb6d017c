"""What a folder made by `clinqa train` says of itself: base, what it was trained on, canaries.

The items stand there as hashes, so that a run can tell whether it asks what was learnt without the
folder holding a word of them. A hash of a patient's number can be found by trying all numbers: the
folder has the dataset's data class, as everything made from it has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.core.inputs import read_parquet
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST

__all__ = ["CANARIES", "TRAINED_ON", "Seen", "TrainedFolder", "seen_rows", "trained_folder"]

VERB = "train"
TRAINED_ON = "trained_on.parquet"
CANARIES = "canaries.json"
_CONFIGS = ("adapter_config.json", "config.json")
SCHEMA = pa.schema(
    [
        ("role", pa.string()),  # train, or validation: chosen by, not learnt
        ("item", pa.uint64()),
        ("content", pa.uint64()),  # of question and context
        ("group", pa.uint64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of what is asked was trained on."""

    asked: int
    items: int  # the same item, or the same question with the same context
    groups: int  # items of a patient or group that was trained on
    chosen_by: int  # items that decided which state was kept


@dataclass(frozen=True, slots=True)
class TrainedFolder:
    """A complete folder made by `clinqa train`."""

    folder: Path
    manifest: Manifest

    @property
    def base(self) -> Mapping[str, Any]:
        """Name and hashes of the model it was trained from."""
        found = self.manifest.details.get("base", {})
        return found if isinstance(found, Mapping) else {}

    @property
    def template(self) -> str:
        """The hash of the wording it was trained with."""
        return str(self.manifest.details.get("template", {}).get("sha256", ""))

    def check_weights(self) -> None:
        """ConfigError unless weights and configuration are the files that were written.

        Canaries let pass what rounding could have done, which is much in another number format.
        """
        for record in self.manifest.outputs:
            if record.name.endswith(".safetensors") or record.name in _CONFIGS:
                self._check(record.name)

    def canaries(self) -> dict[str, Any]:
        """Log-probabilities saved when it was trained."""
        self._check(CANARIES)
        try:
            data = json.loads((self.folder / CANARIES).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"{self.folder / CANARIES}: cannot be read") from error
        if not isinstance(data, dict):
            raise ConfigError(f"{self.folder / CANARIES}: not what clinqa train writes")
        return data

    def hashes(self) -> pa.Table:
        """Hashes of what was trained on, here and in the model it was trained from."""
        self._check(TRAINED_ON)
        return read_parquet(self.folder / TRAINED_ON, SCHEMA.names)

    def seen(self, rows: pa.Table) -> Seen:
        """How much of these rows (see `seen_rows`) was trained on."""
        table = self.hashes()
        learnt = np.asarray(table["role"].to_numpy(zero_copy_only=False) == "train")
        known = {name: table[name].to_numpy() for name in SCHEMA.names[1:]}
        asked = {name: rows[name].to_numpy() for name in SCHEMA.names[1:]}
        same = np.isin(asked["item"], known["item"][learnt])
        same |= np.isin(asked["content"], known["content"][learnt])
        group = np.isin(asked["group"], known["group"][learnt])
        chosen = np.isin(asked["item"], known["item"][~learnt])
        return Seen(len(same), int(same.sum()), int((group & ~same).sum()), int(chosen.sum()))

    def _check(self, name: str) -> None:
        """ConfigError unless the file is the one the manifest knows."""
        record = next((one for one in self.manifest.outputs if one.name == name), None)
        path = self.folder / name
        if record is None or not path.is_file() or sha256_file(path) != record.sha256:
            raise ConfigError(
                f"{path}: missing, or not the file that was written when it was trained; nothing "
                "that was measured then holds for it: take the folder as it was, or train it again"
            )


def trained_folder(folder: Path) -> TrainedFolder | None:
    """The folder as one that `clinqa train` made; None if it is another tool's.

    ConfigError for one of ours that lost its manifest: nobody could tell its data class, nor that
    its hashes of what was learnt are all of them.
    """
    if (folder / MANIFEST).is_file():
        manifest = Manifest.read(folder / MANIFEST)
        if manifest.verb.split(" ")[0] == VERB:
            return TrainedFolder(folder, manifest)
    if (folder / TRAINED_ON).is_file():
        raise ConfigError(
            f"{folder}: made by clinqa train, but its {MANIFEST} is missing or another folder's; "
            "copy the whole folder as it was, or train it again"
        )
    return None


def seen_rows(items: Iterable[tuple[str, str, str, str]], role: str = "train") -> pa.Table:
    """Hashes of items given as (id, group, question, context)."""
    rows = [
        (
            stable_hash("item", number),
            stable_hash("content", question.strip(), context.strip()),
            stable_hash("group", group),
        )
        for number, group, question, context in items
    ]
    columns: list[tuple[int, ...]] = list(zip(*rows, strict=True)) or [(), (), ()]
    arrays = [pa.array(column, pa.uint64()) for column in columns]
    return pa.Table.from_arrays([pa.array([role] * len(rows), pa.string()), *arrays], schema=SCHEMA)
