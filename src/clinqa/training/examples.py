"""Items as tokens: the prompt that predict will ask, the answer after it, what is learnt.

Prompt and answer go through the model's own chat template. Learnt are the tokens of the answer and
the mark that ends it, nothing else: not the prompt, and not what a template writes after the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from clinqa.asking.prompts import Template, prefix_of
from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.protocol import Message
from clinqa.training.prepare import TrainItem

__all__ = ["Encoder", "TrainExample"]

_PROBE = "clinqaprobe"


@dataclass(frozen=True, slots=True)
class TrainExample:
    """One item as tokens; those from `answer_from` on are learnt, each with this weight."""

    item_id: str
    context: str  # the same for items that share a context
    tokens: list[int]
    answer_from: int
    weight: float
    label: int | None = None  # its class, of kinds that have two

    @property
    def answer(self) -> list[int]:
        """The learnt tokens."""
        return self.tokens[self.answer_from :]


class Encoder:
    """Items to examples for one model. `renderer` is the one predict uses."""

    def __init__(
        self,
        name: str,
        renderer: Any,
        template: Template,
        *,
        false_weight: float,
        ends: Sequence[int] = (),
    ) -> None:
        if renderer.kind != "chat":
            raise ConfigError(
                f"{name}: the tokenizer has no chat template, so there is no form to train in; "
                "name an instruction-tuned model, or put its chat_template.jinja into the folder"
            )
        self._renderer, self._template = renderer, template
        self._false_weight = false_weight
        self._prefix = prefix_of(template, ())
        self.end = self._end(name, ends)

    def example(self, item: TrainItem) -> TrainExample:
        """The item as tokens."""
        lesson = item.lesson
        messages = self.messages(lesson.asked, item.context)
        tokens, learnt = self._renderer.encode_pair(messages, lesson.answer.strip())
        return TrainExample(
            item_id=item.id,
            context=item.context_key,
            tokens=[*tokens, self.end],
            answer_from=len(tokens) - learnt,
            weight=self._false_weight if lesson.label == 0 else 1.0,
            label=lesson.label,
        )

    def messages(self, asked: str, context: str) -> tuple[Message, ...]:
        """What the model reads before it answers."""
        return (*self._prefix, self._template.ask(asked, context))

    def shown(self, example: TrainExample) -> tuple[str, str]:
        """The text that is read and the text that is learnt, marks and all."""
        decode = self._renderer.tokenizer.decode
        before, after = example.tokens[: example.answer_from], example.answer
        return decode(before), decode(after)

    def _end(self, name: str, ends: Sequence[int]) -> int:
        """The token with which the model's template ends an answer."""
        tokenizer = self._renderer.tokenizer
        turns = [Message("user", "?"), Message("assistant", _PROBE)]
        try:
            text = tokenizer.apply_chat_template(
                [{"role": turn.role, "content": turn.text} for turn in turns],
                tokenize=False,
                add_generation_prompt=False,
            )
        except (TemplateError, ValueError, TypeError, LookupError) as error:
            raise ModelError(
                f"{name}: the chat template does not take an answer ({type(error).__name__})"
            ) from None
        after = text.rpartition(_PROBE)[2]
        known = set(ends) | {tokenizer.eos_token_id} - {None}
        for token in tokenizer(after, add_special_tokens=False)["input_ids"]:
            if token in known:
                return int(token)
        if tokenizer.eos_token_id is None:
            raise ConfigError(f"{name}: neither chat template nor tokenizer has an end mark")
        return int(tokenizer.eos_token_id)
