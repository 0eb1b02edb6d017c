"""What `clinqa predict` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from clinqa.core.errors import ConfigError
from clinqa.core.options import (
    LocalOptions,
    OutputOptions,
    PayingOptions,
    ReadingOptions,
    SamplingOptions,
    option,
    varied,
)
from clinqa.core.records import SPLITS
from clinqa.models.protocol import Sampling
from clinqa.models.registry import names_of_models
from clinqa.privacy.addresses import parse_url

__all__ = ["VARY", "PredictOptions"]

VARY = ("sampling", "shots", "training-seed")


@dataclass(frozen=True, kw_only=True)
class PredictOptions(SamplingOptions, PayingOptions, LocalOptions, ReadingOptions, OutputOptions):
    """Everything that `clinqa predict` can be told."""

    model: str = option(metavar="M", help=f"{names_of_models()}.")
    shots: int = option(0, low=0, metavar="K", help="Solved questions of train shown.")
    repeats: int = option(1, low=1, metavar="R", help="How often each item is asked.")
    split: str = option("test", choices=SPLITS, help="Which items are asked.")
    vary: str | None = option(
        None,
        choices=VARY,
        help="What repeats vary; by default sampling with a temperature, else the shots.",
    )
    limit: int | None = varied(
        OutputOptions,
        "limit",
        help="Ask N items by chance, the same ones for every model and seed.",
    )
    categories: Sequence[str] = option(
        (), flags="--category", metavar="C", help="Ask items of this category; repeatable."
    )
    api_version: str | None = option(None, metavar="V", help="For azure.")
    region: str | None = option(None, metavar="R", help="For bedrock.")
    cache_dir: Path | None = option(
        None, flags="--cache", metavar="DIR", help="Answers kept by content, over all runs."
    )
    adapters: Sequence[Path] = option(
        (), flags="--adapter", metavar="DIR", help="A trained adapter; one a repeat."
    )
    allow_seen: bool = option(False, help="Ask items that the adapter was trained on; noted.")
    train_from: Path | None = option(
        None,
        metavar="DATASET",
        help="For baselines that learn: another dataset, whose train they learn from.",
    )
    constrained: bool = option(
        False,
        needs="constrained",
        help="take the likeliest of True and False, or of the letters, by log-probability;"
        " nothing is written.",
    )
    orders: int | None = option(
        None,
        low=1,
        high=1_000,
        metavar="K",
        needs="orders",
        help="ask each item in K drawn orders of its options.",
    )
    order_design: str = option(
        "random",
        choices=("random", "cyclic"),
        needs="orders",
        help="cyclic: rotations, each option once in each place.",
    )
    first_token: bool | None = option(
        None,
        flags="--first-token/--no-first-token",
        needs="first_token",
        help="weigh the letters beside what is written; by default if the model runs here.",
    )
    context_window: int | None = option(
        None, low=1, metavar="N", help="A longer prompt is an error, never cut."
    )
    retry_errors: bool = option(False, help="Of a complete run, ask again what failed.")
    # prompts in memory at once; no row depends on it
    chunk: int = option(4096, shown=False)

    @property
    def sampling(self) -> Sampling:
        """How the model decodes."""
        return Sampling(self.temperature, self.top_p, self.max_tokens, tuple(self.stop))

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        if self.constrained and self.first_token:
            raise ConfigError(
                "--constrained weighs the letters and writes nothing; leave out --first-token"
            )
        if self.base_url is not None:
            parse_url(self.base_url, "--base-url")
            if urlsplit(self.base_url).query:
                raise ConfigError("--base-url takes no ?query: a key there would stand in logs")
        if self.orders is None and self.order_design != "random":
            raise ConfigError("--order-design is how --orders are drawn; give --orders K, too")
        if len(self.adapters) > 1 and self.vary != "training-seed":
            raise ConfigError("several --adapter go with --vary training-seed, one a repeat")
