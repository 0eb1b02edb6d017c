"""What a folder made by `clinqa train` says of itself: base, what it was trained on, canaries.

The items stand there as hashes, so that a run can tell whether it asks what was learnt without the
folder holding a word of them. A hash of a patient's number can be found by trying all numbers: the
folder has the dataset's data class, as everything made from it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.finished import CARD, Finished, FolderKind, FromFolder, open_finished
from clinqa.core.ids import stable_hash
from clinqa.core.outfolder import MANIFEST

__all__ = [
    "CANARIES",
    "TRAINED_ON",
    "Seen",
    "TrainedFolder",
    "seen_among",
    "seen_rows",
    "trained_behind",
    "trained_folder",
]

TRAINED = FolderKind(
    "training",
    "clinqa train",
    "take the folder as it was, or train it again",
    ("train", "train --merge"),
)
TRAINED_ON = "trained_on.parquet"
CANARIES = "canaries.json"
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
class TrainedFolder(FromFolder):
    """A complete folder made by `clinqa train`."""

    finished: Finished

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
        """CheckFailed unless every file but the card is what was written: weights, configuration,
        tokenizer, templates decide answers, and the run keeps the hashes of the others too.

        Canaries let pass what rounding could have done, which is much in another number format.
        """
        for name in self.finished.names():
            if name != CARD:
                self.finished.checked(name)

    def canaries(self) -> dict[str, Any]:
        """Log-probabilities saved when it was trained."""
        data = self.finished.json(CANARIES)
        if not isinstance(data, dict):
            raise ConfigError(f"{self.folder / CANARIES}: not what clinqa train writes")
        return data

    def hashes(self) -> pa.Table:
        """Hashes of what was trained on, here and in the model it was trained from."""
        return self.finished.parquet(TRAINED_ON, SCHEMA.names)

    def seen(self, rows: pa.Table) -> Seen:
        """How much of these rows (see `seen_rows`) was trained on."""
        return seen_among(self.hashes(), rows)


def seen_among(learnt: pa.Table, rows: pa.Table) -> Seen:
    """How much of `rows` is in `learnt`; both as `seen_rows` makes them."""
    of_train = np.asarray(learnt["role"].to_numpy(zero_copy_only=False) == "train")
    known = {name: learnt[name].to_numpy() for name in SCHEMA.names[1:]}
    asked = {name: rows[name].to_numpy() for name in SCHEMA.names[1:]}
    same = np.isin(asked["item"], known["item"][of_train])
    same |= np.isin(asked["content"], known["content"][of_train])
    group = np.isin(asked["group"], known["group"][of_train])
    chosen = np.isin(asked["item"], known["item"][~of_train])
    return Seen(len(same), int(same.sum()), int((group & ~same).sum()), int(chosen.sum()))


def trained_folder(folder: Path, *, accept: bool | None = None) -> TrainedFolder | None:
    """The folder as one that `clinqa train` made; None if it is another tool's.

    ConfigError for one of ours that lost its manifest: nobody could tell its data class, nor that
    its hashes of what was learnt are all of them.
    """
    if (folder / MANIFEST).is_file():
        return TrainedFolder(open_finished(folder, TRAINED, accept=accept))
    if (folder / TRAINED_ON).is_file():
        raise ConfigError(
            f"{folder}: made by clinqa train, but its {MANIFEST} is missing or another folder's; "
            "copy the whole folder as it was, or train it again"
        )
    return None


def trained_behind(
    model: str, adapters: Iterable[Path] = (), *, accept: bool | None = None
) -> list[TrainedFolder]:
    """Every folder of clinqa train that has a part in the answers of a model with adapters."""
    kind, _, rest = model.partition(":")
    own = [Path(rest).expanduser()] if kind in ("hf", "encoder") and rest else []
    found = (trained_folder(folder, accept=accept) for folder in [*adapters, *own])
    return [trained for trained in found if trained is not None]


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
