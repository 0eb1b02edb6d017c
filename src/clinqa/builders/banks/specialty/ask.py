"""The annotator `llm`: five prompts a question, each reply kept, each vote read from what it says.

Replies lie in a journal by question, voter and exact prompt, so that a run that was stopped pays
for nothing twice. Failures of the moment are asked again once; what fails then is a missing vote.
So is a refusal, a reply that was cut off before it had named one, and whatever else is no vote
(`votes`): each is counted by why, and a missing vote counts for no label.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clinqa.builders.banks.specialty.votes import ReadLabel, Vote, read_label
from clinqa.core.errors import ModelError
from clinqa.core.journal import Journal, read_journal
from clinqa.core.stage import Progress
from clinqa.models.prices import Price, tokens_of
from clinqa.models.protocol import Message, Model, Output, Prompt, Sampling, messages_sha256
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankItem
from clinqa.sources.banks.bank_item import without_stray_quote

__all__ = ["VotePrompt", "ask", "prompts_of"]

_CHUNK = 512
_TRANSIENT = frozenset({"rate_limit", "timeout", "server", "network", "bad_output"})
_PATIENCE = 20
_LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class VotePrompt:
    """One prompt and what the journal knows it by."""

    place: int
    voter: str
    prompt: Prompt
    max_tokens: int
    key: str


@dataclass(slots=True)
class _Run:
    """What is asked, and how it goes."""

    model: Model
    journal: Journal
    progress: Progress
    price: Price | None
    cap: float | None
    total: int
    done: int = 0
    spent: float = 0.0
    in_a_row: int = 0
    again: set[str] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)


def prompts_of(items: Sequence[BankItem], pack: Specialties, seed: int) -> Iterator[VotePrompt]:
    """Every question by every voter, in the order given."""
    names = ", ".join([*pack.names, pack.others])
    examples = "\n\n".join(
        _filled(pack.example, question=question, specialty=specialty)
        for question, specialty in pack.examples
    )
    for place, item in enumerate(items):
        question = without_stray_quote(item.question)
        options = "\n".join(
            f"{letter}. {option}" for letter, option in zip(_LETTERS, item.options, strict=False)
        )
        for voter, form in pack.prompts.items():
            text = _filled(
                form.text.strip(),
                specialties=names,
                examples=examples,
                question=question,
                options=options,
            )
            messages = (Message("system", pack.system), Message("user", text))
            prompt = Prompt(item.source_id, messages, question, "", "", voter, seed % (1 << 31), 0)
            sha256 = messages_sha256(messages)
            key = hashlib.sha256(f"{item.source_id}\x1f{voter}\x1f{sha256}".encode()).hexdigest()
            yield VotePrompt(place, voter, prompt, form.max_tokens, key[:32])


def _filled(text: str, **blanks: str) -> str:
    """Fill the blanks at once, so that braces within a question stay what they are."""
    parts = text.split("{")
    made = [parts[0]]
    for part in parts[1:]:
        name, brace, rest = part.partition("}")
        made.append(blanks[name] + rest if brace and name in blanks else "{" + part)
    return "".join(made)


def ask(
    items: Sequence[BankItem],
    pack: Specialties,
    model: Model,
    journal: Journal,
    *,
    seed: int,
    progress: Progress,
    price: Price | None = None,
    max_cost: float | None = None,
) -> tuple[list[list[Vote]], dict[str, Any]]:
    """The votes of each question, and what asking took (for the manifest)."""
    total = len(items) * len(pack.prompts)
    run = _Run(model, journal, progress, price, max_cost, total)
    for record in read_journal(journal.path):
        cost = record.get("cost")
        run.spent += cost if isinstance(cost, int | float) else 0.0
        if record.get("error") not in _TRANSIENT and isinstance(record.get("output"), str):
            journal.keep(record["key"])
    resumed = len(journal)
    run.done = resumed
    _pass(run, (one for one in prompts_of(items, pack, seed) if one.key not in journal))
    if run.again:
        again, run.again = run.again, set()
        run.done -= len(again)
        _pass(run, (one for one in prompts_of(items, pack, seed) if one.key in again))
    votes = _votes(items, pack, journal, seed)
    missing = Counter(vote.why for own in votes for vote in own if vote.label is None)
    return votes, {
        "asked": total,
        "resumed": resumed,
        "errors": dict(sorted(run.errors.items())),
        "without_vote": dict(sorted(missing.items())),
        "cost": None if price is None else round(run.spent, 6),
    }


def _pass(run: _Run, pending: Iterator[VotePrompt]) -> None:
    while chunk := list(islice(pending, _CHUNK)):
        for most in sorted({one.max_tokens for one in chunk}):
            part = [one for one in chunk if one.max_tokens == most]
            sampling = Sampling(max_tokens=most)
            for piece in _affordable(run, part, most):
                _ask_part(run, piece, sampling)


def _affordable(run: _Run, part: Sequence[VotePrompt], most: int) -> Iterator[list[VotePrompt]]:
    """Pieces whose worst case the cap can bear; ModelError where it is used up."""
    if run.cap is None or run.price is None:
        yield list(part)
        return
    piece: list[VotePrompt] = []
    worst = 0.0
    for one in part:
        cost = run.price.cost(run.model.count_tokens(one.prompt), most)
        if piece and run.spent + worst + cost > run.cap:
            yield piece  # after it, `spent` is what it really cost
            piece, worst = [], 0.0
        if run.spent + cost > run.cap:
            raise ModelError(
                f"--max-cost {run.cap:g} reached: {run.spent:.4f} spent and the next answer may "
                f"cost {cost:.4f}; run again with a higher cap to go on"
            )
        piece.append(one)
        worst += cost
    if piece:
        yield piece


def _ask_part(run: _Run, part: Sequence[VotePrompt], sampling: Sampling) -> None:
    outputs = run.model.generate([one.prompt for one in part], sampling)
    # closed at once when a run stops, so that its requests stop with it
    with closing(outputs) if isinstance(outputs, Generator) else nullcontext():
        for index, output in outputs:
            _note(run, part[index], output, sampling)


def _note(run: _Run, one: VotePrompt, output: Output, sampling: Sampling) -> None:
    error = output.error or ("bad_output" if output.finish_reason == "error" else "")
    cost = None
    if run.price is not None:
        said = output.input_tokens, output.output_tokens
        cost = run.price.cost(
            tokens_of(one.prompt) if said[0] is None else said[0],
            sampling.max_tokens if said[1] is None else said[1],
        )
        cost = 0.0 if error and said[0] is None else cost
    run.spent += cost or 0.0
    run.journal.append(
        {
            "key": one.key,
            "source_id": one.prompt.item_id,
            "voter": one.voter,
            "output": output.text,
            "finish_reason": output.finish_reason,
            "error": error,
            "cost": cost,
        }
    )
    run.done += 1
    run.progress("asking", run.done, run.total)
    if error == "auth":
        raise ModelError("the service refused the key or the access (auth)")
    if error in _TRANSIENT:
        run.errors[error] += 1
        run.again.add(one.key)
        run.in_a_row += 1
        if run.in_a_row >= _PATIENCE:
            raise ModelError(
                f"the service failed {run.in_a_row} times in a row ({error}); nothing that was "
                "answered is lost: run the same command again to go on"
            )
    else:
        run.in_a_row = 0


def _votes(
    items: Sequence[BankItem], pack: Specialties, journal: Journal, seed: int
) -> list[list[Vote]]:
    """Read the votes back from the journal: of several replies of one prompt the last counts."""
    journal.sync()
    last = {record["key"]: record for record in read_journal(journal.path)}
    votes: list[list[Vote]] = [[] for _ in items]
    for one in prompts_of(items, pack, seed):
        record = last.get(one.key)
        raw = "" if record is None or record.get("error") else str(record.get("output", ""))
        if record is None:
            read = ReadLabel(None, "not asked")
        elif record.get("error"):
            read = ReadLabel(None, f"error: {record['error']}")
        elif record.get("finish_reason") in ("refusal", "content_filter"):
            read = ReadLabel(None, "refused")
        else:
            asked = "\n".join(message.text for message in one.prompt.messages)
            read = read_label(raw, pack, asked, cut=record.get("finish_reason") == "length")
        votes[one.place].append(Vote(one.voter, read.label, raw, read.why))
    return votes
