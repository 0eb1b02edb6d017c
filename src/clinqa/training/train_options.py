"""What `clinqa train` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import OutputOptions, ReadingOptions, option, varied

__all__ = ["MergeOptions", "TrainOptions", "TrainingPlace"]


@dataclass(frozen=True, kw_only=True)
class TrainingPlace(ReadingOptions, OutputOptions):
    """Where a model is trained or merged; shared by both."""

    device: str | None = option(None, metavar="D")
    threads: int | None = option(None, low=1, metavar="N")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(TrainingPlace):
    """Everything that `clinqa train` can be told."""

    model: str = option("", metavar="M", help="embedded:smollm2, hf:FOLDER or gguf:FILE.")
    preset: str = option("", metavar="P", help="echoqa, ecgquest, smedqa, encoder, or a YAML file.")
    overrides: Sequence[str] = option(
        (), flags="--set", metavar="KEY=VALUE", help="Override one key of the preset."
    )
    limit: int | None = varied(OutputOptions, "limit", help="Train on N items, chosen by chance.")
    categories: Sequence[str] = option(
        (),
        flags="--category",
        metavar="C",
        help="Train on (and validate by) items of this category only; repeatable.",
    )
    sample: int = option(0, low=0, metavar="N", help="Which items --limit takes by chance.")
    leave_out_long: bool = option(
        False, help="Leave out, and count, items over the context window."
    )
    resume: bool = option(False, help="Go on from a checkpoint; an error where there is none.")
    # steps of this call, then as after Ctrl-C
    stop_after: int | None = option(None, shown=False)

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        if not self.model or not self.preset:
            raise ConfigError("a training needs --model and --preset")


@dataclass(frozen=True, kw_only=True)
class MergeOptions(TrainingPlace):
    """Everything that merging an adapter into its model can be told.

    `model` is the name it was trained under unless given.
    """

    adapter: Path = option(
        flags="--merge", metavar="ADAPTER", help="Merge this adapter into its model."
    )
    model: str | None = option(None)
    dtype: str = option(
        "float32",
        flags="--merge-dtype",
        choices=("float32", "bfloat16"),
        help="Of a merged model; bfloat16 may change answers.",
    )
    items: int = option(
        100,
        flags="--merge-items",
        low=1,
        metavar="N",
        help="Items of DATASET whose answers show the drift.",
    )
    max_tokens: int = option(64, low=1, shown=False)
