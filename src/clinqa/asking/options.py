"""What `clinqa predict` is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.asks import DESIGNS, MOST_ORDERS
from clinqa.models.protocol import Sampling
from clinqa.privacy.addresses import parse_url

__all__ = ["VARY", "PredictOptions"]

VARY = ("sampling", "shots", "training-seed")


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """Everything that `clinqa predict` can be told."""

    model: str
    shots: int = 0
    repeats: int = 1
    split: str = "test"
    vary: str | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 128
    stop: Sequence[str] = ()
    seed: int = 0
    limit: int | None = None
    categories: Sequence[str] = ()  # none: all
    data_class: DataClass | None = None
    max_cost: float | None = None
    # of the model
    base_url: str | None = None
    api_key_env: str | None = None
    api_version: str | None = None
    region: str | None = None
    max_parallel: int = 32
    timeout: float = 120.0
    price_file: Path | None = None
    cache_dir: Path | None = None
    attestations: Path | None = None
    adapters: Sequence[Path] = ()
    dtype: str | None = None
    device: str | None = None
    threads: int | None = None
    batch_size: int | None = None
    context_window: int | None = None
    train_from: Path | None = None  # of baselines that learn: another dataset's train
    constrained: bool = False  # True and False, or letters, are weighed; nothing is written
    # of multiple choice
    orders: int | None = None  # of the options, drawn by the seed; None: as the bank has them
    order_design: str = "random"
    first_token: bool | None = None  # letters weighed beside what is written; None: if it is local
    allow_seen: bool = False  # items that an adapter was trained on
    # of the verb
    dry_run: bool = False
    fresh: bool = False
    retry_errors: bool = False  # of a complete run
    chunk: int = 4096  # prompts in memory at once; no row depends on it

    @property
    def sampling(self) -> Sampling:
        """How the model decodes."""
        return Sampling(self.temperature, self.top_p, self.max_tokens, tuple(self.stop))

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if self.split not in SPLITS:
            raise ConfigError(f"--split must be one of {', '.join(SPLITS)}")
        if self.vary is not None and self.vary not in VARY:
            raise ConfigError(f"--vary must be one of {', '.join(VARY)}")
        for name, value, low in (
            ("--shots", self.shots, 0),
            ("--repeats", self.repeats, 1),
            ("--max-tokens", self.max_tokens, 1),
            ("--max-parallel", self.max_parallel, 1),
            ("--temperature", self.temperature, 0),
        ):
            if not (value >= low and math.isfinite(value)):  # a NaN is not at least anything
                raise ConfigError(f"{name} must be a number of at least {low}")
        if self.orders is not None and not 1 <= self.orders <= MOST_ORDERS:
            raise ConfigError(f"--orders must be 1 to {MOST_ORDERS:,}")
        if self.order_design not in DESIGNS:
            raise ConfigError(f"--order-design must be one of {', '.join(DESIGNS)}")
        if self.constrained and self.first_token:
            raise ConfigError(
                "--constrained weighs the letters and writes nothing; leave out --first-token"
            )
        if self.threads is not None and self.threads < 1:
            raise ConfigError("--threads must be at least 1")
        if not 0 < self.top_p <= 1:
            raise ConfigError("--top-p must be above 0 and at most 1")
        for name, number in (("--max-cost", self.max_cost), ("--timeout", self.timeout)):
            if number is not None and not (number > 0 and math.isfinite(number)):
                raise ConfigError(f"{name} must be a number above 0")
        if self.base_url is not None:
            _check_url(self.base_url)
        if len(self.adapters) > 1 and self.vary != "training-seed":
            raise ConfigError("several --adapter go with --vary training-seed, one a repeat")


def _check_url(url: str) -> None:
    parse_url(url, "--base-url")
    if urlsplit(url).query:
        raise ConfigError("--base-url takes no ?query: a key there would stand in logs")
