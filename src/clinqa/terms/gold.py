"""The gold text of an item as a model reads it, and where the item's parts stand in it.

`asked`: the question as a user's turn in the model's own template, the right answer as its reply;
a model without a template gets the same as a completion. `plain`: the question and below it the
answer, without any template, as in S-MedQA's own scripts (which take the question alone and put
it in lower case; here the text stays as it is).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clinqa.core.errors import ModelError
from clinqa.models.local.render import Renderer
from clinqa.models.protocol import Message
from clinqa.terms.item_texts import ANSWER, CONTEXT, QUESTION

__all__ = ["GoldText", "gold_text"]

_MARK = "clinqa-text-stands-here"


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text and where each part of the item begins in it."""

    text: str
    starts: Mapping[str, int]


def gold_text(parts: Mapping[str, str], form: str, renderer: Renderer) -> GoldText:
    """The text of an item's question, context and answer in this form."""
    asked = {name: parts[name] for name in (CONTEXT, QUESTION) if parts.get(name, "").strip()}
    body, starts = "", {}
    for name, text in asked.items():
        body += "\n\n" if body else ""
        starts[name] = len(body)
        body += text
    answer = parts.get(ANSWER, "")
    lead = ""
    if form == "plain":
        before, shown, after = "", body, "\n" if answer.strip() else ""
    else:
        before, shown, after = _shown(body, renderer)
        # a completion's "Answer:" is followed by a blank, as training has it
        lead = " " if renderer.kind == "completion" and not answer[:1].isspace() else ""
    cut = body.index(shown)
    starts = {name: len(before) + at - cut for name, at in starts.items()}
    text = before + shown + after
    if answer.strip():
        starts[ANSWER] = len(text) + len(lead)
        text += lead + answer
    return GoldText(text, starts)


def _shown(body: str, renderer: Renderer) -> tuple[str, str, str]:
    """What the template puts before a user's text, the text as it shows it, and what follows."""
    before, _, after = renderer.text([Message("user", _MARK)]).partition(_MARK)
    whole = renderer.text([Message("user", body)])
    for shown in (body, body.strip()):  # some templates strip a turn
        if whole == before + shown + after:
            return before, shown, after
    raise ModelError("the model's chat template changes the text of a question; use --form plain")
