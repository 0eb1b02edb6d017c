"""Pages that have to be seen: pictures to a vision model, transcripts back.

What a transcript says is text of a model and not of the page: drafts quote it (part `transcript`),
and stay out of the dataset until a person accepts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from clinqa.builders.references.asking import Asker
from clinqa.builders.references.drafts import Page, PagePart
from clinqa.builders.references.generate import Generated, model_options
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.core.errors import ConfigError
from clinqa.core.journal import Journal
from clinqa.core.progress import Progress
from clinqa.core.records import Reason, Reject
from clinqa.core.stage import Workplace
from clinqa.models.protocol import Sampling
from clinqa.models.registry import open_model
from clinqa.packs.references import ReferencePack
from clinqa.sources.pdf import Mode, PageImage, PdfDocument, PdfOptions, PdfReader

__all__ = ["SEEING", "open_sight", "transcribed"]

SEEING = ("openai:", "azure:", "scripted:")
_STAGE = "pages"
_AT_ONCE = 8


@contextmanager
def open_sight(
    options: ReferenceOptions, pack: ReferencePack, place: Workplace, progress: Progress
) -> Iterator[Asker | None]:
    """The model that transcribes, with its journal; None where none was named."""
    name = options.vision_model
    if name is None:
        yield None
        return
    if not name.startswith(SEEING):
        raise ConfigError(f"--vision-model {name}: pictures go to {', '.join(SEEING)} models")
    model = open_model(name, model_options(options, place, {}))
    try:
        with Journal(place.journal, private=place.private) as journal:
            sampling = Sampling(max_tokens=options.max_tokens)
            yield Asker(model, pack, sampling, journal, options.per_page, options.seed, progress)
    finally:
        model.close()


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
                        made.rejects.append(
                            Reject(
                                _STAGE,
                                Reason.MODEL_FAILED,
                                document.md5,
                                PagePart.TRANSCRIPT.value,
                                page.page,
                                None,
                                error,
                            )
                        )
                elif text:
                    pages.append(
                        Page(document.md5, page.page, text, page.mode.value, PagePart.TRANSCRIPT)
                    )
    made.transcripts = pages
    return pages
