"""PDFs in, documents with their pages out: identity, pages, modes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

from clinqa.core.closing import Closing
from clinqa.core.records import Reason, Reject
from clinqa.core.stage import Progress, silent
from clinqa.sources.pdf.files import FoundPdfs, Identity, find_pdfs, identify
from clinqa.sources.pdf.finish import failed_page, finished_pages
from clinqa.sources.pdf.kept import PageJournal
from clinqa.sources.pdf.process import Child, ChildFailed
from clinqa.sources.pdf.records import (
    METHOD,
    STAGE,
    FileOutcome,
    PageImage,
    PdfDocument,
    PdfOptions,
)

__all__ = ["PdfReader", "page_key"]

MAX_PAGES = 50_000  # of one document: more is a file that lies
_GIVE_UP = 5  # pages of one document that broke a limit: the rest is not tried
_AHEAD = 2  # documents waiting a worker

_REASONS = {
    FileOutcome.EMPTY_FILE: Reason.EMPTY_FILE,
    FileOutcome.NOT_PDF: Reason.NOT_PDF,
    FileOutcome.ENCRYPTED: Reason.ENCRYPTED_FILE,
    FileOutcome.DAMAGED: Reason.BROKEN_FILE,
    FileOutcome.UNREADABLE: Reason.UNREADABLE_FILE,
    FileOutcome.TOO_COSTLY: Reason.TOO_COSTLY,
}


def page_key(md5: str, page: int) -> str:
    """What a page's raw record is kept under."""
    return f"{md5}:{page}:{METHOD}"


