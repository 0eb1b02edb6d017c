"""`scripted:FILE`: replies from a file, for tests and tutorials.

Each line of the JSONL file is `{"match": substring or null, "output": text, "finish_reason":
reason, "error": kind}`; the last two are optional. The first line whose `match` stands in the last
user message answers (null matches everything). A line may name an `item` by its id instead, and a
`repeat` of it: made answerers answer each item by itself, and each repeat in its own words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import (
    ERROR_KINDS,
    FINISH_REASONS,
    Model,
    ModelOptions,
    Output,
    Prompt,
    Sampling,
)

__all__ = ["Rule", "Scripted", "open_scripted"]

_MAX_BYTES = 64 << 20
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a script."""

    match: str | None = None
    output: str = ""
    finish_reason: str = "stop"
    error: str = ""
    item: str | None = None
    repeat: int | None = None


def open_scripted(rest: str, options: ModelOptions) -> Model:
    """The model that answers from the file `rest`."""
    return Scripted(f"scripted:{rest}", _rules(Path(rest)))


class Scripted:
    """Answers by rule; a prompt no rule matches is an error `bad_output`."""

    def __init__(self, name: str, rules: Sequence[Rule]) -> None:
        self.name = name
        self._rules = [rule for rule in rules if rule.item is None]
        # the first line of an item and repeat answers, as elsewhere
        named = [rule for rule in rules if rule.item is not None]
        self._of_items = {(rule.item, rule.repeat): rule for rule in reversed(named)}
        self.deterministic = all(rule.repeat is None for rule in rules)

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The reply of the first rule that matches, in order."""
        for index, prompt in enumerate(prompts):
            asked = prompt.messages[-1].text
            rule = self._of_items.get((prompt.item_id, prompt.repeat))
            rule = rule or self._of_items.get((prompt.item_id, None))
            if rule is None:
                rule = next((r for r in self._rules if r.match is None or r.match in asked), None)
            if rule is None:
                rule = Rule(None, "", "error", "bad_output")
            tokens = len(rule.output) // _CHARS_PER_TOKEN
            count = self.count_tokens(prompt)
            yield index, Output(rule.output, rule.finish_reason, count, tokens, 0.0, rule.error)

    def count_tokens(self, prompt: Prompt) -> int:
        """A quarter of the characters."""
        return sum(len(message.text) for message in prompt.messages) // _CHARS_PER_TOKEN

    def close(self) -> None:
        """Nothing is held."""


def _rules(path: Path) -> list[Rule]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: over {_MAX_BYTES >> 20} MB; a script is a small file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a script ({type(error).__name__})") from error
    return [_rule(f"{path}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]


def _rule(where: str, line: str) -> Rule:
    try:
        given = json.loads(line)
        rule = Rule(**given)
        if "output" not in given or not ("match" in given or "item" in given):
            raise ValueError("a line without output, or for no prompt")
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f'{where}: a line is {{"match": text or null, "output": text, "finish_reason": …}}, or '
            'names an "item" and perhaps its "repeat" instead'
        ) from error
    texts = (rule.output, rule.finish_reason, rule.error, rule.match or "", rule.item or "")
    whole = rule.repeat is None or (rule.item is not None and isinstance(rule.repeat, int))
    holds = {
        "repeat is a number and goes with item": whole,
        "match or item, not both": rule.item is None or rule.match is None,
        "match, output, finish_reason and error are texts": all(isinstance(t, str) for t in texts),
        f"finish_reason is one of {', '.join(FINISH_REASONS)}": rule.finish_reason
        in FINISH_REASONS,
        f"error is one of {', '.join(ERROR_KINDS)}": rule.error in ("", *ERROR_KINDS),
        "an error kind goes with finish_reason error, and only there": bool(rule.error)
        == (rule.finish_reason == "error"),
    }
    if faults := [said for said, so in holds.items() if not so]:
        raise ConfigError(f"{where}: {faults[0]}")
    return rule
