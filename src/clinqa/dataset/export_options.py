"""What `clinqa export` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.options import OutputOptions, ReadingOptions, option, varied

__all__ = ["ExportOptions"]


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ReadingOptions):
    """Everything that it can be told."""

    to: str = option(
        choices=("chat", "lm-eval", "inspect"),
        help="chat: messages to fine-tune on; lm-eval, inspect: a task to run.",
    )
    limit: int | None = varied(
        OutputOptions,
        "limit",
        help="Write at most N items of each split, by chance; pairs stay whole.",
    )
    seed: int = varied(OutputOptions, "seed", help="Decides which items --limit takes.")
    dry_run: bool = option(False, shown=False)
    fresh: bool = varied(OutputOptions, "fresh")
