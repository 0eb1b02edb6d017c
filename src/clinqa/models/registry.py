"""A model from its name. Implementations are imported when asked for, never before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import Model, ModelOptions

__all__ = ["KINDS", "ModelKind", "kind_of", "names_of_models", "open_model", "weights_sha256"]

Opener = Callable[[str, ModelOptions], Model]


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One family of names, `prefix:rest`, and the function `(rest, options) -> Model` behind it.

    `forms` are what may stand for `rest`, as help shows it.
    """

    prefix: str
    module: str
    opener: str
    forms: tuple[str, ...]
    remote: bool = False
    takes_shots: bool = True
    hasher: str = ""  # of the kinds with weights on this machine: `(rest) -> SHA-256`

    def open(self, rest: str, options: ModelOptions) -> Model:
        """The model called `prefix:rest`."""
        return cast(Opener, getattr(import_module(self.module), self.opener))(rest, options)


KINDS: dict[str, ModelKind] = {
    kind.prefix: kind
    for kind in (
        ModelKind(
            "baseline",
            "clinqa.models.baselines",
            "open_baseline",
            ("retrieval", "prior", "bag-of-words"),
            takes_shots=False,
        ),
        ModelKind(
            "embedded",
            "clinqa.models.embedded",
            "open_embedded",
            ("smollm2", "gemma3-270m"),
            hasher="embedded_sha256",
        ),
        ModelKind("hf", "clinqa.models.local", "open_hf", ("PATH",), hasher="hf_sha256"),
        ModelKind(
            "encoder",
            "clinqa.models.encoder",
            "open_encoder",
            ("DIR",),
            takes_shots=False,
            hasher="encoder_sha256",
        ),
        ModelKind("gguf", "clinqa.models.local", "open_gguf", ("FILE",), hasher="gguf_sha256"),
        ModelKind("openai", "clinqa.models.remote.openai", "OpenAIModel", ("NAME",), remote=True),
        ModelKind(
            "mistral", "clinqa.models.remote.mistral", "open_mistral", ("NAME",), remote=True
        ),
        ModelKind("azure", "clinqa.models.remote.azure", "open_azure", ("NAME",), remote=True),
        ModelKind(
            "anthropic", "clinqa.models.remote.anthropic", "open_anthropic", ("NAME",), remote=True
        ),
        ModelKind(
            "bedrock", "clinqa.models.remote.bedrock", "open_bedrock", ("NAME",), remote=True
        ),
        ModelKind("scripted", "clinqa.models.scripted", "open_scripted", ("FILE",)),
    )
}


def names_of_models() -> str:
    """What can be asked, for help.

    >>> names_of_models().split(", ")[0]
    'baseline:retrieval'
    """
    names = [f"{kind.prefix}:{form}" for kind in KINDS.values() for form in kind.forms]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def kind_of(name: str) -> ModelKind:
    """Which kind of model a name means; ConfigError if none.

    >>> kind_of("baseline:prior").module
    'clinqa.models.baselines'
    """
    prefix, colon, rest = name.partition(":")
    if not colon or not rest or prefix not in KINDS:
        known = ", ".join(f"{kind.prefix}:…" for kind in KINDS.values())
        raise ConfigError(f"--model {name!r}: no such kind of model; there are {known}")
    return KINDS[prefix]


def weights_sha256(name: str) -> str | None:
    """The hash of the weights a name means; None where they are not on this machine."""
    kind = kind_of(name)
    if not kind.hasher:
        return None
    hasher = cast(Callable[[str], str], getattr(import_module(kind.module), kind.hasher))
    return hasher(name.partition(":")[2])


def open_model(name: str, options: ModelOptions) -> Model:
    """The model called `name`, such as `embedded:smollm2` or `openai:gpt-4.1-mini`."""
    return kind_of(name).open(name.partition(":")[2], options)
