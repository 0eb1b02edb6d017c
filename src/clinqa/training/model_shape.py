"""What a model's folder says of the model before its weights are read."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.models.local.place import WeightsPlace
from clinqa.models.torch_settings import load_failed

__all__ = ["Shape", "shape_of"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Context window, rows of the embeddings, end marks, and whether layers see all before them."""

    window: int
    rows: int
    ends: tuple[int, ...]
    sees_all: bool


def shape_of(place: WeightsPlace, tokenizer: Any) -> Shape:
    """From config.json and generation_config.json."""
    transformers = importlib.import_module("transformers")
    offline = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(str(place.folder), **offline)
        config = config.get_text_config()
    except load_failed() as error:
        raise ModelError(
            f"{place.name}: config.json cannot be read ({type(error).__name__})"
        ) from error
    try:
        ends = transformers.GenerationConfig.from_pretrained(str(place.folder), **offline)
        known = ends.eos_token_id
    except load_failed():  # there is none
        known = None
    kinds = set(getattr(config, "layer_types", None) or ())
    window = getattr(config, "sliding_window", None)
    if getattr(config, "use_sliding_window", True) is False:
        window = None
    limit = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    return Shape(
        int(limit),
        int(config.vocab_size),
        tuple(known) if isinstance(known, Iterable) else () if known is None else (int(known),),
        kinds <= {"full_attention"} and (window is None or bool(kinds)),
    )
