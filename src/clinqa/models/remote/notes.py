"""What a service did in a run that whoever reads the run should know.

Fields that were left out, other models that answered, prompts of which it counted too few tokens,
answers whose end it did not tell, and why requests failed: counted here, said once while the run
goes on, and told to the manifest at its end. All texts here are fit to be shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from clinqa.models.protocol import Message

__all__ = ["ServiceNotes", "Unanswered", "is_cut", "same_model"]

CHARACTERS_A_TOKEN = 8
SHORTEST = 200
_MOST = 20  # different names or reasons that are kept apart
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a prompt has no answer after so many requests; `own`: the reason is in our words."""

    requests: int
    kind: str
    reason: str
    own: bool


@dataclass(slots=True)
class ServiceNotes:
    """The notes of one model at one address. `said` is told each thing when it is met first."""

    asked: str  # the model's name; empty where replies name another by design (a deployment)
    said: Callable[[str], None] | None = None
    on_change: Callable[[str, str], None] | None = None
    left_out: dict[str, str] = field(default_factory=dict)  # field: what is done instead
    models: Counter[str] = field(default_factory=Counter)  # that answered, where not as asked
    answers: int = 0
    cut: int = 0
    unsaid: int = 0
    failures: dict[str, Unanswered] = field(default_factory=dict)
    """The last failure of each prompt that has no answer."""

    def changed(self, name: str, how: str, reason: str) -> None:
        """A field is sent no more, or otherwise."""
        if name not in self.left_out:
            self.left_out[name] = how
            if self.on_change is not None:
                self.on_change(name, how)
            self._tell(f"{self._change(name)}{f'; the server said: {reason}' if reason else ''}")

    def answered(self, served: str, *, cut: bool, unsaid: bool) -> None:
        """An answer came; `served` is the model that the server names, where it is another."""
        self.answers += 1
        self.unsaid += unsaid
        self.cut += cut
        if cut and self.cut == 1:
            self._tell(_CUT.format(n="this prompt", them="it"))
        if served:
            name = served if served in self.models or len(self.models) < _MOST else _OTHERS
            if not self.models:
                self._tell(f"{self.asked} was asked, and the server says that {name} answered")
            self.models[name] += 1

    def told(self) -> dict[str, Any]:
        """The notes, for a manifest; only what there is."""
        found = {
            "left_out": dict(self.left_out),
            "models": dict(self.models.most_common()),
            "cut_context": self.cut,
            "finish_not_said": self.unsaid,
            "errors": dict(
                Counter(
                    f"{one.kind}: {one.reason}" if one.reason else one.kind
                    for one in self.failures.values()
                ).most_common(_MOST)
            ),
        }
        return {name: one for name, one in found.items() if one}

    def warnings(self) -> list[str]:
        """The notes in words. Errors are told with the answers that are missing for them."""
        found = [self._change(name) for name in self.left_out]
        if self.models:
            names = ", ".join(self.models)
            found.append(
                f"{self.asked} was asked, and the server says that {names} answered "
                f"({self.models.total():,} of {self.answers:,})"
            )
        if self.cut:
            found.append(_CUT.format(n=f"{self.cut:,} of {self.answers:,} prompts", them="them"))
        if self.unsaid:
            found.append(
                f"the server did not say how {self.unsaid:,} of {self.answers:,} answers ended; "
                "they are taken as whole where they are shorter than --max-tokens"
            )
        return found

    def because(self) -> str:
        """The most frequent reasons of failures, as the end of a sentence."""
        found = Counter(
            one.reason if one.own else f"the server said: {one.reason}"
            for one in self.failures.values()
            if one.reason
        )
        return "".join(f"; {reason}" for reason, _ in found.most_common(3))

    def _change(self, name: str) -> str:
        greedy = " (its answers are no greedy ones then)" if name == "temperature" else ""
        return f"{name} is refused here, so it {self.left_out[name]}{greedy}"

    def _tell(self, line: str) -> None:
        if self.said is not None:
            self.said(line)


_CUT = (
    "the server counted far fewer tokens of {n} than were sent (less than one for "
    f"{CHARACTERS_A_TOKEN} characters): is its context cut (num_ctx, --ctx-size)? What was cut "
    "off was not read; or it does not count what it had kept of {them}"
)


def is_cut(counted: int | None, messages: Sequence[Message]) -> bool:
    """Did a server count far fewer tokens than a prompt has?

    No tokenizer makes a token of 8 characters of running text on average (about 4 of English);
    white space is taken together, and short prompts prove nothing. 0 is a server that counts none.
    """
    if not counted:
        return False
    length = sum(len(" ".join(message.text.split())) for message in messages)
    return length >= SHORTEST and counted * CHARACTERS_A_TOKEN < length


_VERSION = re.compile(
    r"(?:[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4}|\d{3,8}|v\d+:\d+|latest|preview|exp))+$"
)


def same_model(asked: str, served: str) -> bool:
    """Is it the model that was asked for? Case, who provides it, a path, the ending of a file, and
    dates and numbers of a version behind a name make no other model; sizes and kinds do.

    >>> same_model("gpt-4o", "gpt-4o-2024-08-06"), same_model("gpt-4o", "gpt-4o-mini")
    (True, False)
    """
    return asked == served or _bare(asked) == _bare(served)


def _bare(name: str) -> str:
    last = re.split(r"[/\\]", name.casefold().rstrip("/\\"))[-1]
    return _VERSION.sub("", last.removesuffix(".gguf"))
