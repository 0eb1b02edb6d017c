"""What `clinqa audit` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import option
from clinqa.scoring.score_options import FigureOptions, ScoreOptions

__all__ = ["OVER", "AuditOptions"]

OVER = ("patients", "tracts", "items")


@dataclass(frozen=True, kw_only=True)
class AuditOptions(FigureOptions):
    """Everything that `clinqa audit` can be told."""

    groups: Sequence[Path] = option(
        metavar="TABLE",
        help="One row a patient, one a census tract, or (True/False) one a source document; "
        "every other column is a dimension. CSV or Parquet; may be given again.",
    )
    tract_map: Path | None = option(
        None, flags="--map", metavar="FILE", help="Patient and tract, for a table of tracts."
    )
    metrics: Sequence[str] = option(
        (),
        flags="--metric",
        metavar="METRIC",
        help="A score that is a mean over answers: token_f1 unless said otherwise; "
        "level_accuracy, error_dangerous_any, …; of statements accuracy, sensitivity, "
        "specificity; may be given again.",
    )
    dimensions: Sequence[str] = option(
        (), flags="--dimension", metavar="NAME", help="Only these columns; all otherwise."
    )
    intersect: Sequence[Sequence[str]] = option(
        (), metavar="A,B[,C]", split=",", help="Two or three dimensions together."
    )
    continuous: Sequence[str] = option((), metavar="NAME", help="Cut this column at quartiles.")
    categorical: Sequence[str] = option((), metavar="NAME", help="Take its numbers as categories.")
    quantiles_over: str = option(
        "patients", metavar="patients|tracts|items", help="Quartiles of what."
    )
    min_patients: int = option(
        10, low=2, metavar="N", help="A group of fewer patients is withheld."
    )
    patient_column: str | None = option(
        None,
        flags="--patient-column --document-column",
        metavar="NAME",
        help="The column of the patients' ids, or of the documents'.",
    )
    tract_column: str | None = option(None, metavar="NAME", help="The tracts' ids.")
    missing: Sequence[str] = option(
        (),
        metavar="[COLUMN=]WORD",
        help="A cell with this word or number is not known, of all columns or of one.",
    )
    known: Sequence[str] = option(
        (),
        metavar="[COLUMN=]WORD",
        help="A cell with it is known, though it looks like a code for missing.",
    )
    preset: str | None = option(
        None,
        metavar="echoqa|FILE",
        help="Only the columns of these determinants, found by their names in the usual tables.",
    )
    scores: Path | None = option(
        None,
        metavar="SCORES",
        help="What clinqa score wrote of these runs: nothing is scored again.",
    )
    permutations: int = option(1000, low=100, metavar="N", help="Permutations of attributes.")

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if not self.groups:
            raise ConfigError("--groups: give at least one table of patients, tracts or documents")
        if self.quantiles_over not in OVER:
            raise ConfigError(f"--quantiles-over: one of {', '.join(OVER)}")
        if self.min_patients < 2:
            raise ConfigError("--min-patients: at least 2, or a figure is one person's")
        super().check()
        if len(set(self.metrics)) < len(self.metrics):
            raise ConfigError("--metric: give each metric once")

    @property
    def scoring(self) -> ScoreOptions:
        """The same for the functions of `score`."""
        return ScoreOptions(
            pack_dir=self.pack_dir,
            draws=self.draws,
            seed=self.seed,
            limit=self.limit,
            data_class=self.data_class,
            accept_changed=self.accept_changed,
        )
