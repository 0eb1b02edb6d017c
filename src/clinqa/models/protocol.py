"""What every model takes and gives; the only surface predict, train and study know.

A prompt is a list of messages: the system line and the shots (user and assistant in turn) come
first and are the same for all items of a (seed, repeat), so that a model may compute them once;
the question with its context is the last user message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from clinqa.core.records import DataClass
from clinqa.kinds.facets.baseline import Baseline

__all__ = [
    "ERROR_KINDS",
    "FINISH_REASONS",
    "Message",
    "Model",
    "ModelOptions",
    "Output",
    "Prompt",
    "Sampling",
    "Scorer",
    "TellsFacts",
    "TellsService",
    "TrainAnswer",
    "folded",
    "messages_sha256",
    "system_and_turns",
    "told_of_service",
]

FINISH_REASONS = ("stop", "length", "refusal", "content_filter", "error")
ERROR_KINDS = (
    "auth",
    "rate_limit",
    "context",
    "refusal",
    "bad_output",
    "timeout",
    "server",
    "network",
)
"""What `Output.error` may say; `Output.error` is empty unless finish_reason is "error"."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `role` is system, user or assistant. `images` are PNG, for models that see."""

    role: str
    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """One item as a model is asked it. Only `messages` reaches a model that reads text.

    `question`, `context`, `category` and `own` (the part of its kind as it stands in the prompt:
    options, say) are for models that are no language models (the baselines); `seed` and `repeat`
    for sampling and for the cache's key; `variant` numbers the forms of an item. `free` is asked
    without the schema that the model was opened with.
    """

    item_id: str
    messages: tuple[Message, ...]
    question: str
    context: str
    category: str
    own: Any
    seed: int
    repeat: int
    variant: int = 0
    free: bool = False


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to decode; temperature 0 is greedy."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 128
    stop: tuple[str, ...] = ()

    @property
    def nucleus(self) -> float | None:
        """`top_p` where it cuts anything off."""
        return None if self.top_p == 1.0 else self.top_p


@dataclass(frozen=True, slots=True)
class Output:
    """What came back for one prompt.

    `error` is one of ERROR_KINDS and never text of a record or of a server's reply. A prompt over
    the context window is error "context": nothing is cut.
    """

    text: str
    finish_reason: str
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    error: str = ""
    prompt_sha256: str = ""
    cached: bool = False  # taken from the cache of answers: nothing was sent or paid
    weighed: tuple[float, ...] = ()  # log-probability of each answer that was weighed


def system_and_turns(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """The system text apart from the turns, for formats where it stands apart."""
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    return system, [message for message in messages if message.role != "system"]


def folded(messages: Sequence[Message]) -> list[Message]:
    """The system text put before the first question, for what has no system role."""
    system, turns = system_and_turns(messages)
    if system and turns:
        turns[0] = Message(turns[0].role, f"{system}\n\n{turns[0].text}")
    return turns


class Model(Protocol):
    """Anything that answers prompts."""

    @property
    def name(self) -> str:
        """The name it was opened by."""

    @property
    def deterministic(self) -> bool:
        """Does greedy decoding give the same text each time it is asked?"""

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """(index into `prompts`, output), each index exactly once, in whatever order they finish.

        What goes wrong with one prompt is its Output with an error; only what makes all others
        pointless (no key, egress refused) raises. Closing the iterator stops the work.
        """

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt; an estimate where the tokenizer is not at hand."""

    def close(self) -> None:
        """Give back memory and connections."""


@runtime_checkable
class Scorer(Protocol):
    """A model that can also say how likely a given continuation is."""

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of each token of each continuation."""


@runtime_checkable
class TellsFacts(Protocol):
    """A model with facts that decide what it says: number format, device, hash of its weights."""

    def describe(self) -> Mapping[str, str]:
        """The facts, for a manifest."""


@runtime_checkable
class TellsService(Protocol):
    """A model behind a service, which may do things that whoever reads a run should know."""

    def service(self) -> Mapping[str, Any]:
        """What it did (fields that it refused, other models that answered), for a manifest."""

    def service_warnings(self) -> Sequence[str]:
        """The same in words."""

    def because(self) -> str:
        """Why prompts have no answer, in the server's words as far as they can be shown; starts
        with "; ", and is empty where nothing is known."""


def told_of_service(model: object) -> tuple[dict[str, Any], list[str]]:
    """What the service behind a model did, for the details of a manifest, and in words."""
    if not isinstance(model, TellsService):
        return {}, []
    told = dict(model.service())
    return ({"service": told} if told else {}), list(model.service_warnings())


@dataclass(frozen=True, slots=True)
class TrainAnswer:
    """How often one answer was given in train to the questions of a stratum: the values by which
    the kind tells questions apart (`kinds.facets.baseline`)."""

    stratum: tuple[str, ...]
    answer: str
    count: int


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Everything a model may need besides its name; each kind takes what concerns it."""

    data_class: DataClass = DataClass.RESTRICTED
    # remote
    base_url: str | None = None
    api_key_env: str | None = None  # the *name* of the variable; a key never stands here
    api_version: str | None = None
    region: str | None = None
    leave_out: tuple[str, ...] = ()  # fields of a request that are not sent
    max_parallel: int = 32
    timeout: float = 120.0
    max_cost: float | None = None
    price_file: Path | None = None
    cache_dir: Path | None = None
    attestations: Path | None = None
    egress_log: Path | None = None
    notice: Callable[[str], None] | None = None  # told of long waits and changes, a line each
    changed: Callable[[str, str], None] | None = (
        None  # a field of requests, and what is done with it
    )
    # local
    adapter: Path | None = None
    dtype: str | None = None
    device: str | None = None
    batch_size: int | None = None
    context_window: int | None = None
    # the baselines: what their kind of items says of them
    baseline: Baseline = field(default_factory=Baseline)
    # baseline:prior: the answers of train, counted
    train_answers: Iterable[TrainAnswer] = ()
    # baseline:bag-of-words: question and answer of every item of train
    train_texts: Iterable[tuple[str, str]] = ()
    extra: Mapping[str, str] = field(default_factory=dict)


def messages_sha256(messages: Iterable[Message]) -> str:
    """The identity of an exact prompt: SHA-256 over the compact ASCII JSON of roles and texts.

    >>> messages_sha256([Message("user", "Hi")])[:12]
    '8b1450277179'
    """
    turns = [
        [message.role, message.text, *(hashlib.sha256(png).hexdigest() for png in message.images)]
        for message in messages
    ]
    return hashlib.sha256(_COMPACT(turns).encode("ascii")).hexdigest()


_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
