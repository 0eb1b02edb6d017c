"""`clinqa build echo`: files of reports in, a dataset folder out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from clinqa.builders.reports.batch_items import ItemOptions
from clinqa.builders.reports.batches import BuiltBatches, Recipe
from clinqa.builders.reports.report_card import NO_PATIENT, card_of, two_valued
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.writer import DatasetWriter, WriteResult
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.origin import PARTLY, SIMULATED
from clinqa.core.records import DataClass, Reason
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
from clinqa.dataset.publish import write_card
from clinqa.dataset.splits import items_of_splits
from clinqa.kinds.long_form.columns import COLUMNS
from clinqa.kinds.long_form.discord import load_discord
from clinqa.kinds.long_form.questions import questionnaire
from clinqa.packs.loader import Pack
from clinqa.privacy.screen import KINDS
from clinqa.reading.labeller import LONGEST
from clinqa.reading.scan import ScanEngine
from clinqa.simulate.echo import is_simulated
from clinqa.sources.reports import (
    InputPlan,
    ReadCounts,
    ReadOptions,
    ReportReader,
    describe,
    read_reports,
)
from clinqa.sources.reports.inputs import input_records

__all__ = ["BuildOptions", "build_reports"]

VERB = "build echo"
_REPORT_BYTES = 1000  # of a typical report, with its row
NO_REPORT = "no_report_in_note"
NO_SUBJECT = (
    f"{NO_PATIENT}: each study is its own group, so studies of one patient may stand in "
    "different splits (--subject-col names the column)"
)


def build_reports(
    inputs: Sequence[Path],
    out: Path,
    options: BuildOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Build the dataset of these reports in `out`, or say that it is there already.

    A second call after a kill starts over inside the same folder and gives the same rows.
    """
    options = options or BuildOptions()
    options.check()
    recipe = _recipe(options)
    pack = recipe.load()
    questionnaire(pack)
    _check_discord(pack)
    read_options = ReadOptions(
        out=Path(os.path.realpath(out)),
        text_col=options.text,
        subject_col=options.subject,
        study_col=options.study,
        max_chars=options.max_chars,
        limit=options.limit,
        batch_rows=options.batch_rows,
    )
    plan = describe(inputs, read_options)
    plan.check()
    recipe = replace(recipe, size_hint=_about(plan, options.limit))
    origin = _origin(plan, options)
    data_class = options.data_class or _UNDECLARED[origin]
    return run_stage(
        Stage(
            verb=VERB,
            holds="this build",
            out=out,
            options=options,
            data_class=data_class,
            origin=origin,
            plan=partial(_dry_run, plan, pack, options, data_class, out),
            known=lambda: _known(
                options, pack, input_records(inputs, plan.bytes, progress, read_options.out)
            ),
            work=lambda place: _ReportBuild(options, recipe, plan, progress, pack).made(
                read_reports(inputs, read_options), place
            ),
            told=_counts,
            seeds={"seed": options.seed},
        )
    )


_UNDECLARED = {
    SIMULATED: DataClass.PUBLIC,
    PARTLY: DataClass.RESTRICTED,
    "": DataClass.RESTRICTED,
}
"""The class of reports of which nobody says how far they may travel, by their origin."""


def _origin(plan: InputPlan, options: BuildOptions) -> str:
    """Where the reports come from: made up where all files can be made anew, byte for byte."""
    made = {is_simulated(file.path, options.workers or 1) for file in plan.files}
    return SIMULATED if made == {True} else PARTLY if True in made else ""


