"""Text is never control: marks of turns and roles in a filled-in text are read as its letters.

A tokenizer turns `<|im_end|>` into the token that ends a turn, wherever it stands: in the template,
where it is meant, and in a report that quotes one, where it would end the user's turn and let the
report go on as somebody else. So the two are told apart before the tokenizer sees them:

    contents ──hidden──▶ the template fills in ──found──▶ `Filled`: the text, and where in it marks
                                                          stand that the template wrote
             ──read──▶ tokens: these places with the control tokens, all else without

Text with a mark in it is read by a copy of the tokenizer that knows each control token under a
private name, which no text can hold, with the names written where the template's marks stand. All
else of the tokenizer is as it was, so what it makes of letters is what it always makes of them.
Text with no mark in it is read by the tokenizer itself.
"""

from __future__ import annotations

import copy
import json
import re
import secrets
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

from clinqa.core.errors import ModelError

__all__ = ["Filled", "Marks", "is_mark"]

_TURNS = frozenset(
    f"{open_}{name}{close}"
    for name, open_, close in [
        *((name, "[", "]") for name in ("INST", "/INST")),
        *((name, "<", ">") for name in ("start_of_turn", "end_of_turn")),
        *(
            (f"{slash}{name}", "<", ">")
            for name in ("think", "thinking", "tool_call", "tool_response", "tools")
            for slash in ("", "/")
        ),
    ]
)
_SHAPE = re.compile(r"<[|\uff5c].*[|\uff5c]>", re.DOTALL)  # DeepSeek writes its bars wide
_HIDE, _SHOW = "\U000f0000", "\U000f0001"
"""Around the number of a hidden mark. They are private characters; a text's own are hidden too."""

Offsets = list[tuple[int, int]]


