"""`README.md` of a dataset of questions by specialty: for a stranger who must trust it or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import yaml

from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.records import Reason

__all__ = ["CardFacts", "render_card"]

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


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What the card says; no text of a record."""

    manifest: Manifest
    annotator: str
    quorum: int
    splits: Mapping[str, int]
    categories: Mapping[str, int]
    stages: Mapping[str, StageCounts]
    accuracy: Sequence[Mapping[str, str]]
    sets: Sequence[Mapping[str, str]]
    alike: str
    flagged: Mapping[str, int]
    others: Sequence[str]


def render_card(facts: CardFacts) -> str:
    """The text of `README.md`."""
    parts = [
        _front(facts),
        "# Questions by clinical specialty\n",
        "Each item is a multiple-choice question of a published bank with the clinical specialty "
        "it belongs to, the votes behind that, and a set of specialties that may apply.\n",
        _warnings(facts.manifest.warnings),
        f"## How it was made\n\n{_METHODS[facts.annotator]}{_quorum(facts)}\n",
        "## Items\n\n"
        + _table(("split", "items"), [(k, f"{n:,}") for k, n in facts.splits.items()]),
        "## Specialties\n\n"
        + _table(("specialty", "items"), [(k, f"{n:,}") for k, n in facts.categories.items()]),
        _measured(facts),
        f"## Near-duplicates\n\n{facts.alike}\n",
        "## Flags\n\n"
        + _table(("flag", "items"), [(k, f"{n:,}") for k, n in facts.flagged.items()]),
        _accounting(facts),
        "## Columns\n\n"
        + _table(("column", "meaning"), [(f"`{k}`", v) for k, v in _COLUMNS.items()]),
        "## Limits\n\n- A label says what a question is about, not what a patient has.\n"
        "- It is for research on language models, not for decisions about patients.\n",
        "## Licence\n\nAs of the banks: the text is theirs, and their terms hold here too.\n",
        "## Check\n\n`clinqa verify DIR` hashes every file again, recomputes every id and checks "
        "that the totals reconcile and that no group is in two splits.\n",
    ]
    return "\n".join(part for part in parts if part)


def _front(facts: CardFacts) -> str:
    front: dict[str, object] = {
        "pretty_name": "Questions by clinical specialty",
        "license": "other",
        "license_name": "as-of-the-source",
        "task_categories": ["question-answering", "multiple-choice"],
        "tags": ["medical", "clinqa", f"data-class:{facts.manifest.data_class}"],
        "language": ["en"],
    }
    with_rows = [name for name, n in facts.splits.items() if n]
    if with_rows:
        front["configs"] = [
            {
                "config_name": "default",
                "data_files": [{"split": s, "path": f"data/{s}-*.parquet"} for s in with_rows],
            }
        ]
    return f"---\n{yaml.safe_dump(front, sort_keys=False, width=1000)}---\n"


def _warnings(warnings: Sequence[str]) -> str:
    return "## Warnings\n\n" + "".join(f"- {_line(w)}\n" for w in warnings) if warnings else ""


def _quorum(facts: CardFacts) -> str:
    if facts.annotator == "metadata":
        return ""
    return (
        f" A question has the specialty that at least {facts.quorum} of the five votes name; every "
        "vote is kept (`votes.parquet`, rejected questions too)."
    )


def _measured(facts: CardFacts) -> str:
    text = ""
    if facts.accuracy:
        head = tuple(facts.accuracy[0])
        text += "## Accuracy and coverage\n\nAgainst the expert's labels, out of sample; 95 % "
        text += "intervals over groups of near-duplicates.\n\n"
        text += _table(head, [tuple(row.values()) for row in facts.accuracy])
    if facts.sets:
        head = tuple(facts.sets[0])
        text += (
            "\n## Sets of specialties\n\nMeasured on questions that did not set the threshold.\n\n"
        )
        text += _table(head, [tuple(row.values()) for row in facts.sets])
    return text + "".join(f"\n{line}\n" for line in facts.others)


def _accounting(facts: CardFacts) -> str:
    text = "## Where everything read went\n\n"
    reasons: dict[str, int] = {}
    for stage, counts in facts.stages.items():
        text += f"- {stage}: {counts.sum}\n"
        for reason, n in counts.rejected_by_reason.items():
            reasons[reason] = reasons.get(reason, 0) + n
    rows = [
        (f"`{reason}`", f"{n:,}", _REASONS.get(Reason(reason), ""))
        for reason, n in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    ]
    return text + ("\n" + _table(("reason", "questions", "meaning"), rows) if rows else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_line(c).replace("|", "\\|") for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())
