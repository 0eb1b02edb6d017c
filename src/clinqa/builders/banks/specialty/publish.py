"""The last step: items, votes, tables, figures, card and Croissant written, then committed.

All that a build of questions by specialty found, before anything is written.

`README.md` of a dataset of questions by specialty: for a stranger who must trust it or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.builders.banks.gather import NEAR_COLUMNS, Alikes, Gathered
from clinqa.builders.banks.specialty.annotate import SpecialtyLabels
from clinqa.builders.banks.specialty.assess import accuracy_and_coverage, sizes, totals
from clinqa.builders.banks.specialty.expert import Expert
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.specialty.write import (
    Kept,
    write_figures,
    write_items,
    write_table_csv,
    write_votes,
)
from clinqa.core.figures import Figure
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.records import SPLITS, Reason, Reject
from clinqa.core.stage import Made, Workplace
from clinqa.dataset.card import Card, tabled
from clinqa.dataset.parquet import write_table
from clinqa.dataset.publish import write_card
from clinqa.dataset.written import rows_by_name, write_rejects
from clinqa.kinds.facets.describes import most_first
from clinqa.kinds.multiple_choice.columns import COLUMNS
from clinqa.packs.specialties import Specialties

__all__ = ["SpecialtyBuild", "card_of", "publish"]


@dataclass(frozen=True, slots=True)
class SpecialtyBuild:
    """Everything a run found."""

    options: SpecialtyOptions
    pack: Specialties
    gathered: Gathered
    near: Alikes
    annotated: SpecialtyLabels
    kept: Sequence[Kept]
    rejects: Sequence[Reject]
    outcomes: Sequence[str]
    expert: Expert | None
    agreed: Sequence[Mapping[str, Any]]
    warnings: list[str]

    def stages(self) -> dict[str, StageCounts]:
        """Records to questions, and questions to items."""
        items = StageCounts(
            read=len(self.gathered.items),
            kept=len(self.kept),
            rejected=len(self.rejects),
            rejected_by_reason=Counter(reject.reason.value for reject in self.rejects),
        )
        return {"questions": self.gathered.counts(), "items": items}


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


def publish(place: Workplace, found: SpecialtyBuild, details: Mapping[str, Any]) -> Made:
    """Write everything but card and Croissant, which come with the manifest."""
    partial, private = place.partial, place.private
    rows = write_items(partial, found.kept, private=private)
    items = found.gathered.items
    rows |= write_votes(partial, items, found.annotated.votes, found.outcomes, private=private)
    rows |= write_rejects(partial, [*found.gathered.rejects, *found.rejects], private=private)
    path = partial / "near_duplicates.parquet"
    near = write_table(path, found.near.table, NEAR_COLUMNS, private=private)
    rows |= rows_by_name(partial, near)
    figures = _figures(found)
    tables = _tables(found, figures)
    for name, table in tables.items():
        rows |= write_table_csv(partial, name, table, private=private)
    extra = {
        "sets": [report.as_json() for report in found.annotated.reports],
        "agreement": list(found.agreed),
    }
    write_figures(partial, figures, extra, private=private)

    def described(manifest: Manifest) -> None:
        write_card(place, card_of(found, tables, manifest), COLUMNS, manifest, rows)

    return Made(
        counts=found.stages(),
        rows=rows,
        warnings=found.warnings,
        details=details,
        describe=described,
    )


def _figures(found: SpecialtyBuild) -> list[Figure]:
    annotated, expert = found.annotated, found.expert
    if expert is None or not annotated.decisions:
        return []
    return accuracy_and_coverage(
        annotated.decisions,
        [expert.gold[at] for at in annotated.expert_places],
        [expert.groups[at] for at in annotated.expert_places],
        run="build",
        model=found.options.model or annotated.method,
        how=annotated.how,
        seed=found.options.seed,
    )


def _tables(found: SpecialtyBuild, figures: Sequence[Figure]) -> dict[str, list[dict[str, Any]]]:
    by_decider: dict[str, dict[str, Figure]] = {}
    for figure in figures:
        by_decider.setdefault(figure.subset["decided_by"], {})[figure.metric] = figure
    accuracy = [
        {
            "decided by": name,
            "accuracy": _share(own["accuracy"].value),
            "accuracy 95 %": _interval(own["accuracy"]),
            "coverage": _share(own["coverage"].value),
            "coverage 95 %": _interval(own["coverage"]),
            "decided": own["accuracy"].n,
            "of": own["coverage"].n,
        }
        for name, own in by_decider.items()
    ]
    tables: dict[str, list[dict[str, Any]]] = {"accuracy_coverage": accuracy}
    if found.options.annotator != "metadata":
        voted = [
            one
            for one, votes in zip(found.annotated.tallies, found.annotated.votes, strict=True)
            if not (len(votes) == 1 and votes[0].voter == "metadata")
        ]
        by_specialty, undecided = sizes(voted, [*found.pack.names, found.pack.others])
        sums, _ = totals(by_specialty)
        last: list[dict[str, Any]] = [
            {"specialty": "all", **sums},
            {"specialty": "no majority", **undecided},
        ]
        tables["sizes"] = [*by_specialty, *(last if by_specialty else [])]
    tables["sets"] = [
        {
            "alpha": report.alpha,
            "coverage": _share(report.found.covered.value),
            "of": report.found.covered.n,
            "band 95 %": "–"
            if report.found.band is None
            else f"{report.found.band[0]:.3f}–{report.found.band[1]:.3f}",
            "within": {True: "yes", False: "no", None: "–"}[report.found.within_band],
            "calibrated on": report.limit.n,
            "mean size": f"{report.found.mean_size:.2f}",
            "empty": report.found.empty,
            "F1": f"{report.found.f1:.3f}",
            "different scores": report.scores,
        }
        for report in found.annotated.reports
    ]
    tables["near_duplicates"] = [
        {"one": one, "other": other, "pairs": pairs}
        for (one, other), pairs in sorted(found.near.across.items())
    ]
    if found.agreed:
        tables["agreement"] = [dict(row) for row in found.agreed]
    return tables


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return "–"
    return f"{figure.low:.3f}–{figure.high:.3f}"