def is_mark(text: str) -> bool:
    """Has it the form of a mark of turns, roles, reasoning or tools, of whatever family?

    >>> [is_mark(text) for text in ("<|im_end|>", "[INST]", "</think>", "<br>", "LVEF")]
    [True, True, True, False, False]
    """
    return text in _TURNS or _SHAPE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Filled:
    """A text, and where in it marks stand that the template wrote (half open, in order)."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Marks:
    """The control tokens of a tokenizer, and texts read with and without them.

    Control are the tokens that it calls special, those that the chat template writes, and those in
    the form of a mark. Other tokens that were added to a vocabulary are words.
    """

    tokenizer: Any
    names: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        template = getattr(self.tokenizer, "chat_template", None)
        written = template if isinstance(template, str) else json.dumps(template or "")
        added = getattr(self.tokenizer, "added_tokens_decoder", None) or {}
        special = set(getattr(self.tokenizer, "all_special_tokens", None) or ())
        names = {
            str(token.content): int(number)
            for number, token in added.items()
            if token.content.strip()
            and (
                token.special
                or token.content in special
                or is_mark(token.content)
                or (not token.content[0].isalnum() and token.content in written)
            )
        }
        object.__setattr__(self, "names", names)

    def hidden(self, content: str) -> str:
        """The content with a placeholder for each mark: the template takes it for plain text."""
        return self._in_content.sub(
            lambda found: f"{_HIDE}{self._numbers[found[0]]}{_SHOW}", content
        )

    def found(self, rendered: str) -> Filled:
        """What a template made of hidden contents: marks that stand in it are its own."""
        parts: list[str] = []
        places: list[tuple[int, int]] = []
        at = length = 0
        for one in self._in_rendered.finditer(rendered):
            number = one["hidden"]
            shown = one[0] if number is None else self._hideable[int(number)]
            parts += [rendered[at : one.start()], shown]
            length += one.start() - at
            if number is None:
                places.append((length, length + len(shown)))
            length += len(shown)
            at = one.end()
        return Filled("".join([*parts, rendered[at:]]), tuple(places))

    def written(self, text: str, own: Sequence[tuple[int, int]]) -> Filled:
        """`text` of which the template wrote the stretches `own`."""
        places = [
            (low + one.start(), low + one.end())
            for low, high in own
            for one in self._in_text.finditer(text[low:high])
        ]
        return Filled(text, tuple(places))

    def read(self, filled: Filled, *, add: bool) -> list[int]:
        """The tokens; with `add`, those too that the tokenizer puts around a text by itself."""
        if not self._holds_marks(filled):
            tokens: list[int] = list(
                self.tokenizer(filled.text, add_special_tokens=add)["input_ids"]
            )
            if self._control(tokens) == self._wanted(filled, add):
                return tokens
        return self._private.read(filled, add)[0]

    def read_with_places(self, filled: Filled, *, add: bool) -> tuple[list[int], Offsets]:
        """The tokens, and where each stands in the text: code points, half open."""
        if not self._holds_marks(filled):
            made = self.tokenizer(filled.text, add_special_tokens=add, return_offsets_mapping=True)
            tokens: list[int] = list(made["input_ids"])
            if self._control(tokens) == self._wanted(filled, add):
                return tokens, [(int(a), int(b)) for a, b in made["offset_mapping"]]
        return self._private.read(filled, add)

    def read_pair(self, first: str, second: str) -> tuple[list[int], list[int]]:
        """Tokens and types of a text, or of two, with what the tokenizer puts around them."""
        texts = (first, second) if second else (first,)
        made = self.tokenizer(*texts, truncation=False, return_token_type_ids=True)
        tokens: list[int] = list(made["input_ids"])
        wanted = self._added(pair=bool(second))
        if self._control(tokens) == wanted and not any(map(self._in_text.search, texts)):
            return tokens, list(made["token_type_ids"])
        return self._private.read_pair(first, second)

    def _holds_marks(self, filled: Filled) -> bool:
        """Do marks stand in it that the template did not write?"""
        return [one.span() for one in self._in_text.finditer(filled.text)] != list(filled.marks)

    def _wanted(self, filled: Filled, add: bool) -> int:
        return len(filled.marks) + (self._added(pair=False) if add else 0)

    def _added(self, *, pair: bool) -> int:
        """How many control tokens the tokenizer puts around a text, or two, by itself."""
        return self._around[pair]

    @cached_property
    def _around(self) -> tuple[int, int]:
        if not self.names:
            return 0, 0
        alone, two = self.tokenizer("a"), self.tokenizer("a", "a")
        return self._control(alone["input_ids"]), self._control(two["input_ids"])

    def _control(self, tokens: Sequence[int]) -> int:
        """How many control tokens there are. Marks written in other letters that the tokenizer
        takes for these (wide ones, say) are noticed by this alone."""
        return sum(map(self._counted.__contains__, tokens))

    @cached_property
    def _counted(self) -> frozenset[int]:
        unknown = getattr(self.tokenizer, "unk_token_id", None)  # letters may come to that
        return frozenset(self.names.values()) - {unknown}

    @cached_property
    def _hideable(self) -> list[str]:
        return [*self.names, _HIDE, _SHOW]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self._hideable)}

    @cached_property
    def _in_content(self) -> re.Pattern[str]:
        return _any_of(self._hideable)

    @cached_property
    def _in_text(self) -> re.Pattern[str]:
        return _any_of(list(self.names))

    @cached_property
    def _in_rendered(self) -> re.Pattern[str]:
        return re.compile(f"{_HIDE}(?P<hidden>[0-9]+){_SHOW}|(?:{self._in_text.pattern})")

    @cached_property
    def _private(self) -> _Private:
        return _Private.of(self)


@dataclass(frozen=True)
class _Private:
    """A copy of a tokenizer that knows control tokens under private names alone."""

    marks: Marks
    names: Mapping[str, str]  # of a mark the private name
    inner: Any  # of the tokenizers library, or a copy of a tokenizer in Python
    fast: bool

    @classmethod
    def of(cls, marks: Marks) -> _Private:
        key = secrets.token_hex(8)  # no text can hold what is drawn after it was written
        names = {text: f"{_HIDE}{key}-{n}{_SHOW}" for n, text in enumerate(marks.names)}
        backend = getattr(marks.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return cls(marks, names, _renamed_in_python(marks.tokenizer, names), False)
        try:
            inner = type(backend).from_str(
                json.dumps(_renamed(json.loads(backend.to_str()), names))
            )
        except Exception as error:  # tokenizers raises nothing narrower
            raise _unreadable() from error
        inner.no_truncation()
        inner.no_padding()
        return cls(marks, names, inner, True)

    def read(self, filled: Filled, add: bool) -> tuple[list[int], Offsets]:
        """Tokens and places; without places where the tokenizer tells none."""
        text, borders = self._written(filled)
        if not self.fast:
            tokens = list(self.inner(text, add_special_tokens=add)["input_ids"])
            return self._checked(tokens, self.marks._wanted(filled, add)), []
        made = self.inner.encode(text, add_special_tokens=add)
        tokens = self._checked(list(made.ids), self.marks._wanted(filled, add))
        return tokens, [(_back(borders, a), _back(borders, b)) for a, b in made.offsets]

    def read_pair(self, first: str, second: str) -> tuple[list[int], list[int]]:
        wanted = self.marks._added(pair=bool(second))
        if self.fast:
            made = self.inner.encode(first, second or None)
            return self._checked(list(made.ids), wanted), list(made.type_ids)
        texts = (first, second) if second else (first,)
        made = self.inner(*texts, truncation=False, return_token_type_ids=True)
        return self._checked(list(made["input_ids"]), wanted), list(made["token_type_ids"])

    def _written(self, filled: Filled) -> tuple[str, list[tuple[int, int]]]:
        """The text with private names where the template's marks stand, and for each border of
        these the place in this text and in the other."""
        parts: list[str] = []
        borders = [(0, 0)]
        at = length = 0
        for low, high in filled.marks:
            name = self.names[filled.text[low:high]]
            parts += [filled.text[at:low], name]
            length += low - at
            borders.append((length, low))
            length += len(name)
            borders.append((length, high))
            at = high
        return "".join([*parts, filled.text[at:]]), borders

    def _checked(self, tokens: list[int], wanted: int) -> list[int]:
        if self.marks._control(tokens) > wanted:
            raise _unreadable()
        return tokens


def _back(borders: Sequence[tuple[int, int]], place: int) -> int:
    """Where in the text itself a place in the text with private names is."""
    here, there = borders[bisect_right(borders, place, key=itemgetter(0)) - 1]
    return there + place - here


def _renamed(told: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A tokenizer as the tokenizers library writes it down, its marks under private names.

    They go from the vocabulary too: where they stand in it, letters could be joined to them.
    """
    for token in told["added_tokens"]:
        token["content"] = names.get(token["content"], token["content"])
    model = told["model"]
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        model["vocab"] = {names.get(text, text): number for text, number in vocabulary.items()}
    else:
        model["vocab"] = [[names.get(text, text), score] for text, score in vocabulary]
    if model.get("unk_token") in names:
        model["unk_token"] = names[model["unk_token"]]
    if "merges" in model:
        model["merges"] = [pair for pair in model["merges"] if names.keys().isdisjoint(_ends(pair))]
    return told


