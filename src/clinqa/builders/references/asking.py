"""`--generator llm`: drafts from any model, page by page, each answer kept in a journal.

The page goes to the model as delimited data; the mark around it is made of its content, so that a
page cannot close it. An answer that is not the JSON asked for is asked again once. Whatever comes
is only looked at: what counts is decided by `check`.

A judge's reply that failed in whatever way (an error, a refusal, a filter, one that was cut off or
is no verdict) is counted by why, and is never a yes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from clinqa.builders.references.drafts import Draft, Page
from clinqa.builders.references.replies import (
    JudgeSays,
    ReplyItems,
    read_field,
    read_reply,
    read_verdict,
)
from clinqa.core.errors import ModelError
from clinqa.core.journal import Journal, read_journal
from clinqa.core.stage import Progress, silent
from clinqa.models.protocol import Message, Model, Output, Prompt, Sampling, messages_sha256
from clinqa.packs.references import ReferencePack

__all__ = ["Asker", "Drafted", "schema_for"]

_CHUNK = 32
_GIVE_UP = 8  # errors in a row with nothing answered between: the service is gone
_FATAL = frozenset({"auth"})


def schema_for(topics: Sequence[str]) -> dict[str, object]:
    """The JSON schema of an answer, for servers that can keep a model to it."""
    fields: dict[str, object] = {
        "question": {"type": "string"},
        "label": {"type": "string", "enum": ["True", "False"]},
        "source": {"type": "string"},
        "topic": {"type": "string", "enum": list(topics)},
    }
    item = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"questions": {"type": "array", "items": item}},
        "required": ["questions"],
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a model said of one page; `failed` names the kind of error where it said nothing."""

    page: Page
    reply: ReplyItems
    failed: str = ""


