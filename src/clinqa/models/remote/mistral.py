"""Mistral: chat completions like OpenAI's, with names of its own for a few things.

    POST https://api.mistral.ai/v1/chat/completions        Authorization: Bearer MISTRAL_API_KEY

It calls the seed `random_seed`, and refuses fields that it does not know.
"""

from __future__ import annotations

import json
from typing import Any

from clinqa.models.protocol import ModelOptions, Prompt, Sampling
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.openai import OpenAIWire
from clinqa.models.remote.wire import as_body

__all__ = ["MistralWire", "open_mistral"]


def open_mistral(model: str, options: ModelOptions) -> RemoteModel:
    """The model called `mistral:NAME`."""
    return RemoteModel(MistralWire(model, options), options)


class MistralWire(OpenAIWire):
    """Mistral itself; its key goes to its own host only."""

    prefix, vendor = "mistral", "https://api.mistral.ai/v1"
    key = "MISTRAL_API_KEY"
    vendors_limit = "max_tokens"

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt, in Mistral's names."""
        asked: dict[str, Any] = json.loads(super().body(prompt, sampling))
        asked.pop("store", None)
        if "seed" in asked:
            asked["random_seed"] = asked.pop("seed")
        return as_body(asked)