def _ends(pair: str | Sequence[str]) -> tuple[str, str, str]:
    """The two pieces of a merge, and what they give."""
    left, right = pair.split(" ") if isinstance(pair, str) else pair
    return left, right, left + right


def _renamed_in_python(tokenizer: Any, names: Mapping[str, str]) -> Any:
    """A copy of a tokenizer that is written in Python, its marks under private names."""
    made = copy.deepcopy(tokenizer)
    try:
        for token in made._added_tokens_decoder.values():
            token.content = names.get(token.content, token.content)
        made._added_tokens_encoder = {
            token.content: number for number, token in made._added_tokens_decoder.items()
        }
        for key, token in dict(made._special_tokens_map).items():
            if str(token) in names:
                made._special_tokens_map[key] = names[str(token)]
        made._extra_special_tokens = [
            names.get(str(token), token) for token in made._extra_special_tokens
        ]
        made._update_trie()
    except AttributeError as error:
        raise _unreadable() from error
    return made


def _any_of(texts: Sequence[str]) -> re.Pattern[str]:
    """Any of these, the longest first; with none, nothing."""
    longest = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest)) or "(?!)")


def _unreadable() -> ModelError:
    return ModelError(
        "an item holds a mark of turns or roles (such as <|im_end|>), and the model's tokenizer "
        "cannot read it as plain text; take it out of the record, or use another model"
    )
