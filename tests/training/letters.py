"""A tokenizer of letters, with marks as single tokens: masks can be read off without torch."""

from __future__ import annotations

import re
from typing import Any

MARKS = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
_PIECES = re.compile("|".join(map(re.escape, MARKS)) + "|.", re.DOTALL)


class Letters:
    """Token n below 10 is a mark, others are code points. `after` is what a template adds."""

    eos_token_id = 3
    chat_template = "letters"

    def __init__(self, after: str = "\n", *, system: bool = True) -> None:
        self._after, self._system = after, system

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        pieces = _PIECES.findall(text)
        return {"input_ids": [MARKS.index(p) if p in MARKS else 10 + ord(p) for p in pieces]}

    def decode(self, tokens: list[int], **_: Any) -> str:
        return "".join(MARKS[t] if t < 10 else chr(t - 10) for t in tokens)

    def apply_chat_template(
        self, turns: list[dict[str, str]], *, add_generation_prompt: bool, **_: Any
    ) -> str:
        if not self._system and turns[0]["role"] == "system":
            raise ValueError("no system role")
        text = "".join(f"<|{turn['role']}|>{turn['content']}<|end|>{self._after}" for turn in turns)
        return text + ("<|assistant|>" if add_generation_prompt else "")
