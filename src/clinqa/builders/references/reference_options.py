"""What a build of references is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError, refuse
from clinqa.core.options import SendingOptions, SourceOptions, option, varied
from clinqa.core.records import DataClass

__all__ = ["GENERATORS", "SPLIT_BY", "ReferenceOptions"]

GENERATORS = ("rules", "llm")
SPLIT_BY = ("cluster", "document")
_PAGES = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MOST_PAGES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ReferenceOptions(SendingOptions, SourceOptions):
    """Everything a user can choose; see the help of `clinqa build ecg`."""

    generator: str = option(
        "rules",
        choices=GENERATORS,
        help="rules: no model and no key; llm: any model, with --model.",
    )
    model: str | None = option(
        None, metavar="M", help="With llm: openai:NAME, embedded:smollm2, ..."
    )
    vision_model: str | None = option(
        None,
        metavar="V",
        help="Transcribes pages that have no text: openai:NAME, azure:NAME or scripted:FILE.",
    )
    accept_vision: bool = option(False, help="Let in what was read off pictures, unseen.")
    judge: bool = option(False, help="The model may reject pairs; it can never let one in.")
    negation_cap: float = option(
        0.25,
        low=0.0,
        high=1.0,
        metavar="X",
        help="Largest share of False statements that only deny the True one.",
    )
    split_by: str = option(
        "cluster",
        choices=SPLIT_BY,
        help="cluster: like source texts stay together; document: whole documents.",
    )
    per_page: int = option(20, low=1, metavar="N", help="With llm: most items a page.")
    max_tokens: int = option(2048, low=1, metavar="N", help="With llm: longest answer.")
    password_file: Path | None = option(
        None,
        metavar="FILE",
        help="Passwords of PDFs, one a line; or the environment's CLINQA_PDF_PASSWORD.",
    )
    pack: str = option("ecg", shown=False)
    pack_dir: Path | None = option(
        None, metavar="DIR", help="Your own pack instead of the shipped one."
    )
    skip_pages: str = option(
        "",
        metavar="N,N-N,...",
        help="Pages left out of every document: 1-3,10 (numbered from 1).",
    )
    workers: int | None = option(None, low=1, metavar="N", help="Processes that parse PDFs.")
    max_parallel: int = varied(SendingOptions, "max_parallel", 16)
    timeout: float = varied(SendingOptions, "timeout", 300.0)
    cache_dir: Path | None = option(None, shown=False)
    context_window: int | None = option(None, shown=False)
    limit: int | None = varied(SourceOptions, "limit", help="Read the first N pages only.")
    data_class: DataClass = varied(SourceOptions, "data_class", DataClass.LICENSED)

    @property
    def skipped(self) -> frozenset[int]:
        """The numbers of the pages that are left out; ConfigError for what names none."""
        found: set[int] = set()
        for part in self.skip_pages.split(",") if self.skip_pages else ():
            match = _PAGES.fullmatch(part.strip())
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 0 < first <= last < _MOST_PAGES:
                raise ConfigError("--skip-pages: numbers from 1 to 999,999 and ranges, as 1-3,10")
            found.update(range(first, last + 1))
        return frozenset(found)

    def check(self) -> None:
        """Raise ConfigError for choices that cannot be."""
        super().check()
        self.skipped  # noqa: B018 (it is an error to name no page)
        llm = self.generator == "llm"
        refuse(
            (
                llm and not self.model,
                "--generator llm needs --model, such as openai:NAME with --base-url",
            ),
            (not llm and self.model, "--model goes with --generator llm; rules ask no model"),
            (self.judge and not self.model, "--judge needs --generator llm and --model"),
            (
                self.accept_vision and not self.vision_model,
                "--accept-vision goes with --vision-model",
            ),
        )
