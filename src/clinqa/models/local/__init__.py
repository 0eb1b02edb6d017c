"""Models that run in this process, from files on this machine: `hf:PATH` and `gguf:FILE`.

runtime   torch with its settings; loading weights, tokenizer and adapter, all offline
render    from messages to tokens: the model's own chat template, or plain completion
plan      which prompts go together: what they share is computed once
attention keys and values; attention over what the rows of a batch share
engine    prefill, the decoding loop, scores
sampling  the next token of each row
model     the above behind the `Model` and `Scorer` protocols

Nothing here imports torch before a model is opened.
"""

from __future__ import annotations

from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.models.local.model import LocalModel
from clinqa.models.local.runtime import load
from clinqa.models.protocol import ModelOptions
from clinqa.models.weights import check_gguf, converted, sha256_of

__all__ = ["LocalModel", "open_folder", "open_gguf", "open_hf"]


def open_hf(rest: str, options: ModelOptions) -> LocalModel:
    """The causal language model in the transformers folder `rest` (safetensors only)."""
    return open_folder(f"hf:{rest}", Path(rest).expanduser(), options)


def open_gguf(rest: str, options: ModelOptions) -> LocalModel:
    """The model in the GGUF file `rest`, converted once to a folder in the user's cache."""
    file = Path(rest).expanduser()
    check_gguf(file)
    digest = sha256_of(file)
    return open_folder(f"gguf:{rest}", converted(file, digest), options, weights=digest)


def open_folder(
    name: str, folder: Path, options: ModelOptions, *, weights: str | None = None
) -> LocalModel:
    """A model under `name` from a folder. `weights` is the hash of what the folder came from."""
    if not folder.is_dir():
        raise ConfigError(
            f"{name}: no such folder; weights are never fetched, so put the model's folder "
            "(config.json, *.safetensors, tokenizer) on this machine and name its path"
        )
    return LocalModel(name, load(name, folder, options, weights), options)
