"""The parent's side of the child process: started when needed, ended when a page takes too long."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from clinqa.core.errors import ClinqaError
from clinqa.core.processes import children_ignore_interrupts
from clinqa.sources.pdf.child import serve
from clinqa.sources.pdf.records import PdfLimits

__all__ = ["Child", "ChildFailed"]

_START_SECONDS = 120.0


class ChildFailed(Exception):
    """One request got no answer; `kind` says why: time, memory, crash, or the fault's class."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind

    @property
    def costly(self) -> bool:
        """Did it break a limit or the process, and not only the page?"""
        return self.kind in ("time", "memory", "crash", "TooManyPixels")


class Child:
    """A process that parses PDFs; `ask` starts it anew after it was lost."""

    def __init__(self, limits: PdfLimits) -> None:
        self._limits = limits
        self._process: Any = None
        self._pipe: Connection | None = None
        self.generation = 0  # grows with each start: what was open before is open no more

    def ask(self, what: str, *arguments: Any) -> Any:
        """The child's answer to one request; raises ChildFailed."""
        pipe = self._pipe or self._start()
        try:
            pipe.send((what, arguments))
            if not pipe.poll(self._limits.seconds):
                self.close()
                raise ChildFailed("time")
            said, answer = pipe.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise ChildFailed("crash") from error
        if said == "ok":
            return answer
        if answer == "memory":
            self.close()  # what is left of it cannot be trusted
        raise ChildFailed(str(answer))

    @property
    def alive(self) -> bool:
        """Is there a process whose state counts?"""
        return self._pipe is not None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, self._limits.memory), name="clinqa-pdf", daemon=True
        )
        with children_ignore_interrupts():
            self._process.start()
        theirs.close()
        self._pipe = ours
        self.generation += 1
        try:
            # loading the libraries is no page's time, and no document's fault
            ours.send(("ready", ()))
            if not ours.poll(_START_SECONDS):
                raise EOFError
            said, answer = ours.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise ClinqaError(
                "the process that parses PDFs could not be started; a script that reads PDFs needs"
                ' `if __name__ == "__main__":` around it, and each process some 300 MB of memory'
            ) from error
        if said == "error":
            self.close()
            raise ClinqaError(
                f"{answer} cannot be imported, and PDFs are parsed with it; install clinqa anew"
            )
        return ours

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._pipe = self._process = None
