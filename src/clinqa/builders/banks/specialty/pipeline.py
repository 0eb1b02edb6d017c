"""`clinqa build specialty`: banks of questions in, a dataset folder by clinical specialty out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from clinqa.builders.banks.flags import is_garbled, needs_image
from clinqa.builders.banks.gather import Alikes, Gathered, alikes, gather, groups_and_splits
from clinqa.builders.banks.specialty.annotate import (
    SpecialtyLabels,
    by_classifier,
    by_metadata,
    by_model,
    metadata_vote,
)
from clinqa.builders.banks.specialty.ask import ask
from clinqa.builders.banks.specialty.assess import agreement
from clinqa.builders.banks.specialty.expert import Expert, read_expert, with_aliases
from clinqa.builders.banks.specialty.features import MiniLM, find_minilm
from clinqa.builders.banks.specialty.plan import (
    VERB,
    bundled,
    counts_of,
    dry_run,
    known_of,
    price_of,
)
from clinqa.builders.banks.specialty.publish import SpecialtyBuild, publish
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.specialty.votes import VoteTally
from clinqa.builders.banks.specialty.write import Kept
from clinqa.core.alike_ids import told_alike
from clinqa.core.journal import Journal
from clinqa.core.manifest import FileRecord
from clinqa.core.records import Reason, Reject
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.core.visible import visible
from clinqa.models.protocol import ModelOptions, told_of_service
from clinqa.models.registry import open_model
from clinqa.packs.specialties import Specialties, builtin_specialties
from clinqa.sources.banks import BankFile, BankItem, BankOptions, bank_files, open_banks
from clinqa.sources.banks.bank_item import matching_text

__all__ = ["build_specialty"]

STAGE = "specialty"
_LIBRARIES = ("pyarrow", "numpy", "polars", "scipy", "scikit-learn", "torch", "transformers")


def build_specialty(
    banks: Sequence[str | Path],
    out: Path,
    options: SpecialtyOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Build the dataset in `out`, or say that it is there already."""
    options = options or SpecialtyOptions()
    options.check()
    pack = with_aliases(builtin_specialties(), options.specialty_aliases)
    reading = BankOptions(options.answer_base, options.limit)
    files, problems = open_banks([bundled(path) for path in banks], reading)
    experts = [bundled(path) for path in options.expert]
    expert = read_expert(experts, pack, reading, options.seed) if experts else None
    wants_meaning = options.meaning and options.annotator == "classifier"
    minilm = find_minilm() if wants_meaning else None
    embed = MiniLM(minilm) if minilm and not options.dry_run else None
    labelled = bank_files([*experts, *options.annotations])

    def planned() -> list[str]:
        gathered = gather(files, options.limit)
        return dry_run(files, problems, gathered, expert, options, pack, minilm, out)

    def known() -> Known:
        told = filter(None, [options.specialty_aliases])
        inputs = [FileRecord.of(one) for one in (*(f.path for f in files), *labelled, *told)]
        return known_of(options, pack, inputs, embed.identity if embed else None, len(files))

    return run_stage(
        Stage(
            verb=VERB,
            holds="this build",
            out=out,
            options=options,
            data_class=options.data_class,
            plan=planned,
            known=known,
            work=lambda place: _Run(options, pack, place, expert, embed, progress).made(
                files, problems
            ),
            told=counts_of,
            seeds={"seed": options.seed},
            libraries=_LIBRARIES,
            resume=options.annotator == "llm",
            sends=options.annotator == "llm",
        )
    )


