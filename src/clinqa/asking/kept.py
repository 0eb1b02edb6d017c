"""`prompts.jsonl`: every prompt, exactly, with shared beginnings written once.

    {"prefix": "p1", "messages": [["system", "…"], …]}
    {"prompt_sha256": "…", "prefix": "p1", "messages": [["user", "…"]]}

A prompt is the messages of its prefix and then its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from clinqa.asking.prompter import KeyedPrompt
from clinqa.core.closing import Closing
from clinqa.core.errors import ConfigError
from clinqa.core.outfolder import create_file
from clinqa.models.protocol import Message

__all__ = ["PromptKeeper", "read_prompts"]


class PromptKeeper(Closing):
    """Writes prompts as they are made, and each beginning once."""

    def __init__(self, path: Path, *, private: bool) -> None:
        self._file = os.fdopen(create_file(path, private=private), "w", encoding="ascii")
        self._prefixes: dict[int, tuple[str, tuple[Message, ...]]] = {}

    def keep(self, asked: KeyedPrompt) -> None:
        """Write a prompt."""
        # the tuple is held, or another could come to have its id
        name, _ = self._prefixes.get(id(asked.prefix)) or self._add(asked.prefix)
        # ASCII JSON: a lone surrogate in a context comes back as it was
        self._file.write(
            f'{{"prompt_sha256":"{asked.sha256}","prefix":"{name}","messages":[{asked.own}]}}\n'
        )

    def close(self) -> None:
        """Flush and let go of the file."""
        self._file.close()

    def _add(self, prefix: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
        named = (f"p{len(self._prefixes) + 1}", prefix)
        self._prefixes[id(prefix)] = named
        turns = [[message.role, message.text] for message in prefix]
        self._file.write(json.dumps({"prefix": named[0], "messages": turns}) + "\n")
        return named


def read_prompts(path: Path) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """(prompt_sha256, messages) of each prompt of a run, exactly as it was asked.

    Repeats with the same shots stand here once. Two items can have the same prompt.
    """
    prefixes: dict[str, tuple[Message, ...]] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                messages = tuple(Message(role, text) for role, text in record["messages"])
                if "prompt_sha256" in record:
                    yield record["prompt_sha256"], prefixes[record["prefix"]] + messages
                else:
                    prefixes[record["prefix"]] = messages
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: cannot be read as prompts of a run ({type(error).__name__})"
        ) from error
