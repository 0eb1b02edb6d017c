"""A model from its name. Implementations are imported when asked for, never before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import cast

from clinqa.core.errors import ConfigError
from clinqa.core.options import Options, options_of
from clinqa.models.protocol import Model, ModelOptions

__all__ = [
    "KINDS",
    "ModelKind",
    "kind_of",
    "names_of_models",
    "open_model",
    "unused_options",
    "weights_sha256",
]

Opener = Callable[[str, ModelOptions], Model]


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One family of names, `prefix:rest`, and the function `(rest, options) -> Model` behind it.

    `forms` are what may stand for `rest`, as help shows it. `uses` are the options of predict that
    change what such a model does, `uses_of` those of one form alone; None where nobody has said.
    """

    prefix: str
    module: str
    opener: str
    forms: tuple[str, ...]
    remote: bool = False
    takes_shots: bool = True
    hasher: str = ""  # of the kinds with weights on this machine: `(rest) -> SHA-256`
    uses: frozenset[str] | None = None
    uses_of: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def open(self, rest: str, options: ModelOptions) -> Model:
        """The model called `prefix:rest`."""
        return cast(Opener, getattr(import_module(self.module), self.opener))(rest, options)


_WRITES = frozenset({"temperature", "top_p", "max_tokens", "stop", "context_window"})
_SENT = frozenset(
    {"base_url", "api_key_env", "max_parallel", "timeout", "attestations", "leave_out"}
)
_SENT |= _WRITES | {"cache_dir"}
_PLACED = frozenset({"device", "threads", "batch_size", "context_window"})
_LOADED = _WRITES | _PLACED | {"dtype"}
_LEARNS = frozenset({"train_from"})


def _remote(prefix: str, module: str, opener: str, *own: str) -> ModelKind:
    """A service behind an address; `own` are options that only it has."""
    return ModelKind(prefix, module, opener, ("NAME",), remote=True, uses=_SENT | set(own))


KINDS: dict[str, ModelKind] = {
    kind.prefix: kind
    for kind in (
        ModelKind(
            "baseline",
            "clinqa.models.baselines",
            "open_baseline",
            ("retrieval", "prior", "bag-of-words"),
            takes_shots=False,
            uses=frozenset(),
            uses_of={"prior": _LEARNS, "bag-of-words": _LEARNS},
        ),
        ModelKind(
            "embedded",
            "clinqa.models.embedded",
            "open_embedded",
            ("smollm2", "gemma3-270m"),
            hasher="embedded_sha256",
            uses=_LOADED,
        ),
        ModelKind(
            "hf", "clinqa.models.local", "open_hf", ("PATH",), hasher="hf_sha256", uses=_LOADED
        ),
        ModelKind(
            "encoder",
            "clinqa.models.encoder",
            "open_encoder",
            ("DIR",),
            takes_shots=False,
            hasher="encoder_sha256",
            uses=_PLACED,
        ),
        ModelKind(
            "gguf",
            "clinqa.models.local",
            "open_gguf",
            ("FILE",),
            hasher="gguf_sha256",
            uses=_LOADED,
        ),
        _remote("openai", "clinqa.models.remote.openai", "OpenAIModel"),
        _remote("mistral", "clinqa.models.remote.mistral", "open_mistral"),
        _remote("azure", "clinqa.models.remote.azure", "open_azure", "api_version"),
        _remote("anthropic", "clinqa.models.remote.anthropic", "open_anthropic"),
        _remote("bedrock", "clinqa.models.remote.bedrock", "open_bedrock", "region"),
        ModelKind(
            "scripted",
            "clinqa.models.scripted",
            "open_scripted",
            ("FILE",),
            uses=frozenset({"temperature", "max_tokens", "context_window"}),
        ),
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


def unused_options(name: str, options: Options) -> list[str]:
    """The flags that were given and of which a model of this name makes no use."""
    kind = kind_of(name)
    if kind.uses is None:
        return []
    every = (uses for one in KINDS.values() for uses in (one.uses or (), *one.uses_of.values()))
    uses = kind.uses | kind.uses_of.get(name.partition(":")[2], frozenset())
    others = frozenset().union(*every) - uses
    given = (one for one in options_of(type(options)) if one.name in others)
    return [one.flag for one in given if getattr(options, one.name) != one.default]


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
