"""A reader of answers that is trained on annotated outputs, and tested on other questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, sha256_file
from clinqa.kinds.multiple_choice.matching.annotated import (
    Annotated,
    bundled_outputs,
    read_annotated,
)
from clinqa.kinds.multiple_choice.matching.features import features_of
from clinqa.kinds.multiple_choice.matching.model import FOLDS, Matcher, fit, held_out
from clinqa.stats.estimates import Estimate

__all__ = ["Annotated", "Matcher", "TrainedMatcher", "trained_matcher"]

BUNDLED = "bundled, made up"


@dataclass(frozen=True, slots=True)
class TrainedMatcher:
    """A matcher with what it was trained on and its accuracy on held-out questions."""

    matcher: Matcher
    source: str
    inputs: tuple[FileRecord, ...]
    outputs: int
    committed: int
    accuracy: Estimate
    #: of the accuracy
    signature: str

    def match(self, output: str, options: Sequence[str]) -> int | None:
        """The place of the option that an output commits to."""
        return self.matcher.match(output, options)

    @property
    def weights(self) -> bytes:
        """As a file."""
        return self.matcher.as_json()

    @property
    def fingerprint(self) -> str:
        """What decides its readings."""
        return hashlib.sha256(self.weights).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """For scores.json."""
        one = self.accuracy
        return {
            "source": self.source,
            "outputs": self.outputs,
            "committed": self.committed,
            "features": len(self.matcher.weights),
            "weights_sha256": self.fingerprint,
            "accuracy": {
                "metric": "matcher_accuracy",
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "clusters": one.clusters,
                "signature": self.signature,
            },
        }


def trained_matcher(path: Path | None, seed: int) -> TrainedMatcher:
    """The matcher of a file of annotated outputs, or of the bundled ones."""
    if path is None:
        return _trained_on_bundled(seed)
    annotated = read_annotated(path)
    record = FileRecord(path.name, sha256_file(path), path.stat().st_size)
    return _trained(annotated, path.name, (record,), seed)


@cache
def _trained_on_bundled(seed: int) -> TrainedMatcher:
    return _trained(bundled_outputs(), BUNDLED, (), seed)


def _trained(
    annotated: Sequence[Annotated], source: str, inputs: tuple[FileRecord, ...], seed: int
) -> TrainedMatcher:
    rows = [features_of(one.output, one.options) for one in annotated]
    accuracy = held_out(annotated, rows, seed)
    matcher = fit(annotated, rows)
    if not matcher.weights:
        raise ConfigError(f"{source}: nothing could be learnt from these annotated outputs")
    return TrainedMatcher(
        matcher,
        source,
        inputs,
        len(annotated),
        sum(one.place is not None for one in annotated),
        accuracy,
        f"matcher_accuracy|{FOLDS} folds by question|{source}|clusters: question|"
        f"{accuracy.signature}",
    )
