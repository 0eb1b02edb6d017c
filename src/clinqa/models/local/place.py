"""Where the weights behind a name lie, for who needs the folder and not the opened model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.models.embedded import find_embedded
from clinqa.models.encoder import MINILM, find_minilm
from clinqa.models.local import gguf_sha256, hf_sha256
from clinqa.models.weights import converted, folder_sha256

__all__ = ["WeightsPlace", "place_of"]


@dataclass(frozen=True, slots=True)
class WeightsPlace:
    """A transformers folder, and the hash by which predict knows its weights."""

    name: str
    folder: Path
    weights_sha256: str


def place_of(name: str) -> WeightsPlace:
    """The folder of `hf:PATH`, `gguf:FILE` or `embedded:NAME`; ConfigError for other names."""
    prefix, _, rest = name.partition(":")
    if prefix == "hf" and rest:
        return WeightsPlace(name, Path(rest).expanduser(), hf_sha256(rest))
    if prefix == "gguf" and rest:
        digest = gguf_sha256(rest)
        return WeightsPlace(name, converted(Path(rest).expanduser(), digest), digest)
    if name == MINILM:
        folder = find_minilm()
        return WeightsPlace(name, folder, folder_sha256(folder))
    if prefix == "embedded" and rest:
        folder, digest = find_embedded(rest)
        return WeightsPlace(name, folder, digest)
    raise ConfigError(
        f"--model {name}: only weights on this machine can be trained; "
        "name hf:FOLDER, gguf:FILE or embedded:NAME"
    )
