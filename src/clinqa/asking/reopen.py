"""Open a complete run again, so that what failed for the moment is asked once more."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from clinqa.asking.ask import change_of
from clinqa.asking.prompter import key_of
from clinqa.asking.results import TRANSIENT
from clinqa.core.inputs import read_parquet
from clinqa.core.journal import Journal
from clinqa.core.outfolder import JOURNAL, MANIFEST, OutFolder
from clinqa.core.predictions import PREDICTIONS_FILE
from clinqa.kinds.facets.asks import Beside

__all__ = ["reopen"]

_FIELDS = (
    "item_id", "repeat", "variant", "prompt_sha256", "output", "finish_reason", "input_tokens",
    "output_tokens", "seconds", "error",
)  # fmt: skip


def reopen(folder: OutFolder, beside: Beside | None) -> OutFolder:
    """The folder, unfinished again and with its answers in the journal; itself if nothing failed.

    A kill on the way leaves a complete run or an unfinished one of the same identity.
    """
    done = folder.done
    if done is None:
        return folder
    rows = read_parquet(folder.path / PREDICTIONS_FILE, _FIELDS).to_pylist()
    good = [row for row in rows if row["error"] not in TRANSIENT]
    if len(good) == len(rows):
        return folder
    weights = _weights(folder.path / beside.name, beside) if beside is not None else {}
    names = [record.name for record in done.outputs]
    folder.partial.mkdir(mode=0o700)
    with Journal(folder.partial / JOURNAL, private=folder.private) as journal:
        for name, how in done.details.get("service", {}).get("left_out", {}).items():
            journal.append(change_of(str(name), str(how)))
        cost = done.details.get("cost")
        for row in good:
            item_id, variant = str(row["item_id"]), row["variant"]
            key = key_of(item_id, row["repeat"], str(row["prompt_sha256"]), variant)
            weighed = weights.get((item_id, row["repeat"], variant))
            told = {"weighed": weighed} if weighed else {}
            journal.append({"key": key, **row, **told, "cost": cost})
            cost = None  # of all of them, counted once
    folder.start(names)
    (folder.path / MANIFEST).unlink()
    for name in names:
        os.replace(folder.path / name, folder.partial / name)
    return replace(folder, done=None)


def _weights(path: Path, beside: Beside) -> dict[tuple[str, int, int], list[float]]:
    """What the answers of each prompt weighed, where that was asked."""
    if not path.is_file():
        return {}
    return {
        (row["item_id"], row["repeat"], row["variant"]): row[beside.weighed]
        for row in read_parquet(path, ["item_id", "repeat", "variant", beside.weighed]).to_pylist()
        if row[beside.weighed]
    }