class _ReportBuild:
    """One run from the first batch to the tables in the partial folder, with what it counted."""

    def __init__(
        self,
        options: BuildOptions,
        recipe: Recipe,
        plan: InputPlan,
        progress: Progress,
        pack: Pack,
    ) -> None:
        self._options, self._recipe, self._progress = options, recipe, progress
        self._identifiers: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._subjects_known = all(file.subject_col for file in plan.readable)
        self._read = ReadCounts()
        self._unread: list[str] = []
        self._too_long = 0
        self._plan, self._pack = plan, pack

    def made(self, reader: ReportReader, place: Workplace) -> Made:
        """Everything but card and manifest, and what both tell."""
        result = self._write(reader, place)

        def described(manifest: Manifest) -> None:
            card = card_of(
                self._pack,
                self._options,
                result,
                manifest.warnings,
                subjects_known=self._subjects_known,
                identifiers=self._identifiers,
            )
            self._progress("writing", 1, 1)
            write_card(place, card, COLUMNS, manifest, result.rows)

        return Made(
            counts=result.counts,
            rows=result.rows,
            warnings=self._warnings(result),
            details={
                "identifier_screen": dict(self._identifiers),
                "bad_bytes": self._read.bad_bytes,
                "studies_without_patient": self._read.no_group,
                "statements_too_long": self._too_long,
                "two_valued": two_valued(self._pack),
            },
            describe=described,
        )

    def _write(self, reader: ReportReader, place: Workplace) -> WriteResult:
        """Read, label and write everything but card and manifest."""
        options = self._options
        writer = DatasetWriter(
            place.partial,
            seed=options.seed,
            sample_subjects=options.sample_subjects,
            drawn_share=options.unmentioned,
            private=place.private,
        )
        self._read = reader.counts
        built = BuiltBatches(reader, self._recipe, options.workers or 1)
        without_block = notes = 0
        for batch in built:
            writer.add(batch.tables)
            self._identifiers.update(batch.identifiers)
            without_block += batch.without_block
            self._too_long += batch.too_long
            notes += batch.notes
            self._progress("reading and labelling", notes, fraction=reader.fraction)
        for reason, count in sorted(reader.counts.out_of_scope.items()):
            writer.out_of_scope(reason, count)
        if without_block:
            writer.out_of_scope(NO_REPORT, without_block)
        self._unread = list(reader.broken)
        self._progress("writing", 0, 1)
        return writer.finish(built.readings.table())

    def _warnings(self, result: WriteResult) -> list[str]:
        """What a user should know before trusting the dataset; counts only."""
        read, broken = self._read, self._read.rejects[Reason.BROKEN_FILE]
        files = "1 file" if broken == 1 else f"{broken:,} files"
        unread = visible("; ".join(self._unread))
        if (unnamed := broken - len(self._unread)) > 0:
            unread += f"; and {unnamed:,} more"
        why = "rejects.parquet says why" if read.read else "the input holds no report"
        hits = {kind: n for kind, n in self._identifiers.items() if n and kind != "placeholders"}
        named = ", ".join(f"{kind.replace('_', ' ')} {n:,}" for kind, n in sorted(hits.items()))
        share = self._options.unmentioned
        not_drawn = result.counts["items"].out_of_scope_by_reason.get("not_drawn")
        told = (
            (broken, f"{files} could not be read, or not to the end: {unread}"),
            (
                not result.counts["studies"].kept,
                f"no study was kept: the dataset is empty; {why}",
            ),
            (
                not self._pack.lexicon,
                "the pack has no lexicon: the grammar alone reads the statements",
            ),
            (not self._subjects_known, NO_SUBJECT),
            (
                self._subjects_known and read.no_group,
                f"{read.no_group:,} reports name no patient; each is its own group",
            ),
            (
                read.bad_bytes,
                f"{read.bad_bytes:,} bytes in {read.bad_texts:,} reports were no UTF-8 and became "
                "U+FFFD; is the file in another encoding?",
            ),
            (
                self._too_long,
                f"{self._too_long:,} statements of more than {LONGEST:,} characters were not read; "
                "do the reports lack their line ends or full stops?",
            ),
            (hits, f"text that looks like identifiers ({named}); see the card"),
            (
                share is not None and not not_drawn,
                f"unmentioned questions are fewer than {share or 0:.0%} of all items: the reports "
                "leave no more unsaid",
            ),
            (
                self._options.profile == "published",
                "profile published repeats known faults of the published labels; do not use it for "
                "anything but comparison",
            ),
        )
        said = [text for there, text in told if there]
        return [*map(visible, self._plan.warnings), *said, *result.alike]


