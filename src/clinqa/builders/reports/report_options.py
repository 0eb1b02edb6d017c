"""What a build of reports is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import OutputOptions, option, varied
from clinqa.core.records import DataClass

__all__ = ["CONTEXTS", "QUESTIONS", "BuildOptions"]

QUESTIONS = ("paper", "full")
CONTEXTS = ("findings", "section")
_UNMENTIONED = 0.1


@dataclass(frozen=True, kw_only=True)
class BuildOptions(OutputOptions):
    """Everything that `clinqa build echo` can be told."""

    profile: str = option(
        "default",
        choices=("default", "published", "strict"),
        help="published: as the EchoQA paper's code read; strict: normal beside a severity is a"
        " conflict.",
    )
    questions: str = option(
        "paper",
        choices=QUESTIONS,
        help="paper: one a study and abnormality; full: adds adequacy, presence, severity and"
        " questions whose right answer is that the report does not say.",
    )
    context: str = option(
        "findings",
        choices=CONTEXTS,
        help="findings: the study's whole findings; section: the structure's own.",
    )
    text: str | None = option(
        None, flags="--text-col", metavar="NAME", help="Column with the text."
    )
    subject: str | None = option(
        None, flags="--subject-col", metavar="NAME", help="Column with the patient."
    )
    study: str | None = option(
        None, flags="--study-col", metavar="NAME", help="Column with the study id."
    )
    sample_subjects: int | None = option(
        None, low=1, metavar="N", help="Keep N patients by chance."
    )
    unmentioned_share: float | None = option(
        None,
        low=0,
        high=1,
        below=True,
        metavar="X",
        help="With --questions full: share of items whose answer the report does not give,"
        " from 0 to below 1; 0.1 unless given.",
    )
    max_chars: int = option(
        2_000_000, low=1, metavar="N", help="A longer report is rejected and counted."
    )
    pack: str = option("echo", shown=False)
    pack_dir: Path | None = option(
        None, metavar="DIR", help="Your own pack instead of the shipped one."
    )
    workers: int | None = option(None, low=1, metavar="N", help="Processes; the rows are the same.")
    engine: str = option(
        "auto", choices=("auto", "compiled", "python"), help="compiled needs the extra 'fast'."
    )
    data_class: DataClass | None = varied(
        OutputOptions,
        "data_class",
        help="How far the text may travel; results inherit it. Unless given, restricted, and public"
        " for what `simulate` wrote.",
    )
    # reports handled at once; rows do not depend on it
    batch_rows: int = option(4096, shown=False)

    @property
    def unmentioned(self) -> float | None:
        """The share of questions on what is not mentioned; None where none are asked."""
        if self.questions != "full":
            return None
        return (_UNMENTIONED if self.unmentioned_share is None else self.unmentioned_share) or None

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if self.unmentioned_share is not None and self.questions != "full":
            raise ConfigError("--unmentioned-share goes with --questions full")
        super().check()