@dataclass(slots=True)
class Asker:
    """Asks one model, and remembers what it answered before.

    The schema of drafts leaves no room for another answer, so what else it is asked goes without.
    """

    model: Model
    pack: ReferencePack
    sampling: Sampling
    journal: Journal
    per_page: int
    seed: int = 0
    progress: Progress = silent
    verdicts: Counter[str] = field(default_factory=Counter)  # of the judge: yes, no, or why none
    _known: dict[str, tuple[str, str]] = field(default_factory=dict)
    _cut: set[str] = field(default_factory=set)  # keys of the answers that were cut off
    _failures: int = 0

    def __post_init__(self) -> None:
        for record in read_journal(self.journal.path):
            text, error = record.get("text"), record.get("error")
            if record["key"].startswith("ask:") and isinstance(text, str) and error == "":
                self._remember(record["key"], text, record.get("cut") is True)

    def _remember(self, key: str, text: str, cut: bool) -> None:
        self._known[key] = (text, "")
        (self._cut.add if cut else self._cut.discard)(key)

    def drafts(self, pages: Sequence[Page]) -> Iterator[Drafted]:
        """What the model says of each page, in their order."""
        done = 0
        for start in range(0, len(pages), _CHUNK):
            chunk = pages[start : start + _CHUNK]
            first = self._ask([self._draft_messages(page) for page in chunk])
            replies = [read_reply(text) for text, _ in first]
            broken = [
                i
                for i, ((_, error), reply) in enumerate(zip(first, replies, strict=True))
                if not error and not reply.items and reply.malformed
            ]
            repairs = self._ask([self._repair_messages(chunk[i], first[i][0]) for i in broken])
            mended = dict(zip(broken, repairs, strict=True))
            for i, page in enumerate(chunk):
                done += 1
                self.progress("asking the model", done, len(pages))
                if first[i][1]:
                    yield Drafted(page, ReplyItems(), first[i][1])
                elif i in mended and not mended[i][1]:
                    again = read_reply(mended[i][0])
                    yield Drafted(page, again if again.items or again.whole else replies[i], "")
                else:
                    yield Drafted(page, replies[i])

    def counterparts(self, drafts: Sequence[Draft]) -> list[str]:
        """What the model writes as the counterpart of each draft; empty where nothing usable."""
        messages = [self._pair_messages(draft) for draft in drafts]
        made = []
        for text, error in self._ask(messages, free=True):
            said = None if error else read_field(text, "question")
            made.append(" ".join(said.split()) if isinstance(said, str) else "")
        return made

    def transcripts(self, pictures: Sequence[bytes]) -> list[tuple[str, str]]:
        """(text, error) of each picture of a page."""
        asked = [
            (
                Message("system", self.pack.prompts["transcript"].format()),
                Message("user", "The page:", (png,)),
            )
            for png in pictures
        ]
        return [(_plain(text), error) for text, error in self._ask(asked)]

    def verdicts_on(self, statements: Sequence[tuple[str, bool, str]]) -> list[JudgeSays]:
        """Whether the model says that each (statement, label, source) holds; nothing where it
        gave no verdict, with why. A yes proves nothing: a judge may only reject."""
        asked = [self._judge_messages(*one) for one in statements]
        replies = self._ask(asked, free=True)
        found = []
        for messages, (text, error) in zip(asked, replies, strict=True):
            cut = f"ask:{messages_sha256(messages)}" in self._cut
            verdict = JudgeSays(None, error or "cut_off") if error or cut else read_verdict(text)
            self.verdicts[{True: "yes", False: "no", None: verdict.why}[verdict.holds]] += 1
            found.append(verdict)
        return found

    def _ask(
        self, asked: Sequence[tuple[Message, ...]], *, free: bool = False
    ) -> list[tuple[str, str]]:
        """(text, error) for each, from the journal where it was answered before."""
        keys = [f"ask:{messages_sha256(messages)}" for messages in asked]
        missing = {k: m for k, m in zip(keys, asked, strict=True) if k not in self._known}
        failed: dict[str, str] = {}
        prompts = [
            Prompt(k[4:20], m, "", "", "", "", self.seed, 0, free=free) for k, m in missing.items()
        ]
        names = list(missing)
        answered: set[int] = set()
        asking = self.model.generate(prompts, self.sampling) if prompts else ()
        for index, output in asking:
            if index in answered:
                continue
            answered.add(index)
            error = _error_of(output)
            cut = output.finish_reason == "length"
            told = {"text": output.text if not error else "", "error": error}
            self.journal.append({"key": names[index], **told, **({"cut": True} if cut else {})})
            if error:
                failed[names[index]] = error
                self._notice(error)
            else:
                self._remember(names[index], output.text, cut)
                self._failures = 0
        return [self._known.get(key, ("", failed.get(key, "bad_output"))) for key in keys]

    def _notice(self, error: str) -> None:
        self._failures += 1
        if error in _FATAL:
            raise ModelError("the service refused the key or the access (auth); run again to go on")
        if self._failures >= _GIVE_UP and error in {"server", "network", "timeout", "rate_limit"}:
            raise ModelError(
                f"the service failed {self._failures} times in a row ({error}); nothing that was "
                "answered is lost: run the same command again to go on"
            )

    def _draft_messages(self, page: Page) -> tuple[Message, ...]:
        names = [topic.name for topic in self.pack.spec.topics.values()]
        return self._messages(
            "draft", page.text, topics="; ".join(names), first_topic=names[0], most=self.per_page
        )

    def _repair_messages(self, page: Page, answer: str) -> tuple[Message, ...]:
        return (
            *self._draft_messages(page),
            Message("assistant", answer[:20_000]),
            Message("user", self.pack.prompts["repair"].format()),
        )

    def _pair_messages(self, draft: Draft) -> tuple[Message, ...]:
        data = f"Statement: {draft.statement}\nLabel: {draft.label}\nSource: {draft.source_text}"
        return self._messages("counterpart", data, label=str(not draft.label))

    def _judge_messages(self, statement: str, label: bool, source: str) -> tuple[Message, ...]:
        data = f"Statement: {statement}\nSource: {source}"
        return self._messages("judge", data, label="true" if label else "false")

    def _messages(self, prompt: str, data: str, **blanks: object) -> tuple[Message, ...]:
        """A prompt of the pack with its blanks filled, and the data between two marks."""
        mark = _mark(data)
        system = self.pack.prompts[prompt].format(mark=mark, **blanks)
        return Message("system", system), Message("user", f"{mark}\n{data}\n{mark}")


def _plain(text: str) -> str:
    """A transcript as it is kept: without thinking aloud, fences and what does not print."""
    text = text.rpartition("</think>")[2].strip()
    lines = [line.rstrip() for line in text.splitlines() if not line.strip().startswith("```")]
    made = "\n".join(lines).strip()
    return "".join(char for char in made if char.isprintable() or char in "\n\t")


def _mark(text: str) -> str:
    """A line that the text cannot hold: it is made of the whole of it."""
    return "=== " + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20] + " ==="


def _error_of(output: Output) -> str:
    if output.error:
        return output.error
    if output.finish_reason == "error":
        return "bad_output"
    if output.finish_reason in {"refusal", "content_filter"}:
        return "refusal"
    return ""
