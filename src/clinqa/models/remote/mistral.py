"""Mistral: chat completions like OpenAI's, with names of its own for a few things.

    POST https://api.mistral.ai/v1/chat/completions        Authorization: Bearer MISTRAL_API_KEY

It calls the seed `random_seed`, refuses fields that it does not know, and ends an answer with
`model_length` where the context is full.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clinqa.models.protocol import ModelOptions, Prompt, Sampling
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.openai import OpenAIWire
from clinqa.models.remote.wire import Reply, as_body

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

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        reply = super().read(value, prompt)
        full = value["choices"][0].get("finish_reason") == "model_length"
        return replace(reply, finish_reason="length") if full else reply
