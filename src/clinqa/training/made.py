"""Made-up items for canaries: our own wording, nobody's record, one small set for each kind."""

from __future__ import annotations

from clinqa.asking.prompts import Template, prefix_of
from clinqa.core.records import Kind
from clinqa.models.local.canary import Canary

__all__ = ["STATEMENTS", "canaries_for"]

_REPORT = (
    "LEFT ATRIUM: The left atrium is mildly dilated.\n"
    "LEFT VENTRICLE: Normal cavity size. Wall thickness is increased.\n"
    "AORTIC VALVE: Three leaflets, no stenosis. Trace regurgitation."
)
_LONG_FORM = (
    (_REPORT, "What does the report say about the left atrium?",
     "The left atrium is mildly dilated."),
    (_REPORT, "Is aortic stenosis present?", "Three leaflets, no stenosis."),
    (_REPORT, "What does the report say about the right ventricle?",
     "The report does not say."),
)  # fmt: skip
_TRUE_FALSE = (
    ("", "In sinus rhythm, a P wave comes before each QRS complex.", "True"),
    ("", "In sinus rhythm, a P wave comes before each QRS complex.", "False"),
    ("", "The PR interval is measured from the QRS complex to the T wave.", "True"),
    ("", "The PR interval is measured from the QRS complex to the T wave.", "False"),
)

STATEMENTS = tuple(dict.fromkeys(statement for _, statement, _ in _TRUE_FALSE))
"""For encoders, which read the statement alone."""


def canaries_for(kind: str, template: Template) -> tuple[Canary, ...]:
    """Prompts of the kind of item that is trained, in the wording it is trained with."""
    made = _TRUE_FALSE if kind == Kind.TRUE_FALSE else _LONG_FORM
    prefix = prefix_of(template, ())
    return tuple(
        Canary((*prefix, template.ask(question, context)), answer)
        for context, question, answer in made
    )
