"""What the card of statements made from question banks says."""

from __future__ import annotations

from collections import Counter

from clinqa.builders.pairs import PAIR_TASKS, PAIRS_CHECKED, PairsWritten, probe_section
from clinqa.core.manifest import Manifest
from clinqa.dataset.card import Card, bullets, tabled
from clinqa.kinds.true_false.columns import COLUMNS

__all__ = ["card_of"]


def card_of(written: PairsWritten, manifest: Manifest) -> Card:
    """The card of one build."""
    details = manifest.details
    topics = [(details["topics"].get(name, name), n) for name, n in details["by_topic"].items()]
    answers = (f"`{name}`: {how}" for name, how in details["answers"].items())
    rejects = Counter[str]()
    for counts in manifest.counts.values():
        rejects.update(counts.rejected_by_reason)
    return Card(
        title=f"{details['topic']}: true and false statements from question banks",
        summary="Each question gave one pair: that its official key is the right answer (True), "
        "and that another of its options, drawn by the seed, is (False). Questions are not "
        "reworded. The set is for measuring: all of it is the split `test`.",
        description="Multiple-choice questions of published banks as pairs of statements.",
        owner="the banks",
        items={name: split["items"] for name, split in written.splits.items()},
        glance=[("pairs", f"{details['pairs']:,}")],
        sections=[
            ("Banks", _counted("bank", [*details["banks"].items()])),
            ("Topics", _counted("topic", topics)),
            ("How answers were read", bullets(answers)),
            ("Shortcut probe", probe_section(details["probe"])),
        ],
        rejects=rejects,
        reasons={},
        columns=COLUMNS.meanings,
        limits=[
            "An option that the key does not name may still be right: banks have errors, and some "
            "questions ask for the best of several.",
            "Questions whose options speak of one another, need an image or are garbled are left "
            "out (`rejects.parquet`).",
        ],
        checked=PAIRS_CHECKED,
        warnings=manifest.warnings,
        tasks=PAIR_TASKS,
        keywords=("medical", "true-false"),
    )


def _counted(what: str, rows: list[tuple[str, int]]) -> str:
    return tabled((what, "pairs"), rows) if rows else "None.\n"
