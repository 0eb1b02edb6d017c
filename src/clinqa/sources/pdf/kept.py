"""Pages that were parsed, kept in a journal, so that a run that was ended goes on from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinqa.core.closing import Closing
from clinqa.core.journal import Journal, read_journal

__all__ = ["PageJournal"]

_FIELD = "page"


class PageJournal(Closing):
    """A store of pages over `core.journal`; used in a `with`.

    A key names content and method: MD5, page and the version of this room's parsing.

    What earlier runs wrote is read once at the start. A page's record is some kilobytes.
    """

    def __init__(self, path: Path, *, private: bool) -> None:
        self._known: dict[str, str] = {}
        for record in read_journal(path):
            if isinstance(record.get(_FIELD), dict):
                self._known[record["key"]] = json.dumps(record[_FIELD], separators=(",", ":"))
        self._journal = Journal(path, private=private)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The record of a page that an earlier run parsed."""
        kept = self._known.get(key)
        return None if kept is None else dict(json.loads(kept))

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Keep a page's record (JSON values only); it is with the system when this returns."""
        self._journal.append({"key": key, _FIELD: dict(record)})

    def close(self) -> None:
        """Sync and let go of the file."""
        self._journal.close()
