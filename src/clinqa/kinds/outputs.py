"""What every reader of outputs needs: reasoning taken off, marks off, refusals known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

import yaml

from clinqa.core.answers import EMPTY, UNREADABLE, Said
from clinqa.core.errors import ConfigError

__all__ = [
    "after_reasoning",
    "is_refusal",
    "plain",
    "read_final",
    "thinks_without_end",
    "without_marks",
]

_BLOCK = r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning|reason|analysis|scratchpad)"
#: <think>, <think time="3s">, [THINK], ◁think▷, <|begin_of_thought|>, <|START_THINKING|>, and the
#: channel in which Gemma 4 thinks, each with its end.
_OPEN = re.compile(
    rf"[<\[\u25c1]{_BLOCK}[>\]\u25b7]|<{_BLOCK}\s[^<>\n]*>"
    rf"|<\|(?:begin_of_|start_)?{_BLOCK}\|>|<\|channel>{_BLOCK}\b"
    r"|<details\s[^<>\n]*type=[\"']reasoning[\"'][^<>\n]*>",
    re.I,
)
_CLOSE = re.compile(
    rf"[<\[\u25c1]/{_BLOCK}[>\]\u25b7]|<\|(?:/|end_of_|end_){_BLOCK}\|>|<channel\|>", re.I
)
_DETAILS = re.compile(
    r"<details\s[^<>\n]*type=[\"']reasoning[\"'][^<>\n]*>.*?</details>", re.I | re.DOTALL
)
#: Marks that a server took off, and left the words that stood between them.
_BARE_FINAL = re.compile(r"\s*(?:analysis|commentary).*assistantfinal", re.DOTALL)
_BARE_CHANNEL = re.compile(r"\s*analysis(?=[A-Z])")
_BARE_BLOCK = re.compile(r"\s*(?:thought|thinking|analysis)[ \t]*\r?\n")
_WRAPPED = re.compile(r"\s*<(answer|response|output)>(.*)</\1>\s*", re.I | re.DOTALL)
_ROLE = re.compile(r"\s*(?:assistant|model)[ \t]*\r?\n")
_FINAL = "<|channel|>final<|message|>"
#: A channel of a model that thinks aloud in one of its own.
_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary)\b")
#: What a chat template puts around a turn.
_TURN = re.compile(
    r"<\|(?:im_start|start|start_header_id)\|>\s*(?:assistant|user|system)?\s*", re.I
)
_TOKEN = re.compile(r"<\|[^|<>\n]{1,40}\|>|</s>|<s>|<(?:start|end)_of_turn>(?:model\b)?")
_QUOTES = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d", '"'),
    **dict.fromkeys("\u3002\uff0e", "."),
})  # fmt: skip


def after_reasoning(text: str) -> str | None:
    """What stands after the last reasoning block; None where a block was opened and never closed.

    A prompt may have opened the block, so that only its end is in the text.

    Where only the word of a mark is left on a line of its own, its end is too: what stands on the
    last line counts, since answers come last.

    >>> after_reasoning("True? No, wait.</think> False"), after_reasoning("<think>It is True")
    ('False', None)
    >>> after_reasoning("<|channel>thought\\nA?<channel|>B"), after_reasoning("thought\\nA?\\nB")
    ('B', 'B')
    """
    text = _DETAILS.sub("\n", text)
    if _FINAL in text:
        text = text.rpartition(_FINAL)[2]
    elif bare := _BARE_FINAL.match(text):
        text = text[bare.end() :]
    elif _CHANNEL.search(text) or _BARE_CHANNEL.match(text):
        return None
    elif thinks_without_end(text):
        text = text.rstrip().rpartition("\n")[2]
    closed = list(_CLOSE.finditer(text))
    rest = text[closed[-1].end() :] if closed else text
    if _OPEN.search(rest):
        # what was said before thinking began may still be the answer, but nobody can tell
        return None
    return rest.strip()


def read_final(output: str, read: Callable[[str], Said]) -> Said:
    """What `read` finds in the text after reasoning, or why there is nothing to read."""
    text = after_reasoning(output) if output.strip() else ""
    if text is None:
        return UNREADABLE
    return read(text) if text else EMPTY


def without_marks(text: str) -> str:
    """The text without the marks of a chat template, and its role where that stands before it.

    >>> without_marks("assistant\\n\\nMild.<|eot_id|>"), without_marks("LVEF <35 | normal > 50")
    ('Mild.', 'LVEF <35 | normal > 50')
    """
    bare = _ROLE.sub("", _TOKEN.sub("", _TURN.sub("", text)), count=1)
    wrapped = _WRAPPED.fullmatch(bare)
    return (wrapped[2] if wrapped else bare).strip()


def thinks_without_end(text: str) -> bool:
    """Does it begin with the word of a mark, so that nobody can tell where the thinking ends?"""
    return _BARE_BLOCK.match(text) is not None and _CLOSE.search(text) is None


def plain(text: str) -> str:
    """The text as its reader means it: letters of other shapes as the usual ones, what has no
    width left out, quotes of one kind, without the marks of a chat template.

    >>> plain("\\u201c\\uff34rue\\u200b\\u201d<|im_end|>")
    '"True"'
    """
    shown = unicodedata.normalize("NFKC", _TOKEN.sub(" ", _TURN.sub(" ", text)))
    kept = "".join(char for char in shown if unicodedata.category(char) != "Cf")
    return kept.translate(_QUOTES).strip()


def is_refusal(text: str) -> bool:
    """Does the text say that it gives no answer?

    >>> is_refusal("Ich kann das nicht beantworten."), is_refusal("It cannot be true.")
    (True, False)
    """
    return _refusals().search(text.replace("\u2019", "'")) is not None


@lru_cache(maxsize=1)
def _refusals() -> re.Pattern[str]:
    text = files("clinqa.kinds").joinpath("refusals.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    phrases = [phrase for found in data.values() for phrase in found]
    if not phrases or not all(isinstance(phrase, str) for phrase in phrases):
        raise ConfigError("refusals.yaml: lists of phrases by language")
    ways = "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{ways})(?!\w)", re.I)
