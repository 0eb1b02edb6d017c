"""A LoRA adapter on its base model: the right base, every tensor in place, proven applied."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, MissingExtra, ModelError
from clinqa.models.trained import TrainedFolder, trained_folder
from clinqa.models.weights import folder_sha256, load_failed

__all__ = ["apply_adapter", "check_base", "grow", "tokenizer_folder"]

WEIGHTS = "adapter_model.safetensors"


def check_base(adapter: Path, name: str, folder: Path, weights: str) -> TrainedFolder | None:
    """What the adapter says of itself; ConfigError if it was trained on another model.

    None for an adapter of another tool: nothing is known of its base but what PEFT finds.
    """
    _check_files(adapter)
    trained = trained_folder(adapter)
    if trained is None:
        return None
    base = trained.base
    # the same weights may lie in a GGUF file here and in a folder there
    if weights != base.get("weights_sha256") and folder_sha256(folder) != base.get("folder_sha256"):
        raise ConfigError(
            f"{adapter}: trained on {base.get('name')}, and {name} has other weights; "
            "name the model it was trained on"
        )
    return trained


def tokenizer_folder(folder: Path, adapter: Path | None) -> Path:
    """Where the tokenizer is: with the adapter if it was trained with tokens of its own."""
    if adapter is not None and (adapter / "tokenizer_config.json").is_file():
        return adapter
    return folder


def grow(model: Any, rows: int) -> list[int]:
    """Make room for `rows` tokens; the ids that are new. A new row is the mean of the old ones.

    So what a new token means before training follows from the base model alone, and an adapter
    that is put on the base later finds what it was trained on.
    """
    torch = importlib.import_module("torch")
    old = int(model.get_input_embeddings().weight.shape[0])
    if rows <= old:
        return []
    model.resize_token_embeddings(rows, mean_resizing=False)
    with torch.no_grad():
        tables = [model.get_input_embeddings(), model.get_output_embeddings()]
        for table in {id(table.weight): table for table in tables if table is not None}.values():
            table.weight[old:] = table.weight[:old].float().mean(dim=0).to(table.weight.dtype)
    return list(range(old, rows))


def apply_adapter(torch: Any, model: Any, adapter: Path, trained: TrainedFolder | None) -> Any:
    """The model with a LoRA adapter on it: every tensor is in place and answers change."""
    _check_files(adapter)
    try:
        peft = importlib.import_module("peft")
    except ImportError as error:
        raise MissingExtra("train", "peft, for adapters,") from error
    safe = importlib.import_module("safetensors.torch")
    if trained is not None:
        grow(model, int(trained.manifest.details.get("embedding_rows") or 0))
    probe = torch.arange(3, 19, device=model.device)[None] % model.config.vocab_size
    with torch.inference_mode():
        before = model(input_ids=probe, use_cache=False).logits
        try:
            adapted = peft.PeftModel.from_pretrained(
                model, str(adapter), is_trainable=False, local_files_only=True
            )
            wanted = safe.load_file(str(adapter / WEIGHTS))
        except load_failed() as error:
            raise ModelError(
                f"{adapter}: the adapter does not fit this model ({type(error).__name__})"
            ) from error
        # embeddings are looked for only if the file holds them: PEFT's own guess asks the hub
        whole = any(".lora_" not in key and "trainable_tokens" not in key for key in wanted)
        placed = peft.get_peft_model_state_dict(
            adapted, save_embedding_layers="auto" if whole else False
        )
        missing = [
            key
            for key, tensor in wanted.items()
            if key not in placed
            or not torch.equal(placed[key].to("cpu", tensor.dtype), tensor.to("cpu"))
        ]
        if missing or set(placed) - set(wanted):
            raise ModelError(
                f"{adapter}: the adapter does not fit this model; it was made for another"
            )
        adapted = adapted.eval().get_base_model()
        after = adapted(input_ids=probe, use_cache=False).logits
    if torch.equal(before, after):
        raise ModelError(f"{adapter}: the adapter changes nothing; was it trained and saved?")
    return adapted


def _check_files(adapter: Path) -> None:
    if not (adapter / WEIGHTS).is_file() or not (adapter / "adapter_config.json").is_file():
        raise ConfigError(f"{adapter}: no adapter_config.json with {WEIGHTS}")
