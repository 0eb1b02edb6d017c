"""`clinqa build ecg`: PDFs in, a dataset folder of statement pairs out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from clinqa.builders.pairs import CUTS, PairRow, PairsWritten, write_pairs
from clinqa.builders.references.drafts import Page
from clinqa.builders.references.generate import (
    Generated,
    document_counts,
    generate,
    open_asker,
    open_sight,
    transcribed,
)
from clinqa.builders.references.pack_words import Words, words_of
from clinqa.builders.references.pair_card import card_of, configuration_of, would_do, write_pages
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.references.stages import Pair, Staged, denial_shares, merge, to_pairs
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.outfolder import EGRESS
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
from clinqa.core.wording import many
from clinqa.dataset.near_duplicates import highest_across
from clinqa.dataset.publish import write_card
from clinqa.dataset.splits import SPLITS, items_of_splits, split_groups
from clinqa.kinds.true_false.columns import COLUMNS
from clinqa.kinds.true_false.pairs import probe
from clinqa.models.protocol import told_of_service
from clinqa.packs.references import ReferencePack, builtin_reference_pack, load_references
from clinqa.sources.pdf import (
    PAGES,
    FileOutcome,
    Identity,
    Mode,
    PageJournal,
    PdfDocument,
    PdfOptions,
    PdfReader,
    Why,
    passwords,
)

__all__ = ["VERB", "build_references"]

VERB = "build ecg"
_READ_MODES = (Mode.TEXT, Mode.BOTH)


def build_references(
    inputs: Sequence[Path],
    out: Path,
    options: ReferenceOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Build the dataset of these documents in `out`, or say that it is there already.

    A run that was ended goes on where it was: pages that were parsed and answers that were paid
    for are in the journal of the unfinished folder.
    """
    options = options or ReferenceOptions()
    options.check()
    pack = (
        load_references(options.pack_dir)
        if options.pack_dir
        else builtin_reference_pack(options.pack)
    )
    pdf = PdfOptions(
        passwords=passwords(options.password_file),
        workers=options.workers or 1,
        limit=options.limit,
        out=Path(os.path.realpath(out)),
    )
    with PdfReader(pdf) as reader:
        plan, skipped = reader.plan(inputs), reader.found.skipped
        unlocked = [] if options.dry_run else reader.unlocked(plan)
    records = [FileRecord(f"{one.md5}.pdf", one.md5, one.bytes) for one in plan]
    decides = {
        "pack_fingerprint": pack.fingerprint,
        "documents": sorted(record.sha256 for record in records),
        "unlocked": unlocked,
    }

    def made(place: Workplace) -> Made:
        run = _Run(options, pack, progress, place, skipped)
        run.read(plan, pdf)
        run.draft(pdf)
        return run.write()

    return run_stage(
        Stage(
            verb=VERB,
            holds="this build",
            out=out,
            options=options,
            data_class=options.data_class,
            plan=partial(would_do, plan, options, pack, out),
            known=lambda: Known(configuration_of(options, pack), records, decides),
            work=made,
            told=_told,
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "polars", "pdfplumber", "pypdfium2", "rapidfuzz"),
            resume=True,
        )
    )


