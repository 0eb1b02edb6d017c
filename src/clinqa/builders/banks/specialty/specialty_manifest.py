"""What a build of questions by specialty is known by, and what its manifest tells a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.stage import Known
from clinqa.dataset.splits import items_of_splits
from clinqa.packs.specialties import Specialties

__all__ = ["VERB", "configuration_of", "counts_of", "known_of"]

VERB = "build specialty"


def counts_of(manifest: Manifest) -> dict[str, int]:
    """What `--json` and the last lines tell."""
    questions, items = manifest.counts["questions"], manifest.counts["items"]
    return {
        "read": questions.read,
        "questions": questions.kept,
        "duplicates": questions.duplicates,
        "unreadable": questions.rejected,
        "items": items.kept,
        "rejected": items.rejected,
        **items_of_splits(manifest),
        "near_duplicates": manifest.details["near_duplicate_pairs"],
    }


def configuration_of(options: SpecialtyOptions) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    sets = options.calibration
    return {
        "annotator": options.annotator,
        "model": options.model,
        "metadata_first": options.metadata_first,
        "quorum": options.votes_needed,
        "min_specialty_size": options.smallest,
        "sets": {
            "kind": sets.kind,
            "alpha": sets.alpha,
            "rule": sets.rule,
            "cover": sets.cover,
            "randomised": sets.randomised,
        },
        "near": options.near,
        "drop_leaks": options.drop_leaks,
        "drop_flagged": options.drop_flagged,
        "answer_base": options.answer_base,
        "limit": options.limit,
        "seed": options.seed,
    }


def known_of(
    options: SpecialtyOptions,
    pack: Specialties,
    inputs: Sequence[FileRecord],
    embeddings: str | None,
    banks: int,
) -> Known:
    """What decides the rows. The order of banks does not, unless there is a limit."""
    own = [record.sha256 for record in inputs[:banks]]
    return Known(
        configuration_of(options),
        inputs,
        {
            "pack_fingerprint": pack.fingerprint,
            "banks": own if options.limit is not None else sorted(own),
            "labelled": sorted(record.sha256 for record in inputs[banks:]),
            "embeddings": embeddings,
        },
    )
