"""What a build of references was told, and what a dry run says that it would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.core.visible import visible
from clinqa.packs.references import ReferencePack
from clinqa.sources.pdf import Identity

__all__ = ["configuration_of", "would_do"]


def configuration_of(options: ReferenceOptions, pack: ReferencePack) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    told: dict[str, Any] = {
        "pack": pack.spec.id,
        "generator": options.generator,
        "negation_cap": options.negation_cap,
        "split_by": options.split_by,
        "limit": options.limit,
        "seed": options.seed,
    }
    if options.generator == "llm":
        told |= {
            "model": options.model,
            "base_url": options.base_url,
            "judge": options.judge,
            "per_page": options.per_page,
            "max_tokens": options.max_tokens,
        }
    if options.vision_model:
        told |= {"vision_model": options.vision_model, "accept_vision": options.accept_vision}
    return told


def would_do(
    plan: Sequence[Identity], options: ReferenceOptions, pack: ReferencePack, out: Path
) -> list[str]:
    """What would be read, written and sent."""
    total = sum(one.bytes for one in plan)
    lines = [f"would read {len(plan):,} documents ({total:,} bytes)"]
    lines += [f"  {visible(', '.join(one.names))}" for one in plan[:20]]
    if len(plan) > 20:
        lines.append(f"  and {len(plan) - 20:,} more")
    topics = ", ".join(topic.name.lower() for topic in pack.spec.topics.values())
    lines.append(f"would make statements on {topics}, by {options.generator}")
    lines.append(f"would write a dataset ({options.data_class.value}) to {visible(str(out))}")
    if options.generator == "llm" or options.vision_model:
        named = ", ".join(filter(None, (options.model, options.vision_model)))
        lines.append(
            f"would send pages to {named}"
            + (f" at {visible(options.base_url)}" if options.base_url else "")
        )
    else:
        lines.append("would send nothing anywhere")
    return lines
