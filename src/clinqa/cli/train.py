"""clinqa train: a dataset and a model in, an ADAPTER folder out; or an adapter merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from clinqa.cli.commands import BuildArgument, Out
from clinqa.cli.outcome import Outcome, staged
from clinqa.core.errors import ConfigError
from clinqa.core.options import varied
from clinqa.training.train_options import MergeOptions, TrainOptions

__all__ = ["train"]


@dataclass(frozen=True, kw_only=True)
class TrainOrMerge(TrainOptions):
    """Both things that the verb does: with `merge` it trains nothing."""

    merge: Path | None = varied(MergeOptions, "adapter", None)
    merge_dtype: str = varied(MergeOptions, "dtype")
    merge_items: int = varied(MergeOptions, "items")


def train(dataset: BuildArgument, out: Out, options: TrainOrMerge) -> Outcome:
    """Fine-tune a model on a dataset's train split; resumable. Or merge an adapter."""
    if options.merge is None:
        from clinqa.training.train import train as train_model

        return staged("train", out, options, partial(train_model, dataset, out, options), _told)
    if options.preset or options.overrides or options.resume or options.limit is not None:
        raise ConfigError("--merge goes with none of --preset, --set, --limit and --resume")
    from clinqa.training.merge import merge

    merging = MergeOptions(
        adapter=options.merge,
        model=options.model or None,
        dtype=options.merge_dtype,
        items=options.merge_items,
        seed=options.seed,
        data_class=options.data_class,
        device=options.device,
        threads=options.threads,
        dry_run=options.dry_run,
        fresh=options.fresh,
        accept_changed=options.accept_changed,
    )
    return staged("train --merge", out, options, partial(merge, dataset, out, merging), _told)


def _told(counts: Mapping[str, object], out: Path) -> list[str]:
    """Of several processes, the first one tells."""
    told = [f"{name.replace('_', ' '):<28}{_shown(one):>12}" for name, one in counts.items()]
    return [*told, f"result in {out}"] if told else []


def _shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
