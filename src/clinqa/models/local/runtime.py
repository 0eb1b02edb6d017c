"""A model loaded from a folder: offline, safetensors only.

What changes results or speed is decided here and recorded in `Loaded.facts`: device, number
format, threads, versions, what the weights and the adapter are.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.hashing import sha256_file
from clinqa.models.local.adapter import apply_adapter, check_base, tokenizer_folder
from clinqa.models.local.canary import check_canaries
from clinqa.models.local.render import Renderer
from clinqa.models.protocol import ModelOptions
from clinqa.models.weights import (
    device_of,
    dtype_of,
    folder_sha256,
    from_folder,
    import_torch,
    load_tokenizer,
)

__all__ = ["Loaded", "load", "load_plain"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to run. `facts` are what a manifest should say of it."""

    engine: Any
    renderer: Renderer
    window: int
    vocabulary: int
    device: str
    facts: dict[str, str] = field(default_factory=dict)


def load(name: str, folder: Path, options: ModelOptions, weights: str | None = None) -> Loaded:
    """The model in `folder`, its adapter applied and both checked."""
    if not any(folder.glob("*.safetensors")):
        raise ConfigError(f"{name}: the folder holds no *.safetensors; other formats are not read")
    torch = import_torch(threads=options.extra.get("threads"))
    transformers = importlib.import_module("transformers")
    # imported here: they import torch at their top
    from clinqa.models.local.attention import ATTENTION, shared_attention
    from clinqa.models.local.engine import Engine

    device = device_of(torch, options.device)
    dtype = dtype_of(torch, device, options.dtype)
    transformers.AttentionInterface.register(ATTENTION, shared_attention)
    weights = weights or folder_sha256(folder)
    trained = None
    if options.adapter is not None:
        trained = check_base(options.adapter, name, folder, weights)
    tokenizer = load_tokenizer(name, tokenizer_folder(folder, options.adapter))
    model = load_plain(name, folder, device, dtype)
    facts = {
        "device": device,
        "dtype": dtype,
        "threads": str(torch.get_num_threads()),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "weights_sha256": weights,
    }
    renderer = Renderer.of(tokenizer)
    if options.adapter is not None:
        model = apply_adapter(torch, model, options.adapter, trained)
        facts["adapter_sha256"] = sha256_file(options.adapter / "adapter_model.safetensors")
        if trained is not None:
            off = check_canaries(str(options.adapter), model, renderer, trained.canaries(), facts)
            facts["canaries_off_by"] = f"{off:.2g}"
            trained.check_weights()
    try:
        model.set_attn_implementation(ATTENTION)
    except ValueError as error:
        raise ModelError(f"{name}: the model does not let its attention be replaced") from error
    pad = tokenizer.pad_token_id
    engine = Engine(model, 0 if pad is None else pad, _ends(tokenizer, model))
    engine.check()
    facts["prompt_form"] = renderer.kind
    window = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return Loaded(
        engine,
        renderer,
        min(int(window), options.context_window or int(window)),
        int(model.config.vocab_size),
        device,
        facts,
    )


def load_plain(name: str, folder: Path, device: str, dtype: str) -> Any:
    """The model in `folder` as transformers has it, ready to answer."""
    torch = import_torch()
    model = from_folder(
        "AutoModelForCausalLM",
        name,
        folder,
        "the folder",
        "; it must hold a causal language model that needs no code of its own",
        dtype=getattr(torch, dtype),
        use_safetensors=True,
    )
    return model.to(device).eval()


def _ends(tokenizer: Any, model: Any) -> list[int]:
    """The tokens that end an answer: the tokenizer's end mark and those the model came with."""
    found: set[int] = set()
    for ends in (tokenizer.eos_token_id, model.generation_config.eos_token_id):
        found.update(ends if isinstance(ends, Iterable) else [] if ends is None else [ends])
    return sorted(found)
