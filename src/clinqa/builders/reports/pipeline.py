"""`clinqa build echo`: files of reports in, a dataset folder out."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import clinqa
from clinqa.builders.reports.batch_items import ItemOptions
from clinqa.builders.reports.batches import Recipe
from clinqa.builders.reports.describe import NO_PATIENT, card_of, two_valued
from clinqa.builders.reports.merged import BuiltBatches
from clinqa.builders.reports.options import BuildOptions, BuildResult, Progress, silent
from clinqa.builders.reports.writer import DatasetWriter, WriteResult
from clinqa.core.durable import writing
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, Manifest, identity_of, library_versions
from clinqa.core.outfolder import OutFolder, open_out
from clinqa.core.records import Reason
from clinqa.core.visible import visible
from clinqa.dataset.publish import write_card
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.long_form.columns import COLUMNS
from clinqa.kinds.long_form.discord import load_discord
from clinqa.kinds.long_form.questions import questionnaire
from clinqa.packs.loader import Pack
from clinqa.privacy import is_private
from clinqa.privacy.screen import KINDS
from clinqa.reading.labeller import LONGEST, PROFILES
from clinqa.reading.scan import ScanEngine
from clinqa.sources.reports import (
    InputPlan,
    ReadCounts,
    ReadOptions,
    ReportReader,
    describe,
    read_reports,
)
from clinqa.sources.reports.inputs import input_records

__all__ = ["BuildOptions", "BuildResult", "build_reports"]

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
) -> BuildResult:
    """Build the dataset of these reports in `out`, or say that it is there already.

    A second call after a kill starts over inside the same folder and gives the same rows.
    """
    options = options or BuildOptions()
    options.check()
    if options.profile not in PROFILES:
        raise ConfigError(f"--profile must be one of {', '.join(PROFILES)}")
    recipe = _recipe(options)
    pack = recipe.load()
    questionnaire(pack)
    _check_discord(pack)
    read_options = _read_options(options, out)
    plan = describe(inputs, read_options)
    plan.check()
    recipe = replace(recipe, size_hint=_about(plan, options.limit))
    if options.dry_run:
        return BuildResult({}, notes=_dry_run(plan, pack, options, out))
    records = input_records(inputs, plan.bytes, progress, read_options.out)
    configuration = _configuration(options, pack)
    identity = _identity(configuration, pack, options, records)
    with open_out(
        out, identity, fresh=options.fresh, private=is_private(options.data_class)
    ) as folder:
        if folder.done is not None:
            return BuildResult(
                _counts(folder.done),
                list(folder.done.warnings),
                [f"already done: {visible(str(out))} holds this build"],
                already_done=True,
            )
        run = _Run(options, recipe, plan, progress, pack)
        result = run.write(read_reports(inputs, read_options), folder)
        manifest = run.manifest(result, identity, configuration, records)
        manifest = manifest.with_counts(result.counts)
        card = card_of(
            pack,
            options,
            result,
            manifest.warnings,
            subjects_known=run.subjects_known,
            identifiers=run.identifiers,
        )
        progress("writing", 1, 1)
        with writing(folder.path):
            write_card(folder.partial, card, COLUMNS, manifest, result.rows, private=folder.private)
        finished = folder.commit(manifest, result.rows)
    return BuildResult(_counts(finished), list(finished.warnings))


class _Run:
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
        self._started, self._clock = _now(), time.monotonic()
        self.identifiers: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.subjects_known = all(file.subject_col for file in plan.readable)
        self.read = ReadCounts()
        self.unread: list[str] = []
        self.too_long = 0
        self._plan, self._pack = plan, pack

    def write(self, reader: ReportReader, folder: OutFolder) -> WriteResult:
        """Read, label and write everything but card and manifest."""
        options = self._options
        writer = DatasetWriter(
            folder.partial,
            seed=options.seed,
            sample_subjects=options.sample_subjects,
            drawn_share=_share(options),
            private=folder.private,
        )
        self.read = reader.counts
        built = BuiltBatches(reader, self._recipe, options.workers or 1)
        without_block = notes = 0
        for batch in built:
            writer.add(batch.tables)
            self.identifiers.update(batch.identifiers)
            without_block += batch.without_block
            self.too_long += batch.too_long
            notes += batch.notes
            self._progress("reading and labelling", notes, fraction=reader.fraction)
        for reason, count in sorted(reader.counts.out_of_scope.items()):
            writer.out_of_scope(reason, count)
        if without_block:
            writer.out_of_scope(NO_REPORT, without_block)
        self.unread = list(reader.broken)
        self._progress("writing", 0, 1)
        return writer.finish(built.readings.table())

    def manifest(
        self,
        result: WriteResult,
        identity: Mapping[str, Any],
        configuration: Mapping[str, Any],
        records: Sequence[FileRecord],
    ) -> Manifest:
        """The manifest, but for outputs and counts."""
        return Manifest(
            verb=VERB,
            data_class=self._options.data_class.value,
            identity=identity,
            clinqa=clinqa.__version__,
            command=["clinqa", *sys.argv[1:]],
            configuration=configuration,
            seeds={"seed": self._options.seed},
            inputs=records,
            started=self._started,
            finished=_now(),
            seconds=round(time.monotonic() - self._clock, 3),
            versions=library_versions(),
            warnings=self._warnings(result),
            details={
                "identifier_screen": dict(self.identifiers),
                "bad_bytes": self.read.bad_bytes,
                "studies_without_patient": self.read.no_group,
                "statements_too_long": self.too_long,
                "two_valued": two_valued(self._pack),
            },
        )

    def _warnings(self, result: WriteResult) -> list[str]:
        """What a user should know before trusting the dataset; counts only."""
        read = self.read
        found = [visible(text) for text in self._plan.warnings]
        if broken := read.rejects[Reason.BROKEN_FILE]:
            files = "1 file" if broken == 1 else f"{broken:,} files"
            more = f"; and {broken - len(self.unread):,} more" if broken > len(self.unread) else ""
            named = visible("; ".join(self.unread))
            found.append(f"{files} could not be read, or not to the end: {named}{more}")
        if not result.counts["studies"].kept:
            why = "rejects.parquet says why" if read.read else "the input holds no report"
            found.append(f"no study was kept: the dataset is empty; {why}")
        if not self._pack.lexicon:
            found.append("the pack has no lexicon: the grammar alone reads the statements")
        if not self.subjects_known:
            found.append(NO_SUBJECT)
        elif read.no_group:
            found.append(f"{read.no_group:,} reports name no patient; each is its own group")
        if read.bad_bytes:
            found.append(
                f"{read.bad_bytes:,} bytes in {read.bad_texts:,} reports were no UTF-8 and became "
                "U+FFFD; is the file in another encoding?"
            )
        if self.too_long:
            found.append(
                f"{self.too_long:,} statements of more than {LONGEST:,} characters were not read; "
                "do the reports lack their line ends or full stops?"
            )
        hits = {kind: n for kind, n in self.identifiers.items() if n and kind != "placeholders"}
        if hits:
            named = ", ".join(f"{kind.replace('_', ' ')} {n:,}" for kind, n in sorted(hits.items()))
            found.append(f"text that looks like identifiers ({named}); see the card")
        share = _share(self._options)
        if share is not None and not result.items.out_of_scope_by_reason.get("not_drawn"):
            found.append(
                f"unmentioned questions are fewer than {share:.0%} of all items: the reports leave "
                "no more unsaid"
            )
        if self._options.profile == "published":
            found.append(
                "profile published repeats known faults of the published labels; do not use it for "
                "anything but comparison"
            )
        return found


def _share(options: BuildOptions) -> float | None:
    """The share of questions on what is not mentioned; None where none are asked."""
    return options.unmentioned_share or None if options.questions == "full" else None


def _recipe(options: BuildOptions) -> Recipe:
    return Recipe(
        pack=options.pack,
        pack_dir=options.pack_dir,
        profile=options.profile,
        engine=cast(ScanEngine, options.engine),
        items=ItemOptions(
            full=options.questions == "full",
            by_section=options.context == "section",
            unmentioned=_share(options) is not None,
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


def _read_options(options: BuildOptions, out: Path) -> ReadOptions:
    return ReadOptions(
        out=Path(os.path.realpath(out)),
        text_col=options.text_col,
        subject_col=options.subject_col,
        study_col=options.study_col,
        max_chars=options.max_chars,
        limit=options.limit,
        batch_rows=options.batch_rows,
    )


def _configuration(options: BuildOptions, pack: Pack) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    return {
        "pack": pack.spec.id,
        "profile": options.profile,
        "questions": options.questions,
        "context": options.context,
        "unmentioned_share": _share(options),
        "sample_subjects": options.sample_subjects,
        "limit": options.limit,
        "max_chars": options.max_chars,
        "text_col": options.text_col,
        "subject_col": options.subject_col,
        "study_col": options.study_col,
        "seed": options.seed,
    }


def _identity(
    configuration: Mapping[str, Any],
    pack: Pack,
    options: BuildOptions,
    records: Sequence[FileRecord],
) -> dict[str, Any]:
    """What decides the rows: neither workers nor engine, nor where anything lies."""
    hashes = [record.sha256 for record in records]
    if options.limit is None:
        hashes.sort()  # under a limit the order of inputs decides what is read
    return identity_of(
        {
            **configuration,
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "pack_fingerprint": pack.fingerprint,
            "data_class": options.data_class.value,
            "inputs": hashes,
        }
    )


def _dry_run(plan: InputPlan, pack: Pack, options: BuildOptions, out: Path) -> list[str]:
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
    lines.append(f"would write a dataset ({options.data_class.value}) to {visible(str(out))}")
    lines.append("would send nothing anywhere")
    return lines


def _counts(manifest: Manifest) -> dict[str, int]:
    studies, items = manifest.counts["studies"], manifest.counts["items"]
    rows = {record.name: record.rows or 0 for record in manifest.outputs}
    return {
        "read": studies.read,
        "kept": studies.kept,
        "rejected": studies.rejected,
        "duplicates": studies.duplicates,
        "out_of_scope": studies.out_of_scope,
        "labels": rows.get("labels.parquet", 0),
        "items": items.kept,
        **{
            split: sum(n for name, n in rows.items() if name.startswith(f"data/{split}-"))
            for split in SPLITS
        },
        "statements": rows.get("statements.parquet", 0),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
