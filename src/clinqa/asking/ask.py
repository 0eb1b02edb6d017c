"""Ask a model what is not in the journal yet, and write down each answer as it comes.

Errors of the moment (rate limits, time-outs, a server that fell over, an answer that makes no
sense) are asked again in a second pass, each once (`models.remote.faults` has the rule of how often
in all); what fails then is recorded as it is, and the run ends.

Many failures in a row may be the prompts' own fault or the service's. What tells them apart is
something that was answered before: it is asked once more; where nothing was yet, a question of one
line without a word of any record. If it is answered, the failures are the prompts' own and the run
goes on; if not, the run stops, resumable, before it has turned every item into an error.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace

from clinqa.asking.budget import Budget
from clinqa.asking.prompter import KeyedPrompt, Prompter
from clinqa.asking.repeats import Repeats
from clinqa.asking.results import TRANSIENT, PromptKeeper, is_amount, is_whole, record_of
from clinqa.core.errors import ModelError
from clinqa.core.journal import Journal, read_journal
from clinqa.core.stage import Progress
from clinqa.models.protocol import Message, Model, Output, Prompt, Sampling, TellsService

__all__ = ["Asking", "Earlier", "change_of", "open_journal"]

_STAGE = "asking"
_LOST = Output("", "error", None, None, 0.0, "bad_output")
_TOO_LONG = Output("", "error", None, None, 0.0, "context")
_PROBE = "probe"  # the key of what is asked only to see whether the service still answers
_PLAIN_TEXT = "Answer with one word: yes"
_PLAIN = Prompt(
    item_id=_PROBE,
    messages=(Message("user", _PLAIN_TEXT),),
    question=_PLAIN_TEXT,
    context="",
    category="",
    own=None,
    seed=0,
    repeat=0,
)
_CHANGE = "change"  # the key of what was changed in all requests, since the service refused it
RESUME = "nothing that was answered is lost: run the same command again to go on"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left: answers taken over, records that are none, an answered prompt."""

    answers: int
    damaged: int
    answered: tuple[str, int] | None  # its key and repeat
    left_out: Mapping[str, str] = field(default_factory=dict)  # what the service refused


def change_of(name: str, how: str) -> dict[str, str]:
    """The journal's record of a field that the service refused, and what is done instead."""
    return {"key": _CHANGE, "field": name, "how": how}


def open_journal(journal: Journal, budget: Budget) -> Earlier:
    """Take over what an earlier run has answered and spent."""
    damaged, answered = 0, None
    left_out: dict[str, str] = {}
    for record in read_journal(journal.path):
        cost = record.get("cost")
        budget.spend(cost if is_amount(cost) else None)
        if record["key"] == _PROBE:
            continue
        if record["key"] == _CHANGE:
            left_out[str(record.get("field"))] = str(record.get("how"))
            continue
        if not is_whole(record):
            damaged += 1
        elif record["error"] not in TRANSIENT:
            journal.keep(record["key"])
            if not record["error"]:
                answered = record["key"], record["repeat"]
    return Earlier(len(journal), damaged, answered, left_out)


