"""What made answerers say to items, in the styles that real ones have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

__all__ = ["choice_answers", "drawn", "long_form_answers", "true_false_answers"]

Line = dict[str, Any]
_OTHER = {"mild": "severe", "severe": "mild", "normal": "moderately dilated", "no": "moderate",
          "moderate": "no", "dilated": "normal", "yes": "no"}  # fmt: skip


def drawn(of: int, *parts: object) -> int:
    """A number below `of`, the same for the same parts in every process."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") % of


def long_form_answers(items: Sequence[Line], name: str, skill: int, repeats: int = 1) -> list[Line]:
    """Right to `skill` of a hundred; the others in all ways of being wrong or of no use."""
    lines = []
    for item in items:
        for repeat in range(repeats):
            chance = drawn(100, name, item["id"], repeat)
            line = {"item": item["id"], "output": item["answer"]}
            if chance >= skill:
                line |= _not_right(item, items, chance % 12)
            elif chance % 7 == 0:
                line["output"] = f"According to the report: {item['answer']}"
            lines.append(line | ({"repeat": repeat} if repeats > 1 else {}))
    return lines


def _not_right(item: Line, items: Sequence[Line], way: int) -> Line:
    answer = item["answer"]
    other = items[drawn(len(items), "other", item["id"])]["answer"]
    words = [_OTHER.get(word.casefold().strip(".,"), word) for word in answer.split()]
    said: Sequence[Line] = (
        {"output": " ".join(words)},
        {"output": f"Possibly {answer[:1].lower()}{answer[1:]}"},
        {"output": "I am sorry, but I cannot answer questions about patients."},
        {"output": ""},
        {"output": f"{answer} It should be noted that", "finish_reason": "length"},
        {"output": "The report does not say."},
        {"output": f"{answer} There is severe aortic stenosis."},
        {"output": other},
        {"output": "", "finish_reason": "error", "error": "context"},
        {"output": "", "finish_reason": "refusal"},
        {"output": "The study was done at the bedside without complications."},
        {"output": "Mild to moderate, cannot exclude severe."},
    )
    return said[way]


def true_false_answers(
    items: Sequence[Line], name: str, skill: int, repeats: int = 1
) -> list[Line]:
    """Right to `skill` of a hundred, in many wordings; else wrong, or nothing that counts."""
    lines = []
    for item in items:
        for repeat in range(repeats):
            chance = drawn(100, name, item["id"], repeat)
            said = item["label"] if chance < skill else not item["label"]
            word, way = str(said), drawn(14, "way", name, item["id"], repeat)
            styles: Sequence[Line] = (
                {"output": word},
                {"output": word.lower()},
                {"output": f"{word}."},
                {"output": f"The statement is {word.lower()}."},
                {"output": f"Answer: **{word}**"},
                {"output": f"Let me think. It could be either. Final answer: {word}"},
                {"output": json.dumps({"answer": word})},
                {"output": word},
            )
            wrong: Sequence[Line] = (
                {"output": "I cannot judge medical statements."},
                {"output": ""},
                {"output": "It may be true, it may be false."},
                {"output": "The statement is", "finish_reason": "length"},
                {"output": "Forty-two."},
                {"output": "", "finish_reason": "error", "error": "context"},
            )
            is_useless = way >= 8 and chance % 3 == 0
            line = {"item": item["id"], **(wrong[way - 8] if is_useless else styles[way % 8])}
            lines.append(line | ({"repeat": repeat} if repeats > 1 else {}))
    return lines


def choice_answers(items: Sequence[Line], name: str, skill: int, repeats: int = 1) -> list[Line]:
    """An option's text, a letter, both, several, none; a letter is of whatever order is asked."""
    lines = []
    for item in items:
        for repeat in range(repeats):
            chance = drawn(100, name, item["id"], repeat)
            options = item["options"]
            at = item["answer_index"]
            if chance >= skill:
                at = (at + 1 + chance % (len(options) - 1)) % len(options)
            text, letter = options[at], "ABCDEFGHIJ"[drawn(len(options), "letter", item["id"])]
            other = options[(at + 1) % len(options)]
            said: Sequence[Line] = (
                {"output": text},
                {"output": f"The answer is {text}."},
                {"output": letter},
                {"output": f"{letter})"},
                {"output": f"Answer: {letter}"},
                {"output": f"I would choose {text.lower()}, because it fits best."},
                {"output": f"Not {other}, but {text}."},
                {"output": f"It is not {letter}."},
                {"output": f"Either {text} or {other}."},
                {"output": "I cannot give medical advice."},
                {"output": ""},
                {"output": "The best choice here is", "finish_reason": "length"},
                {"output": "None of these options is plausible."},
                {"output": "", "finish_reason": "error", "error": "context"},
                {"output": f"{text}\n\nExplanation: {other} would be seen in children only."},
            )
            way = drawn(len(said) + 6, "way", name, item["id"], repeat)
            line = {"item": item["id"], **(said[way] if way < len(said) else said[way % 2])}
            lines.append(line | ({"repeat": repeat} if repeats > 1 else {}))
    return lines
