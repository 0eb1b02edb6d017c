"""Stage 4: from pages to verified drafts, by rules or by a model; pictures by a vision model.

A page without text that can be read is transcribed first, if there is a vision model; quotes must
stand in the transcript, and what comes of it stays out of the dataset until a person accepts it.

Pages that have to be seen: pictures to a vision model, transcripts back.

What a transcript says is text of a model and not of the page: drafts quote it (part `transcript`),
and stay out of the dataset until a person accepts them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field

from clinqa.builders.references.asking import Asker, schema_for
from clinqa.builders.references.drafts import Page, PagePart
from clinqa.builders.references.pack_words import Words
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.references.stages import Staged, drafts_by_model, drafts_by_rules
from clinqa.core.errors import ConfigError
from clinqa.core.journal import Journal
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.core.stage import Progress, Workplace
from clinqa.models.protocol import ModelOptions, Sampling
from clinqa.models.registry import kind_of, open_model
from clinqa.packs.references import ReferencePack
from clinqa.sources.pdf import FileOutcome, Mode, PageImage, PdfDocument, PdfOptions, PdfReader, Why

__all__ = [
    "SEEING",
    "Generated",
    "document_counts",
    "generate",
    "open_asker",
    "open_sight",
    "transcribed",
]

UNSEEN = "needs_vision"
SKIPPED = "skipped_by_request"


@dataclass
class Generated:
    """The drafts of all pages, and the pages that gave none."""

    staged: Staged = field(default_factory=Staged)
    rejects: list[Reject] = field(default_factory=list)
    """Pages that a vision model could not transcribe."""
    unseen: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    transcripts: list[Page] = field(default_factory=list)

    def page_counts(
        self, documents: Sequence[PdfDocument], rejects: Sequence[Reject]
    ) -> StageCounts:
        """What became of every page: read, failed, blank, or without text that can be read."""
        pages = [page for document in documents for page in document.pages]
        failed = sum(page.reject is not None for page in pages)
        blank = sum(page.mode is Mode.NONE and page.reject is None for page in pages)
        skipped = sum(page.reason is Why.SKIPPED for page in pages)
        out = +Counter({"blank": blank - skipped, SKIPPED: skipped, UNSEEN: self.unseen})
        by_reason = Counter(reject.reason.value for reject in [*rejects, *self.rejects])
        rejected = failed + len(self.rejects)
        return StageCounts(
            read=len(pages),
            kept=len(pages) - rejected - sum(out.values()),
            rejected=rejected,
            out_of_scope=sum(out.values()),
            rejected_by_reason=dict(by_reason),
            out_of_scope_by_reason=dict(out),
        )


def document_counts(documents: Sequence[PdfDocument], rejects: Sequence[Reject]) -> StageCounts:
    """Files: read, the same bytes again, without pages, and those that cannot be read."""
    files = sum(max(1, len(document.names)) for document in documents)
    kept = sum(document.outcome is FileOutcome.READ for document in documents)
    empty = sum(document.outcome is FileOutcome.NO_PAGES for document in documents)
    by_reason = Counter(reject.reason.value for reject in rejects)
    return StageCounts(
        read=files,
        kept=kept,
        rejected=len(rejects),
        duplicates=files - len(documents),
        out_of_scope=empty,
        rejected_by_reason=dict(by_reason),
        out_of_scope_by_reason={"no_pages": empty} if empty else {},
    )


def open_asker(
    options: ReferenceOptions, pack: ReferencePack, place: Workplace, progress: Progress
) -> AbstractContextManager[Asker | None]:
    """The model that drafts, with its journal; None where rules do it."""
    if options.generator == "rules" or options.model is None:
        return nullcontext()
    extra = {}
    if kind_of(options.model).remote:
        names = [topic.name for topic in pack.spec.topics.values()]
        extra["json_schema"] = json.dumps(schema_for(names))
    return _asker(options.model, options, pack, place, progress, extra)


def open_sight(
    options: ReferenceOptions, pack: ReferencePack, place: Workplace, progress: Progress
) -> AbstractContextManager[Asker | None]:
    """The model that transcribes, with its journal; None where none was named."""
    name = options.vision_model
    if name is None:
        return nullcontext()
    if not name.startswith(SEEING):
        raise ConfigError(f"--vision-model {name}: pictures go to {', '.join(SEEING)} models")
    return _asker(name, options, pack, place, progress, {})


@contextmanager
def _asker(
    name: str,
    options: ReferenceOptions,
    pack: ReferencePack,
    place: Workplace,
    progress: Progress,
    extra: dict[str, str],
) -> Iterator[Asker]:
    """A model with its journal; where restricted text may go is for the egress guard."""
    given = ModelOptions(
        data_class=options.data_class,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        max_parallel=options.max_parallel,
        timeout=options.timeout,
        leave_out=tuple(options.leave_out),
        attestations=options.attestations,
        cache_dir=options.cache_dir,
        context_window=options.context_window,
        egress_log=place.egress,
        extra=extra,
    )
    sampling = Sampling(max_tokens=options.max_tokens)
    with (
        closing(open_model(name, given)) as model,
        Journal(place.journal, private=place.private) as journal,
    ):
        yield Asker(model, pack, sampling, journal, options.per_page, options.seed, progress)


def generate(
    pages: Sequence[Page],
    options: ReferenceOptions,
    words: Words,
    asker: Asker | None,
    documents: Sequence[PdfDocument],
    progress: Progress,
    sight: Callable[[Generated], list[Page]] | None = None,
) -> Generated:
    """The verified drafts of all pages; `sight` transcribes those that have to be seen."""
    made = Generated()
    made.unseen = sum(page.mode is Mode.VISION for document in documents for page in document.pages)
    if sight is not None:
        made.unseen = 0
        pages = [*pages, *sight(made)]
    if asker is None:
        progress("reading sentences", 0, len(pages))
        made.staged = drafts_by_rules(pages, words)
        return made
    drafted = list(asker.drafts(pages))
    made.failed.update(one.failed for one in drafted if one.failed)
    made.staged = drafts_by_model(drafted, words)
    return made


SEEING = ("openai:", "azure:", "scripted:")
_STAGE = "pages"
_AT_ONCE = 8


def transcribed(
    asker: Asker,
    documents: Sequence[PdfDocument],
    pdf: PdfOptions,
    made: Generated,
    progress: Progress,
) -> list[Page]:
    """The transcripts of all pages that have to be seen; what cannot be read is a reject."""
    wanted = [
        (document, page)
        for document in documents
        for page in document.pages
        if page.mode in (Mode.BOTH, Mode.VISION)
    ]
    pages: list[Page] = []
    with PdfReader(pdf) as reader:
        for start in range(0, len(wanted), _AT_ONCE):
            progress("reading pictures", start, len(wanted))
            chunk = [
                (document, page, reader.image(document, page.page))
                for document, page in wanted[start : start + _AT_ONCE]
            ]
            seen = [(d, p, image) for d, p, image in chunk if isinstance(image, PageImage)]
            for _, page, image in chunk:
                if isinstance(image, Reject) and page.mode is Mode.VISION:
                    made.rejects.append(image)
            answers = asker.transcripts([image.png for _, _, image in seen])
            for (document, page, _), (text, error) in zip(seen, answers, strict=True):
                if error:
                    made.failed[error] += 1
                    if page.mode is Mode.VISION:
                        spot = (document.md5, PagePart.TRANSCRIPT.value, page.page, None)
                        made.rejects.append(Reject(_STAGE, Reason.MODEL_FAILED, *spot, error))
                elif text:
                    pages.append(
                        Page(document.md5, page.page, text, page.mode.value, PagePart.TRANSCRIPT)
                    )
    made.transcripts = pages
    return pages