def _recipe(options: BuildOptions) -> Recipe:
    return Recipe(
        pack=options.pack,
        pack_dir=options.pack_dir,
        profile=options.profile,
        engine=cast(ScanEngine, options.engine),
        items=ItemOptions(
            full=options.questions == "full",
            by_section=options.context == "section",
            unmentioned=options.unmentioned is not None,
            seed=options.seed,
        ),
    )


def _about(plan: InputPlan, limit: int | None) -> int:
    """Roughly how many reports there are: it decides which engine starts sooner, no row."""
    reports = max(plan.bytes // _REPORT_BYTES, sum(file.files for file in plan.readable))
    return reports if limit is None else min(limit, reports)


def _check_discord(pack: Pack) -> None:
    """A mistake in the pack's table of measurements is told now, not when the dataset is shown."""
    path = pack.folder / "discord.yaml"
    if path.exists():
        for measurement in load_discord(path).measurements:
            if measurement.abnormality not in pack.abnormalities:
                raise ConfigError(f"{path}: unknown abnormality {measurement.abnormality!r}")


def _known(options: BuildOptions, pack: Pack, records: Sequence[FileRecord]) -> Known:
    """What the run was told, and what decides the rows: neither workers nor engine."""
    hashes = [record.sha256 for record in records]
    if options.limit is None:
        hashes.sort()  # under a limit the order of inputs decides what is read
    told = {
        "pack": pack.spec.id,
        "profile": options.profile,
        "questions": options.questions,
        "context": options.context,
        "unmentioned_share": options.unmentioned,
        "sample_subjects": options.sample_subjects,
        "limit": options.limit,
        "max_chars": options.max_chars,
        "text_col": options.text,
        "subject_col": options.subject,
        "study_col": options.study,
        "seed": options.seed,
    }
    return Known(told, records, {"pack_fingerprint": pack.fingerprint, "inputs": hashes})


def _dry_run(
    plan: InputPlan, pack: Pack, options: BuildOptions, data_class: DataClass, out: Path
) -> list[str]:
    """What would be read and written; nothing is sent anywhere."""
    lines = []
    for file in plan.files:
        what = file.problem or f"{file.layout}, {file.bytes:,} bytes" + (
            f" in {file.files:,} files" if file.files > 1 else ""
        )
        columns = {"text": file.text_col, "patient": file.subject_col, "study": file.study_col}
        named = ", ".join(f"{role} {name}" for role, name in columns.items() if name)
        lines.append(
            f"would read {visible(str(file.path))} ({what}{f'; {named}' if named else ''})"
        )
    lines += [f"would skip: {visible(text)}" for text in plan.warnings]
    if plan.ignored:
        lines.append(f"would pass over {plan.ignored:,} other files")
    lines.append(
        f"would label {len(pack.abnormalities)} abnormalities with pack {pack.spec.id}, profile "
        f"{options.profile}; questions {options.questions}, context {options.context}"
    )
    lines.append(f"would write a dataset ({data_class.value}) to {visible(str(out))}")
    lines.append("would send nothing anywhere")
    return lines


def _counts(manifest: Manifest) -> dict[str, int]:
    studies, items = manifest.counts["studies"], manifest.counts["items"]
    return {
        "read": studies.read,
        "kept": studies.kept,
        "rejected": studies.rejected,
        "duplicates": studies.duplicates,
        "out_of_scope": studies.out_of_scope,
        "labels": manifest.rows.get("labels.parquet", 0),
        "items": items.kept,
        **items_of_splits(manifest),
        "statements": manifest.rows.get("statements.parquet", 0),
    }
