"""What people said of a sample of answers, from a CSV file: `item_id, verdict` and perhaps `run`.

A verdict says whether the answer is right on what was asked: right or wrong (yes/no, true/false,
1/0, correct/incorrect), or a word of the kind of items for an error. Several verdicts on
one answer are averaged.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.kinds.facets.measures import Corrects

__all__ = ["read_human"]

_RIGHT = frozenset({"right", "correct", "yes", "true", "1", "1.0"})
_WRONG = frozenset({"wrong", "incorrect", "no", "false", "0", "0.0"})
_MAX_BYTES = 100_000_000


def read_human(
    path: Path, names: Mapping[str, str], corrects: Corrects
) -> dict[str, dict[str, float]]:
    """By run, the share of right verdicts on each item that people judged.

    `names` gives the run's id for every name it may be called by.
    """
    runs = list(dict.fromkeys(names.values()))
    right, wrong = _RIGHT | corrects.right, _WRONG | corrects.wrong
    rows = _rows(path)
    header = set(rows[0]) if rows else set()
    if missing := sorted({"item_id", "verdict"} - header):
        raise ConfigError(f"{path}: no column {missing[0]!r}; needed are item_id and verdict")
    if "run" not in header and len(runs) > 1:
        raise ConfigError(
            f"{path}: no column 'run', but {len(runs)} runs are scored; say whose answer was judged"
        )
    found: dict[str, dict[str, list[float]]] = {run: defaultdict(list) for run in runs}
    for line, row in enumerate(rows, start=2):
        called = (row.get("run") or "").strip() or (runs[0] if len(runs) == 1 else "")
        run = names.get(called)
        if run is None:
            raise ConfigError(f"{path}:{line}: no such run; scored are {', '.join(runs)}")
        verdict = (row["verdict"] or "").strip().casefold()
        if not verdict:  # a sheet filled in half-way
            continue
        if verdict not in right | wrong:
            raise ConfigError(f"{path}:{line}: a verdict must be right or wrong")
        found[run][(row["item_id"] or "").strip()].append(float(verdict in right))
    return _means(found)


def _means(found: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, float]]:
    return {
        run: {item: sum(all_) / len(all_) for item, all_ in sorted(items.items())}
        for run, items in found.items()
        if items
    }


def _rows(path: Path) -> list[dict[str, str | None]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES:,} bytes")
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [
                {(key or "").strip(): value for key, value in row.items()}
                for row in csv.DictReader(file)
            ]
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (UnicodeDecodeError, csv.Error, AttributeError) as error:
        raise ConfigError(f"{path}: not a CSV file in UTF-8") from error
