"""`README.md` of a dataset of questions by specialty: for a stranger who must trust it or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.builders.banks.specialty.found import SpecialtyBuild
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.core.manifest import Manifest
from clinqa.core.records import SPLITS, Reason
from clinqa.dataset.card import Card, tabled
from clinqa.kinds.facets.describes import most_first

__all__ = ["card_of"]

_REASONS: Mapping[str, str] = {
    Reason.NO_QUESTION: "the record has no question",
    Reason.TOO_FEW_OPTIONS: "fewer than two options, or options that cannot be read",
    Reason.NO_ANSWER: "no answer, or one that names no option",
    Reason.CONFLICTING_ANSWER: "letter and text of the answer name different options",
    Reason.CONFLICTING_ITEM_ID: "one id stands over different questions",
    Reason.BROKEN_ROW: "the line is no record",
    Reason.BROKEN_FILE: "the file, or the rest of it, cannot be read",
    Reason.NO_MAJORITY: "no specialty has enough votes: that is not the class Others",
    Reason.OTHERS: "the votes say Others: no clinical specialty",
    Reason.SPECIALTY_TOO_SMALL: "fewer questions of its specialty than --min-specialty-size",
    Reason.NO_METADATA: "the bank names no clinical specialty",
    Reason.IN_ANOTHER_SPLIT: "nearly the same question stands in validation or test",
    Reason.IMAGE_REFERENCE: "it speaks of an image that is not there, or is garbled",
}
_METHODS = {
    "classifier": "Five voters, each with a view of its own of the question, learned specialties "
    "from questions that an expert had labelled. Questions among those were voted on by voters "
    "that had not seen them.",
    "llm": "A model was asked five times, in five wordings. A reply is a vote only where it "
    "commits itself to one specialty; names said in passing or denied are none.",
    "metadata": "The specialty is what the bank itself says: its label, topic or subject. That is "
    "one statement and not five votes.",
}
_EXPERT = (
    "Against the expert's labels, out of sample; 95 % intervals over groups of near-duplicates."
)
_SETS = "Measured on questions that did not set the threshold."
_COLUMNS = {
    "id": "hash of kind, source, question and answer; the same on every rebuild",
    "kind": "multiple_choice",
    "group": "split and cluster of near-duplicates; never in two splits",
    "question": "as the bank has it",
    "answer": "the text of the right option",
    "category": "the specialty with the most votes",
    "source_id": "bank and id of the question in it",
    "method": "classifier, llm, or metadata",
    "options": "in the bank's order",
    "answer_index": "place of the right option, from 0",
    "specialties": "the conformal set, likeliest first (may be empty); else the category alone",
    "votes": "voter, label (null: no vote), raw reply or probability",
    "needs_image": "speaks of an image that is not there",
    "garbled": "holds characters that no writer meant",
}


def card_of(
    found: SpecialtyBuild,
    figures: Mapping[str, Sequence[Mapping[str, Any]]],
    manifest: Manifest,
) -> Card:
    """The card of one build; `figures` are its tables by name."""
    kept, near, options = found.kept, found.near, found.options
    splits = Counter(one.split for one in kept)
    categories = most_first(Counter(one.category for one in kept))
    rejects = Counter(one.reason.value for one in (*found.gathered.rejects, *found.rejects))
    flags = {name: sum(getattr(one, name) for one in kept) for name in ("needs_image", "garbled")}
    agreed = "In `tables/agreement.csv`.\n" if found.agreed else ""
    return Card(
        title="Questions by clinical specialty",
        summary="Each item is a multiple-choice question of a published bank with the clinical "
        "specialty it belongs to, the votes behind that, and a set of specialties that may apply.",
        description="Multiple-choice questions of published banks by clinical specialty.",
        owner="the banks",
        items={split: splits[split] for split in SPLITS},
        glance=[],
        sections=[
            ("How it was made", f"{_METHODS[options.annotator]}{_votes_needed(options)}\n"),
            ("Items", tabled(("split", "items"), [(split, splits[split]) for split in SPLITS])),
            ("Specialties", tabled(("specialty", "items"), categories.items())),
            ("Accuracy and coverage", _measured(_EXPERT, figures["accuracy_coverage"])),
            ("Sets of specialties", _measured(_SETS, figures["sets"])),
            ("Agreement of annotators", agreed),
            (
                "Near-duplicates",
                f"{near.table.num_rows:,} pairs of questions share {options.near:.0%} of their "
                f"words or more (question and options, over all banks); {near.leaks:,} of the "
                "pairs stand in different splits. They are listed in `near_duplicates.parquet`.\n",
            ),
            ("Flags", tabled(("flag", "items"), flags.items())),
        ],
        rejects=rejects,
        reasons=_REASONS,
        columns=_COLUMNS,
        limits=["A label says what a question is about, not what a patient has."],
        checked="that each answer is the option it points at and each specialty has its votes",
        warnings=manifest.warnings,
        tasks=("question-answering", "multiple-choice"),
        keywords=("medical", "multiple-choice"),
    )


def _votes_needed(options: SpecialtyOptions) -> str:
    if options.annotator == "metadata":
        return ""
    return (
        f" A question has the specialty that at least {options.votes_needed} of the five votes "
        "name; every vote is kept (`votes.parquet`, rejected questions too)."
    )


def _measured(head: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of figures under what they were measured on; nothing of none."""
    if not rows:
        return ""
    return f"{head}\n\n" + tabled([*rows[0]], ([str(n) for n in row.values()] for row in rows))