class _Run:
    """One run: gather, annotate, sort out."""

    def __init__(
        self,
        options: SpecialtyOptions,
        pack: Specialties,
        place: Workplace,
        expert: Expert | None,
        embed: MiniLM | None,
        progress: Progress,
    ) -> None:
        self._options, self._pack, self._place = options, pack, place
        self._expert, self._embed, self._progress = expert, embed, progress
        self._service_warnings: list[str] = []

    def made(self, files: Sequence[BankFile], problems: Sequence[str]) -> Made:
        """Everything but the manifest, written."""
        found = self._outcome(files, problems)
        details = {
            "annotator": found.annotated.details,
            "near_duplicate_pairs": found.near.table.num_rows,
            "leaking_pairs": found.near.leaks,
        }
        return publish(self._place, found, details)

    def _outcome(self, files: Sequence[BankFile], problems: Sequence[str]) -> SpecialtyBuild:
        """Everything that is to be written."""
        options = self._options
        self._progress("reading", 0, 1)
        gathered = gather(files, options.limit)
        items = gathered.items
        near = alikes(items, options.near)
        groups, splits = groups_and_splits(items, near.cluster, options.seed)
        annotated = self._annotated(items)
        reasons = self._reasons(items, annotated, near, splits)
        sizes = Counter(
            annotated.tallies[at].label for at, reason in enumerate(reasons) if reason is None
        )
        kept, rejects = [], []
        outcomes = []
        for at, item in enumerate(items):
            label, reason = annotated.tallies[at].label, reasons[at]
            if reason is None and sizes[label] < options.smallest:
                reason = Reason.SPECIALTY_TOO_SMALL
            outcomes.append("kept" if reason is None else reason.value)
            if reason is not None or label is None:
                why = reason or Reason.NO_MAJORITY
                detail = f"{annotated.tallies[at].count} votes" if annotated.votes[at] else ""
                rejects.append(Reject(STAGE, why, item.source_id, row=item.row, detail=detail))
                continue
            held = annotated.sets[at] if annotated.sets is not None else [label]
            method = "metadata" if _is_metadata(annotated, at) else annotated.method
            kept.append(
                Kept(
                    item,
                    groups[at],
                    splits[at],
                    label,
                    [label] if method == "metadata" else held,
                    annotated.votes[at],
                    method,
                    needs_image(item.question),
                    _garbled(item),
                )
            )
        agreed = agreement(options.annotations, items, self._expert, self._pack, options.seed)
        return SpecialtyBuild(
            options=options,
            pack=self._pack,
            gathered=gathered,
            near=near,
            annotated=annotated,
            kept=kept,
            rejects=rejects,
            outcomes=outcomes,
            expert=self._expert,
            agreed=agreed,
            warnings=self._warnings(gathered, problems, near, annotated, kept),
        )

    def _annotated(self, items: Sequence[BankItem]) -> SpecialtyLabels:
        options, pack = self._options, self._pack
        if options.annotator == "metadata":
            return by_metadata(items, pack)
        told = [metadata_vote(item, pack) if options.metadata_first else None for item in items]
        open_places = [at for at, vote in enumerate(told) if vote is None]
        rest = [items[at] for at in open_places]
        if options.annotator == "classifier":
            assert self._expert is not None
            found = by_classifier(
                rest,
                self._expert,
                pack,
                options.calibration,
                self._embed,
                options.seed,
                self._progress,
            )
        else:
            found = by_model(rest, self._expert, self._ask, options.calibration, options.seed)
        if len(rest) == len(items):
            return found
        votes = [[vote] if vote else [] for vote in told]
        tallies = [VoteTally(vote.label, 1) if vote else VoteTally(None, 0) for vote in told]
        sets: list[list[str]] = [[] for _ in items]
        for place, at in enumerate(open_places):
            votes[at], tallies[at] = found.votes[place], found.tallies[place]
            if found.sets is not None:
                sets[at] = found.sets[place]
        found.votes, found.tallies = votes, tallies
        found.sets = sets if found.sets is not None else None
        return found

    def _ask(self, items: Sequence[BankItem]) -> Any:
        options, place = self._options, self._place
        given = ModelOptions(
            data_class=options.data_class,
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            max_parallel=options.max_parallel,
            timeout=options.timeout,
            leave_out=tuple(options.leave_out),
            price_file=options.price_file,
            attestations=options.attestations,
            egress_log=place.egress,
        )
        with (
            closing(open_model(options.model, given)) as model,
            Journal(place.journal, private=place.private) as journal,
        ):
            votes, took = ask(
                items,
                self._pack,
                model,
                journal,
                seed=options.seed,
                progress=self._progress,
                price=price_of(options),
                max_cost=options.max_cost,
            )
            told, warnings = told_of_service(model)
            self._service_warnings = warnings
            return votes, {**took, **told}

    def _reasons(
        self,
        items: Sequence[BankItem],
        annotated: SpecialtyLabels,
        near: Alikes,
        splits: Sequence[str],
    ) -> list[Reason | None]:
        """Why each question is no item; None for those that may be one."""
        options = self._options
        held_out = {
            own for own, split in zip(near.cluster, splits, strict=True) if split != "train"
        }
        reasons: list[Reason | None] = []
        for at, item in enumerate(items):
            found = annotated.tallies[at]
            if options.annotator == "metadata" and found.label is None:
                reasons.append(Reason.NO_METADATA)
            elif _is_metadata(annotated, at):
                reasons.append(Reason.OTHERS if found.label == self._pack.others else None)
            else:
                reasons.append(found.reason(options.votes_needed, self._pack.others))
            if reasons[-1] is None and options.drop_flagged:
                if needs_image(item.question) or _garbled(item):
                    reasons[-1] = Reason.IMAGE_REFERENCE
            if reasons[-1] is None and options.drop_leaks:
                if splits[at] == "train" and near.cluster[at] in held_out:
                    reasons[-1] = Reason.IN_ANOTHER_SPLIT
        return reasons

    def _warnings(
        self,
        gathered: Gathered,
        problems: Sequence[str],
        near: Alikes,
        annotated: SpecialtyLabels,
        kept: Sequence[Kept],
    ) -> list[str]:
        leaks, unknown = near.leaks, self._expert.unknown if self._expert else 0
        flagged = sum(one.needs_image or one.garbled for one in kept)
        alike = sum(_alike(one.item) for one in kept)
        told = (
            (not kept, "no question was kept: the dataset is empty; rejects.parquet says why"),
            (
                leaks and not self._options.drop_leaks,
                f"{leaks:,} pairs of nearly the same question stand in different splits of "
                "the banks (near_duplicates.parquet); --drop-leaks takes them out of train",
            ),
            (unknown, f"{unknown:,} of the expert's records name no specialty"),
            (
                flagged,
                f"{flagged:,} items need an image or are garbled (columns needs_image, garbled)",
            ),
            (
                alike,
                "items with two options of one text, which no written answer can tell apart: "
                f"{alike:,}",
            ),
        )
        return [
            *(f"not read: {visible(text)}" for text in problems),
            *(f"not read to its end: {visible(text)}" for text in gathered.broken),
            *(text for there, text in told if there),
            *gathered.alike,
            *(_alike_labels(self._expert) if self._expert else []),
            *annotated.warnings,
            *self._service_warnings,
        ]


def _is_metadata(annotated: SpecialtyLabels, at: int) -> bool:
    votes = annotated.votes[at]
    return len(votes) == 1 and votes[0].voter == "metadata"


def _garbled(item: BankItem) -> bool:
    return any(map(is_garbled, (item.question, *item.options)))


def _alike(item: BankItem) -> bool:
    """Does one text stand in two places, so that only letters tell them apart?"""
    return len({matching_text(text) for text in item.options}) < len(item.options)


def _alike_labels(expert: Expert) -> list[str]:
    return told_alike("--expert", questions=((one.bank, one.item_id) for one in expert.items))
