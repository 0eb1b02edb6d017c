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
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.reply import BadReply, Finish, Reply
from clinqa.models.remote.wire import JSON, as_body

__all__ = ["OpenAIModel", "OpenAIWire", "tail_logprobs"]


class OpenAIWire(ChatWire):
    """OpenAI itself, or a server that speaks like it. Those who derive from it are other vendors
    whose address ends like OpenAI's."""

    prefix, vendor = "openai", "https://api.openai.com/v1"
    key = "OPENAI_API_KEY"
    vendors_limit = "max_completion_tokens"

    def __init__(self, model: str, options: ModelOptions) -> None:
        base = (options.base_url or self.vendor).rstrip("/")
        vendor = urlsplit(base).hostname == urlsplit(self.vendor).hostname
        super().__init__(model, options, limit=self.vendors_limit if vendor else "max_tokens")
        self.name = f"{self.prefix}:{model}"
        if not urlsplit(base).path:
            base += "/v1"
        self.base = base.removesuffix("/chat/completions")
        self.url = f"{self.base}/chat/completions"
        self.take_key(options.api_key_env or (self.key if vendor else ""))
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
        return replace(super().read(value, prompt), text=json.dumps(found), finish=Finish.STOP)


class OpenAIModel(RemoteModel):
    """The model called `openai:NAME`: it can also score, where its server can (vLLM's
    `prompt_logprobs`)."""

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
        wire.left_out = self._wire.left_out
        found: dict[int, list[float]] = {}
        # A server without them answers without them each time: once is enough.
        policy = replace(
            self._setting.policy, tries={**self._setting.policy.tries, "bad_output": 1}
        )
        clock = self._setting.clock
        notes = self._setting.notes
        scorer = RemoteModel(wire, options, policy=policy, clock=clock, notes=notes)
        with closing(scorer) as model:
            for index, output in model.generate(asked, Sampling(max_tokens=1)):
                if output.finish_reason != "stop":
                    raise ModelError(
                        f"{self.name}: no log-probabilities of a given text "
                        f"({output.error or output.finish_reason}); vLLM's server offers them"
                    )
                found[index] = json.loads(output.text)
        return [found[index] for index in range(len(pairs))]


def tail_logprobs(entries: object, continuation: str) -> list[float]:
    """The log-probabilities of the last tokens, as many as make up the continuation.

    vLLM's chat completions take a last turn of the assistant that is left open
    (`continue_final_message`) and tell the log-probability of each token of the prompt
    (`prompt_logprobs`): a list with an entry a token, `{token id: {"logprob", "decoded_token"}}`,
    null for the first. What stands at the end of that prompt is the continuation. Some servers
    ignore the wish without a word: then there is an error and no figure.

    A token that holds the end of the prompt and the start of the continuation counts.

    >>> said = [None] + [{"7": {"logprob": p, "decoded_token": t}} for p, t in
    ...     ((-9.0, "Q?"), (-1.5, " Mi"), (-0.5, "ld"))]
    >>> tail_logprobs(said, " Mild")
    [-1.5, -0.5]
    """
    if not isinstance(entries, list) or not continuation:
        raise BadReply
    found: list[float] = []
    text = ""
    for entry in reversed(entries):
        if len(text) >= len(continuation):
            break
        token, logprob = _only(entry)
        text = token + text
        found.append(logprob)
    if not text.endswith(continuation):
        raise BadReply
    return found[::-1]


def _only(entry: object) -> tuple[str, float]:
    """The one token of an entry; with alternatives beside it, which one stood there is a guess."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise BadReply
    (said,) = entry.values()
    token = said.get("decoded_token") if isinstance(said, Mapping) else None
    logprob = said.get("logprob") if isinstance(said, Mapping) else None
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        raise BadReply
    return token, float(logprob)