@dataclass
class _Run:
    """One run from the first page to the finished folder."""

    options: ReferenceOptions
    pack: ReferencePack
    progress: Progress
    place: Workplace
    skipped: Mapping[str, int]
    """What of the inputs' folders was passed over, by why."""
    documents: list[PdfDocument] = field(default_factory=list)
    generated: Generated = field(default_factory=Generated)
    staged: Staged = field(default_factory=Staged)
    pairs: list[Pair] = field(default_factory=list)
    left_out: int = 0
    service: dict[str, list[Any]] = field(default_factory=dict)
    """What the services did that were asked, by their models; and the same in words."""
    service_warnings: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    """Of the judge: yes, no, or why there is none."""

    def __post_init__(self) -> None:
        self._words: Words = words_of(self.pack)

    def read(self, plan: Sequence[Identity], pdf: PdfOptions) -> None:
        """All documents, their pages from the journal where an earlier run parsed them."""
        with (
            PageJournal(self.place.journal, private=self.place.private) as store,
            PdfReader(pdf, store) as reader,
        ):
            read = reader.read_planned(plan, self.progress)
            self.documents = [_without(document, self.options.skipped) for document in read]
            self.left_out = reader.left_out

    def draft(self, pdf: PdfOptions) -> None:
        """Generation, verification, merging, pairing, near-duplicates, the choice of forms."""
        options, progress = self.options, self.progress
        pages = _pages(self.documents)
        with (
            open_sight(options, self.pack, self.place, progress) as eyes,
            open_asker(options, self.pack, self.place, progress) as asker,
        ):
            sight = (
                partial(transcribed, eyes, self.documents, pdf, progress=progress)
                if eyes is not None
                else None
            )
            self.generated = generate(
                pages, options, self._words, asker, self.documents, progress, sight
            )
            self.staged = self.generated.staged
            merge(self.staged, options.accept_vision)
            self.pairs = to_pairs(
                self.staged,
                self._words,
                seed=options.seed,
                negation_cap=options.negation_cap,
                asker=asker,
                judge=options.judge,
            )
            for one in filter(None, (eyes, asker)):
                told, warnings = told_of_service(one.model)
                self.service.setdefault(one.model.name, []).extend(told.values())
                self.service_warnings += warnings
            self.verdicts = asker.verdicts if asker is not None else Counter()

    def write(self) -> Made:
        """Everything into the folder but what comes with the manifest."""
        options = self.options
        self.progress("writing", 0, 1)
        by_document = options.split_by == "document"
        rows = [_row(pair, by_document) for pair in self.pairs]
        file_rejects = [one.reject for one in self.documents if one.reject is not None]
        page_rejects = [
            page.reject
            for document in self.documents
            for page in document.pages
            if page.reject is not None
        ]
        rejects = [*file_rejects, *page_rejects, *self.generated.rejects, *self.staged.rejects]
        counts = {
            "documents": document_counts(self.documents, file_rejects),
            "pages": self.generated.page_counts(self.documents, page_rejects),
            **self.staged.counts,
        }
        place = self.place
        where, private = place.partial, place.private
        place.folder.write_anew(keep=frozenset({EGRESS}))
        written = write_pairs(where, rows, rejects, seed=options.seed, private=private)
        transcripts = [(page.md5, page.page, page.text) for page in self.generated.transcripts]
        topic = _topic_of_pages(self.staged, self.pack)
        all_rows = dict(written.rows)
        all_rows |= write_pages(where, self.documents, topic, transcripts, private=private)
        stages = {**counts, **written.counts}

        def described(manifest: Manifest) -> None:
            card = card_of(self.pack, options, manifest, written.splits, self.pairs, rejects)
            write_card(place, card, COLUMNS, manifest, all_rows, {"pages.parquet": PAGES})

        return Made(
            counts=stages,
            rows=all_rows,
            warnings=self._warnings(written),
            details=self._details(rows, counts),
            describe=described,
        )

    def _details(
        self, rows: Sequence[PairRow], counts: Mapping[str, StageCounts]
    ) -> dict[str, Any]:
        statements = [text for row in rows for text in (row.true, row.false)]
        labels = [label for _ in rows for label in (True, False)]
        found = probe(statements, labels, [row.id for row in rows for _ in "tf"])
        places = split_groups((row.group for row in rows), self.options.seed, CUTS)
        across = highest_across(
            [row.source_text for row in rows], [places[row.group] for row in rows]
        )
        funnel = {"pages": counts["pages"].read, **self.staged.funnel}
        modes = Counter(page.mode.value for one in self.documents for page in one.pages)
        return {
            "funnel": funnel,
            "modes": {mode.value: modes[mode.value] for mode in Mode},
            "probe": found.as_json(),
            "denials": dict(denial_shares(self.pairs, self._words)),
            "across_splits": round(across, 4),
            "edits": dict(Counter(pair.form.edit.value for pair in self.pairs)),
            "topics": {name: topic.name for name, topic in self.pack.spec.topics.items()},
            "pairs": len(rows),
            **({"judge": self._judge()} if self.options.judge else {}),
            **({"service": self.service} if any(self.service.values()) else {}),
        }

    def _judge(self) -> dict[str, Any]:
        """What the judge said of the statements that it was asked about."""
        said = self.verdicts
        none = {why: n for why, n in sorted(said.items()) if why not in ("yes", "no")}
        return {"statements": said.total(), "yes": said["yes"], "no": said["no"], "none": none}

    def _warnings(self, written: PairsWritten) -> list[str]:
        """What a user should know before trusting the dataset; counts only."""
        bad = Counter(
            document.outcome.value.replace("_", " ")
            for document in self.documents
            if document.outcome is not FileOutcome.READ
        )
        pages = [page for one in self.documents for page in one.pages]
        beyond = sorted(self.options.skipped - {page.page for page in pages})
        unseen, failed = self.generated.unseen, self.generated.failed
        empty = [name for name in SPLITS if not written.splits[name]["items"]]
        none = self._judge()["none"]
        told = (
            (
                none,
                f"the judge gave no verdict on {sum(none.values()):,} of "
                f"{many(self.verdicts.total(), 'statement')} ({_named(none)}); their pairs are "
                "among the rejects (no_verdict)",
            ),
            (bad, f"{many(bad.total(), 'file')} gave no page ({_named(bad)})"),
            (self.skipped, f"passed over in the folders: {_named(self.skipped)}"),
            (self.left_out, f"--limit left {many(self.left_out, 'document')} unread"),
            (beyond, f"--skip-pages: no document has page {', '.join(map(str, beyond[:5]))}"),
            (
                pages and all(page.reason is Why.SKIPPED for page in pages),
                "--skip-pages leaves no page of any document",
            ),
            (
                unseen,
                f"{many(unseen, 'page')} without text that can be read left out; "
                "--vision-model reads them",
            ),
            (
                failed,
                f"the model gave no answer for {many(failed.total(), 'page')} ({_named(failed)})",
            ),
            (
                not self.pairs,
                "no pair was made: the dataset is empty; rejects.parquet says why",
            ),
            (
                self.pairs and empty,
                f"too few groups: split {' and '.join(empty)} is empty",
            ),
        )
        own = [text for document in self.documents for text in document.warnings]
        return [*own, *(text for there, text in told if there), *self.service_warnings]