@dataclass(slots=True)
class Asking:
    """One run over all prompts."""

    prompter: Prompter
    model: Callable[[int], Model]  # the model of a repeat
    sampling: Sampling
    journal: Journal
    keeper: PromptKeeper
    budget: Budget
    progress: Progress
    chunk: int
    patience: int  # failures in a row after which it is asked whether the service is gone
    context_window: int | None = None
    answered: tuple[str, int] | None = None  # key and repeat of what an earlier run has answered
    expected: set[str] = field(default_factory=set)  # after the run: the key of all it was to ask
    _failures: Counter[str] = field(default_factory=Counter)
    _again: set[str] = field(default_factory=set)  # keys worth another try
    _done: int = 0
    _good: KeyedPrompt | None = None  # what was answered last

    def run(self, repeats: Repeats) -> None:
        """Ask everything: after it each item and repeat stands in the journal."""
        self._done = len(self.journal)
        kept: set[int] = set()
        for repeat in range(repeats.run):
            draw = repeats.draw(repeat)
            self._ask(repeat, self._missing(repeat, keep=draw not in kept), last=False)
            kept.add(draw)
        if self._again:
            for repeat in range(repeats.run):
                failed = (one for one in self.prompter.prompts(repeat) if one.key in self._again)
                self._ask(repeat, failed, last=True)
        self.progress(_STAGE, self.prompter.total, self.prompter.total)

    def _missing(self, repeat: int, *, keep: bool) -> Iterator[KeyedPrompt]:
        """The prompts of a repeat that are not answered; all are noted, and written down if so."""
        for asked in self.prompter.prompts(repeat):
            self.expected.add(asked.key)
            if keep:
                self.keeper.keep(asked)
            if asked.key not in self.journal:
                yield asked

    def _ask(self, repeat: int, prompts: Iterable[KeyedPrompt], *, last: bool) -> None:
        model = self.model(repeat)
        for chunk in self.budget.chunks(prompts, model, self.sampling, self.chunk):
            for asked, given in self._outputs(model, chunk):
                nameless = given.finish_reason == "error" and not given.error
                output = replace(given, error="bad_output") if nameless else given
                self._write(asked, output, last)
                self._notice(model, asked, output)

    def _write(self, asked: KeyedPrompt, output: Output, last: bool) -> None:
        record = record_of(asked, output)
        cost = self.budget.cost(asked.prompt, output, self.sampling)
        if cost is not None:
            record["cost"] = cost
            self.budget.spend(cost)
        if output.error in TRANSIENT and not last:
            self._again.add(asked.key)
        else:
            self._done += 1
        self.journal.append(record)
        self.progress(_STAGE, self._done, self.prompter.total)

    def _outputs(
        self, model: Model, chunk: Sequence[KeyedPrompt]
    ) -> Iterator[tuple[KeyedPrompt, Output]]:
        """An output for each prompt of the chunk, also where the model gave none."""
        fitting = []
        for asked in chunk:
            if self._fits(model, asked.prompt):
                fitting.append(asked)
            else:
                yield asked, _TOO_LONG
        missing = set(range(len(fitting)))
        if fitting:
            outputs = model.generate([asked.prompt for asked in fitting], self.sampling)
            # a generator is closed at once when a run stops, so that its requests stop with it
            with closing(outputs) if isinstance(outputs, Generator) else nullcontext():
                for index, output in outputs:
                    if index in missing:  # a second answer to one prompt is none of ours
                        missing.remove(index)
                        yield fitting[index], output
        for index in sorted(missing):
            yield fitting[index], _LOST

    def _fits(self, model: Model, prompt: Prompt) -> bool:
        """A prompt over the window is an error of its own: nothing is ever cut."""
        if self.context_window is None:
            return True
        return model.count_tokens(prompt) + self.sampling.max_tokens <= self.context_window

    def _notice(self, model: Model, asked: KeyedPrompt, output: Output) -> None:
        """Stop where going on would only make more failures."""
        if output.error == "auth":
            raise ModelError(f"the service refused the key or the access (auth); {RESUME}")
        if output.error not in TRANSIENT:
            self._failures.clear()
            if not output.error:
                self._good = asked
            return
        self._failures[output.error] += 1
        if self._failures.total() >= self.patience:
            if self._answers_still(model):
                self._failures.clear()  # they were those prompts' own
                return
            kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(self._failures.items()))
            because = model.because() if isinstance(model, TellsService) else ""
            raise ModelError(
                f"the service failed {self._failures.total()} times in a row ({kinds}){because}; "
                f"{RESUME}"
            )

    def _answers_still(self, model: Model) -> bool:
        """Is what was answered before, or else a plain question, answered now?"""
        good = self._good or self._earlier()
        # another seed: a cache of answers would say nothing about the service
        prompt = replace(good.prompt if good else _PLAIN, seed=time.time_ns() % (1 << 31))
        one = KeyedPrompt(prompt, (), "", "", _PROBE)
        for chunk in self.budget.chunks([one], model, self.sampling, 1):
            for _, output in self._outputs(model, chunk):
                cost = self.budget.cost(prompt, output, self.sampling)
                self.budget.spend(cost)
                self.journal.append({"key": _PROBE, "cost": cost})
                return not output.error and output.finish_reason != "error"
        return False

    def _earlier(self) -> KeyedPrompt | None:
        if self.answered is None:
            return None
        key, repeat = self.answered
        return next((one for one in self.prompter.prompts(repeat) if one.key == key), None)