class PdfReader(Closing):
    """Reads PDFs in child processes; used in a `with`, which ends them.

    with PdfReader(PdfOptions()) as reader:
        for document in reader.read([Path("guidelines")]):
            ...
    """

    def __init__(self, options: PdfOptions, store: PageJournal | None = None) -> None:
        self.options = options
        self._store = store
        self._children = [Child(options.limits) for _ in range(max(1, options.workers))]
        self._open: dict[int, tuple[str, int]] = {}  # child -> (md5, generation)
        self._stop = Event()
        self.found = FoundPdfs()
        self.left_out = 0  # documents that --limit left unread

    def close(self) -> None:
        """End the child processes."""
        for child in self._children:
            child.close()
        self._open.clear()

    def plan(self, inputs: Sequence[Path]) -> list[Identity]:
        """The documents that would be read, by MD5. Raises SourceError where there is none."""
        self.found = find_pdfs(inputs, self.options.out)
        return identify(self.found.files)

    def unlocked(self, documents: Sequence[Identity]) -> list[str]:
        """The MD5s of those that one of the passwords opens, and nothing else does.

        Another password may open other documents, so this, and no password, is part of what a
        build is.
        """
        if not self.options.passwords:
            return []
        child, found = self._children[0], []
        for document in documents:
            if not document.encrypted:
                continue
            with suppress(ChildFailed):
                outcomes = [
                    FileOutcome(child.ask("open", document.path, document.md5, known)[1])
                    for known in ((), self.options.passwords)
                ]
                if outcomes == [FileOutcome.ENCRYPTED, FileOutcome.READ]:
                    found.append(document.md5)
        self._open.clear()
        return found

    def read(self, inputs: Sequence[Path], progress: Progress = silent) -> Iterator[PdfDocument]:
        """Every document, in the order of its MD5, whatever the number of workers."""
        yield from self.read_planned(self.plan(inputs), progress)

    def read_planned(
        self, documents: Sequence[Identity], progress: Progress = silent
    ) -> Iterator[PdfDocument]:
        """The documents of a plan; a file that is another by now is one that changed."""
        total = max(1, sum(document.bytes for document in documents))
        bytes_read = pages = 0
        limit = self.options.limit
        for number, document in enumerate(self._stream(documents), 1):
            if limit is not None and pages + len(document.pages) > limit:
                document = replace(document, pages=document.pages[: limit - pages])
            pages += len(document.pages)
            bytes_read += document.bytes
            progress("reading pages", pages, fraction=min(1.0, bytes_read / total))
            yield document
            if limit is not None and pages >= limit:
                self.left_out = len(documents) - number
                return

    def image(self, document: PdfDocument, page: int) -> PageImage | Reject:
        """A page as a grey PNG, or why there is none."""
        child = self._children[0]
        turned = next((each.turned for each in document.pages if each.page == page), 0)
        options = self.options
        try:
            self._opened(child, document.md5, document.path)
            answer = child.ask("image", page, options.dpi, options.limits.pixels, turned)
        except ChildFailed as failure:
            return _page_reject(document.md5, page, failure)
        assert isinstance(answer, PageImage)
        return answer

    def _stream(self, documents: Sequence[Identity]) -> Iterator[PdfDocument]:
        if len(self._children) == 1:
            for document in documents:
                yield self._read(self._children[0], document)
            return
        free: SimpleQueue[Child] = SimpleQueue()
        for child in self._children:
            free.put(child)

        def work(document: Identity) -> PdfDocument:
            child = free.get()
            try:
                return self._read(child, document)
            finally:
                free.put(child)

        self._stop.clear()
        pool = ThreadPoolExecutor(len(self._children), "clinqa-pdf")
        waiting: deque[Future[PdfDocument]] = deque()
        try:
            for document in documents:
                waiting.append(pool.submit(work, document))
                if len(waiting) > _AHEAD * len(self._children):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            if waiting:  # ended early: what is being read is not waited for
                self._stop.set()
                for future in waiting:
                    future.cancel()
                self.close()
            pool.shutdown(cancel_futures=True)

    def _read(self, child: Child, file: Identity) -> PdfDocument:
        if file.problem:
            return _without_pages(file, FileOutcome.UNREADABLE, file.problem)
        try:
            count, outcome, detail = self._opened(child, file.md5, file.path)
        except ChildFailed as failure:
            if failure.costly:
                said = f"opening it failed ({failure.kind})"
                return _without_pages(file, FileOutcome.TOO_COSTLY, said)
            return _without_pages(file, FileOutcome.DAMAGED, "its structure cannot be read")
        if outcome is not FileOutcome.READ:
            return _without_pages(file, outcome, detail)
        if count > MAX_PAGES:
            said = f"it says that it has more than {MAX_PAGES:,} pages"
            return _without_pages(file, FileOutcome.TOO_COSTLY, said)
        raw = list(self._raw_pages(child, file, count))
        pages = finished_pages(file.md5, raw, partial(self._ink, child, file))
        return PdfDocument(
            file.md5, file.names, FileOutcome.READ, pages, file.bytes, file.path, detail
        )

    def _raw_pages(self, child: Child, file: Identity, count: int) -> Iterator[Mapping[str, Any]]:
        broken = 0
        for number in range(1, count + 1):
            if self._stop.is_set():
                return  # nobody takes this document any more
            key = page_key(file.md5, number)
            kept = self._store.get(key) if self._store is not None else None
            if kept is None:
                if broken >= _GIVE_UP:
                    kept = failed_page("not tried: earlier pages broke the limits")
                else:
                    kept = self._raw_page(child, file, number)
                if self._store is not None:
                    self._store.put(key, kept)
            broken += bool(kept.get("costly"))
            yield kept

    def _raw_page(self, child: Child, file: Identity, number: int) -> Mapping[str, Any]:
        try:
            self._opened(child, file.md5, file.path)
            answer = child.ask("page", number)
        except ChildFailed as failure:
            return failed_page(failure.kind, costly=failure.costly)
        assert isinstance(answer, dict)
        return answer

    def _ink(self, child: Child, file: Identity, number: int) -> float | None:
        """How much of a page is drawn on; None where it took too much to tell: then it is drawn."""
        key = f"{page_key(file.md5, number)}:ink"
        kept = self._store.get(key) if self._store is not None else None
        if kept is None:
            try:
                self._opened(child, file.md5, file.path)
                kept = {"ink": child.ask("ink", number, self.options.limits.pixels)}
            except ChildFailed:
                kept = {"ink": None}
            if self._store is not None:
                self._store.put(key, kept)
        ink = kept["ink"]
        return None if ink is None else float(ink)

    def _opened(self, child: Child, md5: str, path: Path | None) -> tuple[int, FileOutcome, str]:
        """Make sure that the child has this document open; it was closed if the child was lost."""
        known = self._open.get(id(child))
        if known is not None and known == (md5, child.generation) and child.alive:
            return 0, FileOutcome.READ, ""
        count, outcome, detail = child.ask("open", path, md5, self.options.passwords)
        self._open[id(child)] = (md5, child.generation)
        return int(count), FileOutcome(outcome), str(detail)


def _without_pages(file: Identity, outcome: FileOutcome, detail: str) -> PdfDocument:
    """A file's outcome where no page of it is read."""
    reason = _REASONS.get(outcome)
    reject = None if reason is None else Reject(STAGE, reason, file.md5, detail=detail)
    return PdfDocument(file.md5, file.names, outcome, (), file.bytes, file.path, detail, reject)


def _page_reject(md5: str, page: int, failure: ChildFailed) -> Reject:
    reason = Reason.TOO_COSTLY if failure.costly else Reason.BROKEN_PAGE
    return Reject(STAGE, reason, md5, part="image", page=page, detail=failure.kind)