def _named(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))


def _without(document: PdfDocument, skipped: Container[int]) -> PdfDocument:
    """The document without the text of these pages, whatever became of them."""
    pages = [
        replace(page, text="", mode=Mode.NONE, reason=Why.SKIPPED, reject=None)
        if page.page in skipped
        else page
        for page in document.pages
    ]
    return replace(document, pages=tuple(pages))


def _pages(documents: Iterable[PdfDocument]) -> list[Page]:
    """The pages that have text, each with its neighbours; document names are not among it."""
    made = []
    for document in documents:
        texts = [page.text for page in document.pages]
        for i, page in enumerate(document.pages):
            if page.mode in _READ_MODES:
                made.append(
                    Page(
                        document.md5,
                        page.page,
                        page.text,
                        page.mode.value,
                        next_text=texts[i + 1] if i + 1 < len(texts) else None,
                        before_text=texts[i - 1] if i else None,
                    )
                )
    return made


def _row(pair: Pair, by_document: bool) -> PairRow:
    draft, form = pair.draft, pair.form
    return PairRow(
        pair.id,
        draft.md5 if by_document else pair.cluster,
        draft.md5,
        draft.part.value,
        draft.page,
        draft.start,
        draft.end,
        draft.source_text,
        draft.topic,
        draft.mode,
        draft.method,
        form.true,
        form.false,
    )


def _topic_of_pages(staged: Staged, pack: ReferencePack) -> dict[tuple[str, int], str]:
    """The topic that most drafts of a page are about."""
    found: dict[tuple[str, int], Counter[str]] = {}
    for draft in staged.drafts:
        found.setdefault((draft.md5, draft.page), Counter())[draft.topic] += 1
    order = list(pack.spec.topics)
    return {
        page: min(own, key=lambda topic: (-own[topic], order.index(topic)))
        for page, own in found.items()
    }


def _told(manifest: Manifest) -> dict[str, int]:
    counts = manifest.counts
    return {
        "documents": counts["documents"].read,
        "pages": counts["pages"].read,
        "drafts": counts["drafts"].read,
        "verified": int(manifest.details["funnel"].get("verified", 0)),
        "pairs": counts["pairs"].kept,
        "items": counts["items"].kept,
        **items_of_splits(manifest),
        "rejects": manifest.rows.get("rejects.parquet", 0),
    }
