"""The model to train: loaded offline, quantized where that can be, with LoRA on it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from clinqa.core.errors import ConfigError, MissingExtra, ModelError
from clinqa.models.local.place import WeightsPlace
from clinqa.models.weights import device_of, dtype_of, from_folder, import_torch
from clinqa.training.presets import Settings

__all__ = [
    "Base",
    "Shape",
    "check_extra",
    "load_base",
    "lora_config",
    "shape_of",
]

_NEEDS = ("peft", "trl", "accelerate", "datasets")
_ATTENTION = ("attn", "attention")
_MLP = ("mlp", "feed_forward", "ffn")


@dataclass(frozen=True, slots=True)
class Base:
    """A model with its tokenizer, on its device. `notes` say what differs from the preset."""

    model: Any
    tokenizer: Any
    device: str
    dtype: str
    quantized: bool
    notes: list[str] = field(default_factory=list)


def check_extra(settings: Settings, threads: int | None) -> None:
    """MissingExtra unless everything that training needs is installed."""
    torch = import_torch("train", threads)
    needs = [*_NEEDS, *(["bitsandbytes"] if _quantizes(torch, settings, None) else [])]
    for name in needs:
        try:
            version(name)
        except importlib.metadata.PackageNotFoundError as error:
            raise MissingExtra("train", f"{name}, for training,") from error


def load_base(place: WeightsPlace, tokenizer: Any, settings: Settings, device: str | None) -> Base:
    """The model in its folder, ready for an adapter."""
    if not any(place.folder.glob("*.safetensors")):
        raise ConfigError(f"{place.name}: the folder holds no *.safetensors")
    torch = import_torch("train")
    transformers = importlib.import_module("transformers")
    chosen = device_of(torch, device)
    dtype = dtype_of(torch, chosen, "float32" if settings.precision == "f32" else None)
    notes = []
    if settings.precision == "bf16" and dtype != "bfloat16":
        notes.append(f"precision: {dtype}, for the hardware multiplies no bfloat16")
    quantized = _quantizes(torch, settings, chosen)
    if settings.quantization == "nf4" and not quantized:
        notes.append("quantization: no CUDA here, so NF4 is replaced by plain LoRA")
    options: dict[str, Any] = {}
    if quantized:
        options["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=getattr(torch, dtype),
        )
        options["device_map"] = {"": torch.cuda.current_device()}
    model = from_folder(
        "AutoModelForCausalLM",
        place.name,
        place.folder,
        "the folder for training",
        "; it must hold a causal language model that needs no code of its own",
        dtype=getattr(torch, dtype),
        use_safetensors=True,
        attn_implementation="sdpa",
        **options,
    )
    model.config.use_cache = False
    if quantized:
        peft = importlib.import_module("peft")
        model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    else:
        model = model.to(chosen)
    return Base(model, tokenizer, chosen, dtype, quantized, notes)


def lora_config(model: Any, settings: Settings, new_tokens: Sequence[int] = ()) -> Any:
    """LoRA on the projections that the preset names."""
    peft = importlib.import_module("peft")
    return peft.LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=projections(model, settings.targets),
        trainable_token_indices=list(new_tokens) or None,
        task_type="CAUSAL_LM",
        bias="none",
    )


def projections(model: Any, targets: str) -> list[str]:
    """The last names of the linear layers inside attention, MLP or both."""
    torch = importlib.import_module("torch")
    wanted = [*(_ATTENTION if "attention" in targets else ()), *(_MLP if "mlp" in targets else ())]
    found = set()
    for path, module in model.named_modules():
        above, _, name = path.lower().rpartition(".")
        if isinstance(module, torch.nn.Linear) and any(part in above for part in wanted):
            found.add(path.rpartition(".")[2] if name else path)
    if not found:
        raise ConfigError(f"targets {targets}: the model has no linear layers of these names")
    return sorted(found)


def _quantizes(torch: Any, settings: Settings, device: str | None) -> bool:
    """NF4 on CUDA alone: on a CPU, bitsandbytes trains wrongly after an evaluation, silently."""
    cuda = torch.cuda.is_available() and (device is None or device.startswith("cuda"))
    return settings.quantization == "nf4" and bool(cuda)


@dataclass(frozen=True, slots=True)
class Shape:
    """Context window, rows of the embeddings, end marks, and whether layers see all before them."""

    window: int
    rows: int
    ends: tuple[int, ...]
    sees_all: bool


def shape_of(place: WeightsPlace, tokenizer: Any) -> Shape:
    """From config.json and generation_config.json."""
    name, folder = place.name, place.folder
    config = from_folder("AutoConfig", name, folder, "config.json").get_text_config()
    try:
        ends = from_folder("GenerationConfig", name, folder, "generation_config.json")
        known = ends.eos_token_id
    except ModelError:  # there is none
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
