"""What `clinqa score` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import DrawingOptions, option

__all__ = ["FigureOptions", "ScoreOptions"]


@dataclass(frozen=True, kw_only=True)
class FigureOptions(DrawingOptions):
    """What scoring and auditing alike can be told."""

    pack_dir: Path | None = option(None, metavar="DIR", help="The pack the dataset was built with.")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(FigureOptions):
    """Everything that `clinqa score` can be told."""

    primary: str = option(
        "",
        metavar="METRIC",
        help="The metric on which runs are declared compared: the kind's own unless said.",
    )
    family: str = option(
        "all", metavar="all|vs:RUN", help="All pairs of runs, or one against every other."
    )
    dangers: bool = option(
        False,
        needs="dangers",
        help="The rates of dangerous errors, of all and of answered items, join the family.",
    )
    human: Path | None = option(
        None,
        needs="corrected",
        metavar="FILE.csv",
        help="People's verdicts on a random sample (item_id, verdict, and run if there are "
        "several): level accuracy is corrected by them.",
    )
    human_strata: Sequence[str] = option(
        (),
        needs="corrected",
        metavar="COLUMN",
        help="a column of the items within which those judged were drawn at random; repeatable.",
    )
    ensembles: Sequence[str] = option(
        (),
        needs="codes",
        flags="--ensemble",
        metavar="NAME=RUN,RUN,...",
        help="the majority vote of these runs, named beforehand; repeatable.",
    )
    search: int | None = option(
        None, needs="codes", metavar="K", help="the best K runs; on validation alone."
    )
    ensemble_from: Path | None = option(
        None,
        needs="codes",
        metavar="SCORES",
        help="the winner of a --search on validation, scored here.",
    )
    against: Sequence[Path] = option(
        (),
        needs="codes",
        metavar="SCORES",
        help="the same models on another set; is their ranking kept?",
    )
    # the reading that decides the declared tests; "": the first that all runs have
    reader: str = option(
        "",
        needs="readers",
        metavar="R",
        help="string, first_token or matcher decides the declared tests.",
    )
    annotated: Path | None = option(
        None,
        needs="readers",
        metavar="FILE.jsonl",
        help="outputs with the letter they commit to; trains the matcher.",
    )

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        if self.family != "all" and not self.family.startswith("vs:"):
            raise ConfigError("--family must be all or vs:RUN")
