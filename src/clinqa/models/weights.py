"""Files of weights: GGUF converted once, hashes, the user's cache; torch with its settings.

A GGUF file takes half a minute to unpack and a transformers folder a second, so it is unpacked once
into the cache, under the SHA-256 of the file. The folder appears by one rename: it is there whole
or not at all, and two runs that start together do not hurt each other.

torch is imported when a model is opened: device, number format, hub off.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import logging
import os
import shutil
import struct
import sys
import tempfile
import time
from contextlib import redirect_stderr, suppress
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from clinqa.core.errors import ConfigError, MissingExtra, ModelError
from clinqa.core.hashing import sha256_file

__all__ = [
    "cache_folder",
    "check_gguf",
    "converted",
    "decides",
    "device_of",
    "dtype_of",
    "folder_sha256",
    "from_folder",
    "import_torch",
    "known",
    "load_failed",
    "load_tokenizer",
    "working_folder",
]

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
        torch.set_num_threads(int(threads))
    return torch


def load_failed() -> tuple[type[BaseException], ...]:
    """What transformers, gguf and safetensors raise over a file they cannot read: a cut or altered
    one leads them astray in as many ways as there are mistakes in a program."""
    own = importlib.import_module("safetensors").SafetensorError
    usual = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError)
    return (*usual, EOFError, ArithmeticError, AssertionError, MemoryError, struct.error, own)


def from_folder(
    loader: str, name: str, folder: Path, what: str, advice: str = "", **options: Any
) -> Any:
    """What a class of transformers makes of a folder, offline and with no code of its own.

    `what` that is, and `advice`, are for the ModelError where it cannot be loaded.
    """
    transformers = importlib.import_module("transformers")
    try:
        return getattr(transformers, loader).from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, **options
        )
    except load_failed() as error:
        raise ModelError(
            f"{name}: transformers cannot load {what} ({type(error).__name__}){advice}"
        ) from error


def load_tokenizer(name: str, folder: Path) -> Any:
    """The tokenizer of a model's folder."""
    return from_folder("AutoTokenizer", name, folder, "the tokenizer")


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


_MAGIC = b"GGUF"
_WORKING = ".working-"
_STALE = 6 * 3600  # seconds; no conversion takes as long


def cache_folder() -> Path:
    """Where converted weights lie: CLINQA_CACHE, or the place the system has for caches."""
    chosen = os.environ.get("CLINQA_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "weights"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "clinqa" / "weights"


_SOURCE = "source.json"
_NEVER_READ = (
    *(".md", ".rst", ".html", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".csv", ".tsv"),
    *(".parquet", ".log", ".py", ".lock", ".sig"),
    # weights in formats that are not opened
    *(".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".ot", ".tflite", ".gguf"),
)
_NO_PART = frozenset({"manifest.json", "canaries.json", _SOURCE, "LICENSE.txt", "NOTICE.txt"})
_TEMPLATES = "additional_chat_templates"


def decides(name: str) -> bool:
    """Has a file of a model's folder, by its name, a part in what the model says?

    All have that are not known to have none: weights, configurations, vocabularies, merges,
    templates. So a format that nobody thought of is hashed for nothing, rather than missed.

    >>> [name for name in ("vocab.txt", "README.md", "onnx/model.json", "a.bin") if decides(name)]
    ['vocab.txt']
    """
    path = PurePosixPath(name)
    if path.name.startswith(".") or path.suffix.lower() in _NEVER_READ or path.name in _NO_PART:
        return False
    return path.parent.as_posix() in (".", _TEMPLATES)


def folder_sha256(folder: Path) -> str:
    """One hash for the files of a model's folder that decide what it says, whatever their order."""
    files = [*folder.glob("*"), *folder.glob(f"{_TEMPLATES}/*")]
    named = {file.relative_to(folder).as_posix(): file for file in files if file.is_file()}
    lines = "".join(
        f"{sha256_file(named[name])}  {name}\n" for name in sorted(named) if decides(name)
    )
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def check_gguf(file: Path) -> None:
    """ConfigError unless `file` is there and begins like a GGUF file."""
    try:
        with file.open("rb") as stream:
            start = stream.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from error
    if start != _MAGIC:
        raise ConfigError(f"{file}: not a GGUF file")


def known(digest: str) -> Path | None:
    """The converted folder of a GGUF file with this SHA-256, if there is one and it is whole."""
    folder = _place(digest)
    return folder if _whole(folder) else None


def _whole(folder: Path) -> bool:
    """Is a folder of the cache still what was converted? One that is not is taken away: it can be
    made again, and whoever has it open keeps its files."""
    if not folder.is_dir():
        return False
    try:
        told = json.loads((folder / _SOURCE).read_text(encoding="utf-8"))["folder_sha256"]
        if told == folder_sha256(folder):
            return True
    except (OSError, ValueError, LookupError, TypeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return False


def converted(file: Path, digest: str) -> Path:
    """The folder `file` was converted to; converted now if it is not in the cache.

    Weights stand there as float32, exactly what the file's numbers mean.
    """
    target = _place(digest)
    if _whole(target):
        return target
    torch = import_torch()
    transformers = importlib.import_module("transformers")
    if importlib.util.find_spec("gguf") is None:
        raise MissingExtra("local", "the package gguf, to read GGUF files,")
    working = working_folder()
    try:
        where: dict[str, object] = {
            "pretrained_model_name_or_path": str(file.parent),
            "gguf_file": file.name,
            "local_files_only": True,
            "trust_remote_code": False,
        }
        with redirect_stderr(io.StringIO()):  # a bar that no setting of transformers takes away
            transformers.AutoTokenizer.from_pretrained(**where).save_pretrained(working)
            transformers.AutoModelForCausalLM.from_pretrained(
                **where,
                dtype=torch.float32,
                quantization_config=transformers.GgufConfig(dequantize=True),  # or saving fails
            ).save_pretrained(working)
        source = {
            "sha256": digest,
            "file": file.name,
            "transformers": version("transformers"),
            "folder_sha256": folder_sha256(working),
        }
        (working / _SOURCE).write_text(json.dumps(source) + "\n", encoding="utf-8")
        with suppress(OSError):  # another run was first; its folder is as good
            working.rename(target)
    except load_failed() as error:
        raise ModelError(
            f"{file}: transformers cannot convert this GGUF file ({type(error).__name__}: "
            "an architecture it does not know, a damaged file, or no room in the cache)"
        ) from error
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return target


def working_folder() -> Path:
    """A new folder inside the cache to work in; what killed runs left there long ago goes."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for left in cache.glob(f"{_WORKING}*"):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=_WORKING, dir=cache))
    except OSError as error:
        raise ConfigError(
            f"{cache}: cannot be written ({error.strerror}); CLINQA_CACHE names another place"
        ) from error


def _place(digest: str) -> Path:
    # A later transformers may convert better; what an earlier one made is then not used.
    there = importlib.util.find_spec("transformers") is not None
    major = version("transformers").partition(".")[0] if there else "0"
    return cache_folder() / f"{digest[:32]}-f32-t{major}"
