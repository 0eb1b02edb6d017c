"""From messages to tokens: the model's own chat template, or plain completion where it has none.

A completion prompt looks like this, and what the model adds until a blank line is its answer:

    {system}

    {question and context}
    Answer: {answer of a shot}

    {question and context}
    Answer:
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import TemplateError

from clinqa.core.errors import ModelError
from clinqa.models.local.marks import Filled, Marks
from clinqa.models.protocol import Message, folded

__all__ = ["Renderer"]

_ANSWER = "Answer:"
_STOPS = ("\n\n", "\nQuestion:", f"\n{_ANSWER}", "\n<")
"""Where a completion is over: a base model goes on to invent the next item."""

_PROBE = "clinqa-system-probe"


@dataclass(frozen=True, slots=True)
class Renderer:
    """How one model wants its prompts; `kind` is chat or completion."""

    tokenizer: Any
    kind: str
    system_role: bool
    marks: Marks

    @classmethod
    def of(cls, tokenizer: Any) -> Renderer:
        """The tokenizer's chat template if it has one, else completion."""
        marks = Marks(tokenizer)
        if not getattr(tokenizer, "chat_template", None):
            return cls(tokenizer, "completion", True, marks)
        return cls(tokenizer, "chat", _takes_system(tokenizer), marks)

    @property
    def stops(self) -> tuple[str, ...]:
        """Stop strings the way of asking brings with it."""
        return _STOPS if self.kind == "completion" else ()

    def text(self, messages: Sequence[Message]) -> str:
        """The prompt as the model reads it, up to where its answer begins."""
        return self.filled(messages).text

    def filled(self, messages: Sequence[Message]) -> Filled:
        """The prompt's text, and which marks in it the chat template wrote."""
        if self.kind == "completion":
            return Filled(_completion(messages))
        turns = messages if self.system_role else folded(messages)
        try:
            return self.marks.found(
                str(
                    self.tokenizer.apply_chat_template(
                        [
                            {"role": turn.role, "content": self.marks.hidden(turn.text)}
                            for turn in turns
                        ],
                        tokenize=False,
                        add_generation_prompt=True,
                        enable_thinking=False,  # templates that know no thinking ignore it
                    )
                )
            )
        except (TemplateError, ValueError, TypeError, LookupError) as error:
            raise ModelError(
                f"the model's chat template does not take these messages ({type(error).__name__})"
            ) from None  # jinja's message may hold what was rendered

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """The prompt's tokens."""
        return self._tokens(self.filled(messages))

    def encode_pair(self, messages: Sequence[Message], continuation: str) -> tuple[list[int], int]:
        """Tokens of prompt and continuation, and how many of them are the continuation's."""
        prompt = self.filled(messages)
        if self.kind == "completion" and not continuation[:1].isspace():
            continuation = " " + continuation
        before = self._tokens(prompt)
        both = self._tokens(replace(prompt, text=prompt.text + continuation))
        if both[: len(before)] == before:
            return both, len(both) - len(before)
        # The tokenizer merges across the border; a model that answers starts after the prompt.
        own = self.marks.read(Filled(continuation), add=False)
        return [*before, *own], len(own)

    def encode_text(
        self, text: str, written: Sequence[tuple[int, int]] = ()
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """A text's tokens, and where each stands in it: code points, half open.

        `written` are the stretches of it that a template wrote: only there marks are control
        tokens. Those that the tokenizer adds by itself stand nowhere: (0, 0).
        """
        if not getattr(self.tokenizer, "is_fast", False):
            raise ModelError(
                "the model's tokenizer does not say where its tokens stand in the text (no "
                "tokenizer.json); convert it with transformers' AutoTokenizer and save it"
            )
        filled = self.marks.written(text, written)
        tokens, places = self.marks.read_with_places(filled, add=self.kind != "chat")
        if self.kind != "chat" and len(tokens) > 1 and tokens[-1] == self.tokenizer.eos_token_id:
            if places[-1][0] == places[-1][1]:
                return tokens[:-1], places[:-1]
        return tokens, places

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of generated tokens, without marks of the template."""
        return str(
            self.tokenizer.decode(
                list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def cut(self, text: str, stops: Sequence[str]) -> str | None:
        """`text` up to the first stop string, or None if it holds none.

        A completion's own stops count only after its first word: a base model may begin a line.
        """
        places = [text.find(stop) for stop in stops]
        begun = len(text) - len(text.lstrip())
        places += [text.find(stop, begun) for stop in self.stops]
        found = [place for place in places if place >= 0]
        return text[: min(found)] if found else None

    def _tokens(self, filled: Filled) -> list[int]:
        if self.kind == "chat":  # the template wrote the marks itself
            return self.marks.read(filled, add=False)
        tokens = self.marks.read(filled, add=True)
        end = self.tokenizer.eos_token_id
        return tokens[:-1] if len(tokens) > 1 and tokens[-1] == end else tokens


def _completion(messages: Sequence[Message]) -> str:
    around = {"assistant": (f"{_ANSWER} ", "\n\n"), "user": ("", "\n")}
    said = ((around.get(message.role, ("", "\n\n")), message.text) for message in messages)
    return "".join(f"{before}{text}{after}" for (before, after), text in said) + _ANSWER


def _takes_system(tokenizer: Any) -> bool:
    probe = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "?"}]
    try:
        shown = tokenizer.apply_chat_template(probe, tokenize=False, add_generation_prompt=True)
    except (TemplateError, ValueError, TypeError, LookupError):
        return False
    return _PROBE in shown
