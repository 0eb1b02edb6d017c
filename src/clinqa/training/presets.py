"""Presets: YAML files that say what is set, each key with its source.

What stands in a preset may be overridden (`--set learning_rate=1e-4`); the source is then `you`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.kinds.registry import ItemKind, kinds
from clinqa.models.local.marks import is_mark

__all__ = ["PRESETS", "Preset", "Resolved", "Settings", "load_preset", "resolve"]

PRESETS = ("echoqa", "ecgquest", "smedqa", "encoder")
_MAX_BYTES = 100_000
_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def _number(value: object) -> object:
    """A number as it is; a yes is none, although Python counts it as 1."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    return value


def _word(value: object) -> object:
    """YAML reads yes and no as true and false."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _no_mark(value: str) -> str:
    """A word to add to a vocabulary; marks of turns are control tokens, which no text holds."""
    if is_mark(value):
        raise ValueError("has the form of a mark of turns, which is never a word of a text")
    return value


Float = Annotated[float, BeforeValidator(_number)]
Int = Annotated[int, BeforeValidator(_number)]
Positive = Annotated[Float, Field(gt=0, le=1e12, allow_inf_nan=False)]
Share = Annotated[Float, Field(ge=0, lt=1, allow_inf_nan=False)]
Count = Annotated[Int, Field(ge=1, le=10**12)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=200)]


class Settings(BaseModel):
    """Everything that decides how a model is trained, after preset, model and `--set`."""

    model_config = _STRICT

    method: Literal["lora", "encoder"] = "lora"
    epochs: Positive = 1.0
    max_steps: Count | None = None
    learning_rate: Positive = 2e-4
    scheduler: Literal["cosine", "linear", "constant"] = "cosine"
    warmup: Share = 0.0
    optimizer: Literal["adamw"] = "adamw"
    weight_decay: Annotated[Float, Field(ge=0, allow_inf_nan=False)] = 0.0
    max_grad_norm: Positive = 1.0
    batch_size: Count = 8
    accumulation: Count = 1
    lora_rank: Count = 16
    lora_alpha: Positive = 16.0
    lora_dropout: Share = 0.0
    targets: Literal["attention", "mlp", "attention+mlp"] = "attention+mlp"
    quantization: Literal["nf4", "none"] = "none"
    precision: Literal["bf16", "f32"] = "bf16"
    add_tokens: tuple[Annotated[str, Field(min_length=1), AfterValidator(_no_mark)], ...] = ()
    false_weight: Positive = 1.0
    best_by: Literal["none", "loss", "accuracy", "macro_f1"] = "none"
    validations: Count = 1
    validation_items: Annotated[Int, Field(ge=0)] = 1000
    together: Count = 1
    share: bool = True
    row_tokens: Count = 1024
    checkpoint_minutes: Positive = 10.0
    gradient_checkpointing: Annotated[Literal["auto", "yes", "no"], BeforeValidator(_word)] = "auto"

    def for_two_classes(self) -> list[str]:
        """What is set that means something of kinds with two classes alone."""
        told = {
            "best_by=macro_f1": self.best_by == "macro_f1",
            f"false_weight={self.false_weight:g}": self.false_weight != 1,
            "method encoder": self.method == "encoder",
        }
        return [what for what, is_set in told.items() if is_set]

    @property
    def step_items(self) -> int:
        """Items of one optimizer step, on one device."""
        return self.batch_size * self.accumulation


SAYS: Mapping[str, str] = {
    "max_steps": "no cap",
    "validations": "validations an epoch",
    "validation_items": "validation items asked, by chance; 0: all",
    "share": "beginnings that items of a batch share are computed once",
    "row_tokens": "tokens of one row of a batch, about",
    "checkpoint_minutes": "time between checkpoints",
    "gradient_checkpointing": "auto: where the model is quantized",
}
"""What the keys say that presets leave at their default."""

UNUSED = {
    "encoder": frozenset(
        {"lora_rank", "lora_alpha", "lora_dropout", "targets", "quantization", "add_tokens"}
        | {"together", "share", "row_tokens"}
    ),
    "lora": frozenset[str](),
}


class _ForModel(BaseModel):
    """A value for one model, perhaps at one rank only."""

    model_config = _STRICT

    model: Annotated[str, Field(min_length=3)]
    rank: Int | None = None
    value: Any
    source: Literal["paper", "ours"] | None = None  # None: the key's own


class _Setting(BaseModel):
    """One key of a preset file."""

    model_config = _STRICT

    value: Any
    source: Literal["paper", "ours"]
    note: str = ""
    by_model: tuple[_ForModel, ...] = ()


class Preset(BaseModel):
    """A preset file: for kinds with the abilities that it needs, or those that it names."""

    model_config = _STRICT

    name: Line
    says: Line
    needs: tuple[Line, ...] = ()
    kinds: Annotated[tuple[Line, ...], Field(min_length=1)] | None = None
    settings: dict[str, _Setting]

    def fits(self, kind: ItemKind) -> bool:
        """Is it for items of this kind?"""
        return all(map(kind.has, self.needs)) and (self.kinds is None or kind.name in self.kinds)

    @model_validator(mode="after")
    def _known_keys(self) -> Preset:
        unknown = sorted(set(self.settings) - set(Settings.model_fields))
        if unknown:
            raise ValueError(f"no such settings: {', '.join(unknown)}")
        if absent := sorted(set(self.kinds or ()) - {kind.name for kind in kinds()}):
            raise ValueError(f"no such kinds: {', '.join(absent)}")
        return self


@dataclass(frozen=True, slots=True)
class Resolved:
    """What is set for one model: the values, and where each is from."""

    preset: Preset
    settings: Settings
    sources: Mapping[str, tuple[str, str]]  # key: (paper, ours or you; note)

    def lines(self) -> list[str]:
        """A line for each key: what, where from, why."""
        values = self.settings.model_dump(mode="json")
        unused = UNUSED[self.settings.method]
        shown = [(key, _plain(values[key]), *self.sources[key]) for key in values]
        shown = [row for row in shown if row[0] not in unused]
        wide = max(len(key) for key, *_ in shown)
        value_wide = max(len(value) for _, value, *_ in shown)
        lines = [f"preset {self.preset.name}: {self.preset.says}"]
        for key, value, source, note in shown:
            lines.append(f"  {key:<{wide}}  {value:<{value_wide}}  {source:<5}  {note}".rstrip())
        return lines

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        values = self.settings.model_dump(mode="json")
        return {
            key: {"value": value, "source": self.sources[key][0]} for key, value in values.items()
        }


def load_preset(name: str) -> Preset:
    """A shipped preset by its name, or a YAML file by its path."""
    if name in PRESETS:
        data = files("clinqa.training").joinpath(f"presets/{name}.yaml").read_bytes()
        return validated(Path(f"{name}.yaml"), data, Preset)
    path = Path(name).expanduser()
    if path.suffix not in (".yaml", ".yml"):
        known = ", ".join(PRESETS)
        raise ConfigError(f"--preset {name}: there are {known}; or name a file.yaml of your own")
    return validated(path, read_bytes(path, _MAX_BYTES), Preset)


def resolve(preset: Preset, model: str, overrides: Sequence[str] = ()) -> Resolved:
    """The values for one model: by what the preset says of it, then by `KEY=VALUE`."""
    told = _overrides(overrides)
    values: dict[str, Any] = {}
    sources = {key: ("ours", SAYS.get(key, "")) for key in Settings.model_fields}
    rank = told.get("lora_rank")
    # the rank first: other values hang on it
    for key in sorted(preset.settings, key=lambda key: key != "lora_rank"):
        setting = preset.settings[key]
        values[key], sources[key] = setting.value, (setting.source, setting.note)
        for one in setting.by_model:
            if (one.rank is None or one.rank == rank) and _squeezed(one.model) in _squeezed(model):
                source = one.source or setting.source
                values[key], sources[key] = one.value, (source, f"for {one.model}")
                break
        if key == "lora_rank" and rank is None:
            rank = values[key]
    for key, value in told.items():
        values[key], sources[key] = value, ("you", "")
    twice = values.get("lora_alpha") == "2r"
    if twice:
        values.pop("lora_alpha")
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise ConfigError(f"preset {preset.name}: {_first(error)}") from None
    if twice:
        settings = settings.model_copy(update={"lora_alpha": 2.0 * settings.lora_rank})
    if unused := sorted(UNUSED[settings.method] & set(told)):
        raise ConfigError(f"--set {unused[0]}: preset {preset.name} makes no use of it")
    return Resolved(preset, settings, sources)


def _overrides(overrides: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for one in overrides:
        key, equals, text = one.partition("=")
        if not equals or key not in Settings.model_fields:
            known = ", ".join(Settings.model_fields)
            raise ConfigError(f"--set {key}: give KEY=VALUE; the keys are {known}")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: 2001-99-99
            raise ConfigError(f"--set {key}: the value cannot be read as YAML") from None
        if key == "method":
            raise ConfigError("--set method: choose the preset that has it")
        # YAML 1.1 takes 1e-4 for a text
        told[key] = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
    return told


_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])


def _squeezed(name: str) -> str:
    """
    >>> _squeezed("hf:/models/Meta-Llama_3.1 8B")
    'hf/models/metallama318b'
    """
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)
