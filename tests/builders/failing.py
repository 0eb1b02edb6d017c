"""Twelve kinds of replies that are none, for whoever asks a model to approve, reject or label.

`yes` is a reply that would say yes; each kind is made of it, so that nothing but the failure keeps
it from counting.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Failing", "failing"]


@dataclass(frozen=True)
class Failing:
    output: str = ""
    finish_reason: str = "stop"
    error: str = ""

    def rule(self, match: str | None) -> dict[str, str | None]:
        """A line of a script."""
        told = {"output": self.output, "finish_reason": self.finish_reason, "error": self.error}
        return {"match": match, **told}


def failing(yes: str, no: str, question: str, foreign: str) -> dict[str, Failing]:
    """By kind; `question` is what was asked, `foreign` a yes in another language."""
    return {
        "garbage": Failing("\u0000\ufffd lorem 7 %% ipsum"),
        "nothing": Failing(""),
        "a refusal": Failing(yes, "refusal"),
        "HTTP 400": Failing("", "error", "bad_output"),
        "HTTP 500": Failing("", "error", "server"),
        "a timeout": Failing("", "error", "timeout"),
        "two verdicts": Failing(f"{yes}\n{no}"),
        "a verdict inside a denial": Failing(f"I cannot say {yes}"),
        "cut off": Failing(f"It depends, but on the whole {yes}", "length"),
        "a content filter": Failing(yes, "content_filter"),
        "another language": Failing(foreign),
        "the question again": Failing(question),
        "half of JSON": Failing(yes[:-2] if yes.endswith("}") else f'{{"specialty": "{yes}'),
    }
