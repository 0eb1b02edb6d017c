"""The mask: what is learnt is the answer and its end mark, to the token."""

from __future__ import annotations

import pytest

from clinqa.asking.prompts import load_template, prefix_of
from clinqa.core.errors import ConfigError
from clinqa.kinds.facets.trains import Lesson
from clinqa.models.local.render import Renderer
from clinqa.training.examples import Encoder
from clinqa.training.language import mask_lines
from clinqa.training.prepare import TrainItem
from training.letters import Letters

TEMPLATE = load_template("long_form")
ITEM = TrainItem("id1", "p1", "How is it?", "It is fine.", Lesson("How is it?", " Fine. "))


def encoder(tokenizer: Letters, **given: object) -> Encoder:
    wanted = {"false_weight": 1.0, "ends": (3,), **given}
    return Encoder("hf:m", Renderer.of(tokenizer), TEMPLATE, **wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize("after", ["", "\n", "\n\n"])
def test_the_mask_is_the_answer_and_its_end(after: str) -> None:
    made = encoder(Letters(after))
    example = made.example(ITEM)
    read, learnt = made.shown(example)
    assert learnt == "Fine.<|end|>"
    system = prefix_of(TEMPLATE, ())[0].text
    assert read == (
        f"<|system|>{system}<|end|>{after}<|user|><report>\nIt is fine.\n</report>\n\n"
        f"Question: How is it?<|end|>{after}<|assistant|>"
    )
    assert example.tokens[example.answer_from :] == [10 + ord(c) for c in "Fine."] + [3]


def test_the_prompt_is_the_one_predict_asks() -> None:
    made = encoder(Letters())
    example = made.example(ITEM)
    messages = (*prefix_of(TEMPLATE, ()), TEMPLATE.ask(ITEM.question, ITEM.context))
    asked = Renderer.of(Letters()).encode(messages)
    assert example.tokens[: example.answer_from] == asked


def test_a_template_without_a_system_role_gets_it_with_the_question() -> None:
    made = encoder(Letters(system=False))
    read, learnt = made.shown(made.example(ITEM))
    assert read.startswith("<|user|>You answer questions")
    assert learnt == "Fine.<|end|>"


def test_false_items_carry_the_weight() -> None:
    made = encoder(Letters(), false_weight=3.0)
    true = made.example(TrainItem("a", "p", "S.", "", Lesson("S.", "True", 1)))
    false = made.example(TrainItem("b", "p", "S.", "", Lesson("S.", "False", 0)))
    assert (true.weight, false.weight) == (1.0, 3.0)
    assert made.example(ITEM).weight == 1.0


def test_a_tokenizer_without_a_chat_template_is_refused() -> None:
    tokenizer = Letters()
    tokenizer.chat_template = None  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="hf:m: the tokenizer has no chat template"):
        encoder(tokenizer)


def test_a_template_that_ends_answers_with_no_end_mark_is_given_the_tokenizers() -> None:
    class Open(Letters):
        def apply_chat_template(self, turns: list[dict[str, str]], **given: object) -> str:
            return super().apply_chat_template(turns, **given).replace("<|end|>", ";")  # type: ignore[arg-type]

    made = encoder(Open())
    assert made.shown(made.example(ITEM))[1] == "Fine.<|end|>"


def test_the_mask_that_is_shown_holds_what_is_read_and_what_is_learnt() -> None:
    made = encoder(Letters())
    lines = mask_lines(made, made.example(ITEM))
    assert lines[0] == "example id1: > is read, | is learnt (weight 1)"
    assert "  | Fine.<|end|>" in lines
    assert "  > Question: How is it?<|end|>" in lines
    assert lines[-1].endswith("tokens read, 6 learnt")
