"""torch with its settings, imported when a model is opened: device, number format, hub off."""

from __future__ import annotations

import importlib
import logging
import os
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, MissingExtra, ModelError

__all__ = ["device_of", "dtype_of", "from_folder", "import_torch", "load_failed", "load_tokenizer"]

_DTYPES = ("float32", "bfloat16", "float16")
_SHORT = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "fp32": "float32"}
_SHORT |= {"fp16": "float16"}


def import_torch(extra: str = "local", threads: int | str | None = None) -> Any:
    """torch, with waiting threads asleep and the hub switched off; MissingExtra without it.

    The variables act only if they stand before the first import of torch: threads that spin while
    they wait made steps twenty times slower beside one busy neighbour. With `threads`, it uses so
    many.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ[name] = "1"
    try:
        torch = importlib.import_module("torch")
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise MissingExtra(
            extra,
            "torch with transformers (install a CPU build of torch first if you have no GPU)",
        ) from error
    # it warns of a faster kernel that nobody here asks for, each time peft is imported
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if threads is not None:
        if not str(threads).isdecimal() or int(threads) < 1:
            raise ConfigError("threads: a whole number from 1 up")
        torch.set_num_threads(int(threads))
    return torch


def load_failed() -> tuple[type[BaseException], ...]:
    """What transformers and safetensors raise over a file they cannot read."""
    safetensors = importlib.import_module("safetensors")
    wrong: tuple[type[BaseException], ...] = (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RuntimeError,
        ImportError,
        safetensors.SafetensorError,
    )
    return wrong


def from_folder(
    loader: Any, name: str, folder: Path, what: str, advice: str = "", **options: Any
) -> Any:
    """What a class of transformers makes of a folder, offline and with no code of its own.

    `what` that is, and `advice`, are for the ModelError where it cannot be loaded.
    """
    try:
        return loader.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, **options
        )
    except load_failed() as error:
        raise ModelError(
            f"{name}: transformers cannot load {what} ({type(error).__name__}){advice}"
        ) from error


def load_tokenizer(name: str, folder: Path) -> Any:
    """The tokenizer of a model's folder."""
    transformers = importlib.import_module("transformers")
    return from_folder(transformers.AutoTokenizer, name, folder, "the tokenizer")


def device_of(torch: Any, wanted: str | None) -> str:
    """The device: as asked, else the GPU where there is one."""
    if wanted is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=wanted)
    except (RuntimeError, AssertionError) as error:  # torch asserts that CUDA is compiled in
        raise ConfigError(f"--device {wanted}: torch has no such device here") from error
    return wanted


def dtype_of(torch: Any, device: str, wanted: str | None) -> str:
    """The number format: as asked, else bfloat16 where the hardware multiplies it, else float32."""
    if wanted is not None:
        name = _SHORT.get(wanted, wanted)
        if name not in _DTYPES:
            raise ConfigError(f"--dtype {wanted}: one of {', '.join(_DTYPES)}")
        return name
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    if device != "cpu":
        return "float32"
    ask = getattr(torch.cpu, "get_capabilities", None)  # newer than torch 2.6
    able = ask() if ask else {}
    return "bfloat16" if able.get("amx_bf16") or able.get("avx512_bf16") else "float32"
