"""What may change from run to run without anything having changed: taken out, or given one name.

Times, versions, fingerprints, sizes and the hash behind a run's name are no part of what is kept;
ids of items and whatever stands in a table of rows are.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

__all__ = ["FAITHFUL", "NOT_KEPT", "Plain", "canonical", "coarse", "shorter"]

FAITHFUL = 11
"""Digits that are kept of a number; two numbers are compared to 1e-9."""

NOT_KEPT = frozenset(
    {
        "seconds", "wall_seconds", "model_seconds", "times", "versions", "clinqa", "fingerprint",
        "identity", "not_identity", "datePublished", "bytes", "contentSize", "sha256", "md5",
        "format", "seal",
    }
)  # fmt: skip
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_SUFFIX = re.compile(r"(?<=[\w.])([-@+])[0-9a-f]{8}(?![0-9a-z])")
_TOKEN = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{8,63}(?![0-9a-zA-Z])")
_VERSION = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?!\.?\d)")
_LIBRARIES = re.compile(r"\b[\w-]+ VERSION(\+\w+)?(, [\w-]+ VERSION(\+\w+)?)+")
"""What is installed beside us is no part of what we give."""
_CLOCK = re.compile(r"DAY(T| )\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d| UTC)?")
_TOOK = re.compile(r"\b(in|took|after) \d+(\.\d+)? (s|ms|seconds|min)\b")
_SIZES = re.compile(r"\d+ bytes, \d+ were written")
_PLACE = re.compile(r"clinqa/[\w/]+\.py:\d+")
_FLOAT = re.compile(r"-?\d+\.\d+(e[-+]?\d+)?|-?\d+e[-+]?\d+")


def shorter(number: float) -> float | str:
    """A number to eleven digits; what is none, as a word (JSON knows no nan)."""
    if number != number or number in (float("inf"), float("-inf")):
        return str(number)
    return float(f"{number:.{FAITHFUL}g}") + 0.0


class Plain:
    """What a working folder's texts and values are written as."""

    def __init__(self, folder: Path) -> None:
        root = Path(__file__).resolve().parents[2]
        places = {str(folder): "TMP", str(folder.resolve()): "TMP", str(root): "REPO"}
        places |= {sys.executable: "PYTHON", sys.prefix: "PREFIX"}
        self._places = dict(sorted(places.items(), key=lambda pair: -len(pair[0])))
        self._known: set[str] = set()
        now = datetime.now(UTC)
        days = {(now + timedelta(days=one)).date().isoformat() for one in (-1, 0, 1)}
        self._days = re.compile("|".join(sorted(days)))

    def learn(self, manifest: Path) -> None:
        """Know the hashes of a manifest, so that the beginnings of them are known too."""
        try:
            self._known.update(_HASH.findall(manifest.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError):
            return

    def text(self, text: str) -> str:
        """The text without paths, hashes, versions and times of this run."""
        for place, name in self._places.items():
            text = text.replace(place, name)
        text = _SUFFIX.sub(r"\1#", _HASH.sub("#", text))
        text = _TOKEN.sub(self._token, text)
        text = _CLOCK.sub("TIME", self._days.sub("DAY", text))
        text = _PLACE.sub("PLACE", _SIZES.sub("other bytes than were written", text))
        text = _LIBRARIES.sub("LIBRARIES", _VERSION.sub("VERSION", text))
        return _TOOK.sub(r"\1 TOOK", text)

    def lines(self, text: str) -> list[str]:
        """The lines of a text."""
        return self.text(text).rstrip("\n").split("\n") if text else []

    def cell(self, text: str) -> str:
        """A cell of a CSV table."""
        if _FLOAT.fullmatch(text):
            return text if len(text) <= FAITHFUL else repr(shorter(float(text)))
        return self.text(text)

    def value(self, value: Any, left_out: frozenset[str] = NOT_KEPT) -> Any:
        """A value of JSON; with nothing left out, of a table's row."""
        if isinstance(value, bool) or value is None or isinstance(value, int):
            return value
        if isinstance(value, float):
            return shorter(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(str(key)): self.value(one, left_out)
                for key, one in value.items()
                if key not in left_out
            }
        if isinstance(value, list | tuple):
            return [self.value(one, left_out) for one in value]
        return str(value)

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        return "#" if any(one.startswith(token) for one in self._known) else token


def coarse(value: Any) -> Any:
    """The value with its numbers to eight digits, for digests: those know no "nearly the same"."""
    if isinstance(value, float):
        return float(f"{value:.8g}") + 0.0
    if isinstance(value, str):
        return repr(coarse(float(value))) if _FLOAT.fullmatch(value) else value
    if isinstance(value, dict):
        return {key: coarse(one) for key, one in value.items()}
    return [coarse(one) for one in value] if isinstance(value, list) else value


def canonical(value: Any) -> str:
    """A value as one text, the same for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
