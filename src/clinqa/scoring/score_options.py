"""What `clinqa score` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import DrawingOptions, option

__all__ = ["FigureOptions", "ScoreOptions", "ScoreResult"]


@dataclass(frozen=True, kw_only=True)
class FigureOptions(DrawingOptions):
    """What scoring and auditing alike can be told."""

    pack_dir: Path | None = option(None, metavar="DIR", help="The pack the dataset was built with.")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(FigureOptions):
    """Everything that `clinqa score` can be told."""

    primary: str = option(
        "token_f1",
        metavar="METRIC",
        help="The metric on which runs are declared compared; of other kinds accuracy.",
    )
    family: str = option(
        "all", metavar="all|vs:RUN", help="All pairs of runs, or one against every other."
    )
    human: Path | None = option(
        None,
        metavar="FILE.csv",
        help="People's verdicts on a random sample (item_id, verdict, and run if there are "
        "several): level accuracy is corrected by them.",
    )
    ensembles: Sequence[str] = option(
        (),
        flags="--ensemble",
        metavar="NAME=RUN,RUN,...",
        help="True/False: the majority vote of these runs, named beforehand; repeatable.",
    )
    search: int | None = option(
        None, metavar="K", help="True/False: the best K runs; on validation alone."
    )
    ensemble_from: Path | None = option(
        None,
        metavar="SCORES",
        help="True/False: the winner of a --search on validation, scored here.",
    )
    against: Sequence[Path] = option(
        (),
        metavar="SCORES",
        help="True/False: the same models on another set; is their ranking kept?",
    )
    # the reading that decides the declared tests; "": the first that all runs have
    reader: str = option(
        "",
        metavar="R",
        help="Multiple choice: string, first_token or matcher decides the declared tests.",
    )
    annotated: Path | None = option(
        None,
        metavar="FILE.jsonl",
        help="Multiple choice: outputs with the letter they commit to; trains the matcher.",
    )

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        if self.family != "all" and not self.family.startswith("vs:"):
            raise ConfigError("--family must be all or vs:RUN")


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """What was made. `lines` are for people: the main figures, or "already done"."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    already_done: bool = False
