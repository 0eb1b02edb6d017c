"""Models that run in this process, from files on this machine: `hf:PATH` and `gguf:FILE`.

runtime   loading weights, tokenizer and adapter, all offline
marks     control tokens of a template told apart from marks inside texts
render    from messages to tokens: the model's own chat template, or plain completion
plan      which prompts go together: what they share is computed once
attention keys and values; attention over what the rows of a batch share
engine    prefill, the decoding loop, the next token of each row, scores
model     the above behind the `Model` and `Scorer` protocols

Nothing here imports torch before a model is opened.
"""

from __future__ import annotations

from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.hashing import sha256_file
from clinqa.models.local.model import LocalModel
from clinqa.models.local.runtime import load
from clinqa.models.protocol import ModelOptions
from clinqa.models.weights import check_gguf, converted, folder_sha256

__all__ = ["LocalModel", "gguf_sha256", "hf_sha256", "open_folder", "open_gguf", "open_hf"]


def open_hf(rest: str, options: ModelOptions) -> LocalModel:
    """The causal language model in the transformers folder `rest` (safetensors only)."""
    return open_folder(f"hf:{rest}", Path(rest).expanduser(), options)


def open_gguf(rest: str, options: ModelOptions) -> LocalModel:
    """The model in the GGUF file `rest`, converted once to a folder in the user's cache."""
    digest = gguf_sha256(rest)
    folder = converted(Path(rest).expanduser(), digest)
    return open_folder(f"gguf:{rest}", folder, options, weights=digest)


def gguf_sha256(rest: str) -> str:
    """The hash of the GGUF file `rest`; ConfigError unless it is one."""
    file = Path(rest).expanduser()
    check_gguf(file)
    return sha256_file(file)


def hf_sha256(rest: str) -> str:
    """The hash of the files in the folder `rest` that decide what the model says."""
    folder = Path(rest).expanduser()
    _check_folder(f"hf:{rest}", folder)
    return folder_sha256(folder)


def open_folder(
    name: str, folder: Path, options: ModelOptions, *, weights: str | None = None
) -> LocalModel:
    """A model under `name` from a folder. `weights` is the hash of what the folder came from."""
    _check_folder(name, folder)
    return LocalModel(name, load(name, folder, options, weights), options)


def _check_folder(name: str, folder: Path) -> None:
    if not folder.is_dir():
        raise ConfigError(
            f"{name}: no such folder; weights are never fetched, so put the model's folder "
            "(config.json, *.safetensors, tokenizer) on this machine and name its path"
        )
