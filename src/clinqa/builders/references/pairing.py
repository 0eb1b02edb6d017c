"""Every draft gets its counterpart: the other label, the same source text, one small edit.

A true draft becomes the pairs that the rules can make of it. A false one is mended back: the edit
that makes it what its source says gives the true statement. Where the rules find none, a model may
be asked; what it answers is checked like anything else a model says.
"""

from __future__ import annotations

from collections.abc import Mapping

from clinqa.builders.references.check import contradicts, supported
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft
from clinqa.builders.references.folded import same_words
from clinqa.builders.references.forms import Edit, PairForm, forms_of
from clinqa.builders.references.numbers import numbers_in
from clinqa.builders.references.pack_words import Words

__all__ = ["counterparts", "form_from"]


def counterparts(
    draft: Draft, words: Words, met: Mapping[str, tuple[float, ...]]
) -> tuple[PairForm, ...]:
    """The pairs that a draft can become; none where no edit contradicts it for certain."""
    clause = read_clause(draft.statement, words)
    if clause is None:
        return ()
    if draft.label:
        return tuple(forms_of(clause, words, met))
    there = tuple(numbers_in(draft.source_text))
    offered = dict.fromkeys(words.spec.units, there)
    made = []
    for form in forms_of(clause, words, offered):
        mended = form.false
        if not same_words(form.true, draft.statement):
            continue
        if supported(mended, draft.source_text, words) and contradicts(
            mended, draft.statement, draft.source_text, words
        ):
            made.append(PairForm(mended, draft.statement, form.edit, form.change[::-1]))
    return tuple(made)


def form_from(draft: Draft, statement: str, words: Words) -> PairForm | None:
    """The pair of a draft and a counterpart that somebody else wrote, if it holds."""
    statement = statement if statement.endswith(".") else f"{statement}."
    true, false = (draft.statement, statement) if draft.label else (statement, draft.statement)
    if not contradicts(true, false, draft.source_text, words):
        return None
    clause = read_clause(true, words)
    assert clause is not None
    kinds = [
        form.edit
        for form in forms_of(clause, words, {u: tuple(numbers_in(false)) for u in words.spec.units})
        if same_words(form.false, false)
    ]
    return PairForm(true, false, kinds[0] if kinds else Edit.NEGATION, ("", ""))
