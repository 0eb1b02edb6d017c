"""The process in which PDFs are parsed: whatever a file does to it, the run goes on.

It answers one request at a time over a pipe. Its memory is limited by the system; its time by the
parent, which ends it. It is started anew after that.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["serve"]


def serve(requests: Connection, memory: int) -> None:
    """Answer until the pipe closes: ("ok", answer) or ("error", kind)."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # each thread of a library would take address space
    from clinqa.core.processes import end_with_parent

    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _quiet()
    try:
        from clinqa.sources.pdf.parse import OpenDocument, open_document
    except ImportError as error:
        requests.send(("error", error.name or "a library"))
        return
    _limit(memory)
    document: OpenDocument | None = None
    while True:
        try:
            what, arguments = requests.recv()
        except EOFError:
            return
        answer: Any = None
        try:
            if what == "open":
                if document is not None:
                    document.close()
                document, outcome, detail = open_document(*arguments)
                answer = (0 if document is None else len(document), outcome.value, detail)
            elif document is not None:
                answer = getattr(document, what)(*arguments)
        except MemoryError:
            document = None
            requests.send(("error", "memory"))
        except RecursionError:
            requests.send(("error", "nested too deeply"))
        except Exception as error:  # noqa: BLE001 (a parser's fault of any kind costs one page)
            requests.send(("error", type(error).__name__))
        else:
            requests.send(("ok", answer))


def _quiet() -> None:
    """Parsers write warnings with text of the page; nobody may see them."""
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.dup2(nowhere, 1)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none of it: time alone is limited there
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = memory + _in_use()
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _in_use() -> int:
    """Address space that the libraries took before any document."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
