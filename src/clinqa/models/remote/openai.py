"""OpenAI, and what speaks like it: vLLM, llama.cpp, Ollama and many others.

    POST {base}/chat/completions        Authorization: Bearer KEY

The key of OPENAI_API_KEY goes to OpenAI's own host only; for another server (`--base-url`) name the
variable with `--api-key-env`, or none goes along. OpenAI is asked not to store the exchange.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from clinqa.core.errors import ModelError
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.remote.chat import ChatWire
from clinqa.models.remote.logprobs import tail_logprobs
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.wire import JSON, Reply, as_body

__all__ = ["OpenAIModel", "OpenAIWire", "open_openai"]

VENDOR = "https://api.openai.com/v1"


def open_openai(name: str, options: ModelOptions) -> OpenAIModel:
    """The model called `openai:NAME`."""
    return OpenAIModel(name, options)


class OpenAIWire(ChatWire):
    """OpenAI itself, or a server that speaks like it."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        base = (options.base_url or VENDOR).rstrip("/")
        vendor = urlsplit(base).hostname == urlsplit(VENDOR).hostname
        super().__init__(model, options, limit="max_completion_tokens" if vendor else "max_tokens")
        self.name = f"openai:{model}"
        if not urlsplit(base).path:
            base += "/v1"
        self.base = base.removesuffix("/chat/completions")
        self.url = f"{self.base}/chat/completions"
        self.take_key(options.api_key_env or ("OPENAI_API_KEY" if vendor else ""))
        self._vendor = vendor

    def headers(self, body: bytes) -> Mapping[str, str]:
        """A bearer token, if there is one."""
        if self._secret is None:
            return {"Content-Type": JSON}
        return {"Content-Type": JSON, "Authorization": f"Bearer {self._secret.reveal()}"}


class _ScoringWire(OpenAIWire):
    """The same server, asked how likely the last turn is."""

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        asked: dict[str, Any] = json.loads(super().body(prompt, sampling))
        asked |= {
            "prompt_logprobs": 0,
            "add_generation_prompt": False,
            "continue_final_message": True,
        }
        return as_body(asked)

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        found = tail_logprobs(value.get("prompt_logprobs"), prompt.messages[-1].text)
        return replace(super().read(value, prompt), text=json.dumps(found), finish_reason="stop")


class OpenAIModel(RemoteModel):
    """A remote model that can also score, where its server can (vLLM's `prompt_logprobs`)."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        super().__init__(OpenAIWire(model, options), options)
        self._model = model

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of each token of each continuation."""
        asked = [
            replace(prompt, messages=(*prompt.messages, Message("assistant", continuation)))
            for prompt, continuation in pairs
        ]
        options = replace(self._options, cache_dir=None)
        wire = _ScoringWire(self._model, options)
        found: dict[int, list[float]] = {}
        # A server without them answers without them each time: once is enough.
        policy = replace(
            self._setting.policy, tries={**self._setting.policy.tries, "bad_output": 1}
        )
        clock = self._setting.clock
        with closing(RemoteModel(wire, options, policy=policy, clock=clock)) as model:
            for index, output in model.generate(asked, Sampling(max_tokens=1)):
                if output.finish_reason != "stop":
                    raise ModelError(
                        f"{self.name}: no log-probabilities of a given text "
                        f"({output.error or output.finish_reason}); vLLM's server offers them"
                    )
                found[index] = json.loads(output.text)
        return [found[index] for index in range(len(pairs))]
