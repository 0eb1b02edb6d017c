"""Ask a model what is not in the journal yet, and write down each answer as it comes.

Errors of the moment (rate limits, time-outs, a server that fell over) are asked again in a second
pass; what fails then is recorded as it is. A service that only fails is left alone: the run stops,
resumable, before it has turned every item into an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field

from clinqa.core.errors import ModelError
from clinqa.core.journal import Journal, read_journal
from clinqa.core.progress import Progress
from clinqa.models.protocol import Model, Output, Prompt, Sampling
from clinqa.predict.budget import Budget
from clinqa.predict.kept import PromptKeeper
from clinqa.predict.prompter import Asked, Prompter
from clinqa.predict.repeats import Repeats
from clinqa.predict.results import TRANSIENT, record_of

__all__ = ["Asking", "open_journal"]

_STAGE = "asking"
_LOST = Output("", "error", None, None, 0.0, "bad_output")
_TOO_LONG = Output("", "error", None, None, 0.0, "context")
RESUME = "nothing that was answered is lost: run the same command again to go on"


def open_journal(journal: Journal, budget: Budget) -> int:
    """Take over what an earlier run has answered and spent; gives the number of answers."""
    for record in read_journal(journal.path):
        budget.spend(record.get("cost"))
        if record.get("error") not in TRANSIENT:
            journal.keep(record["key"])
    return len(journal)


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
    patience: int  # failures in a row after which the service is taken for gone
    context_window: int | None = None
    _failures: Counter[str] = field(default_factory=Counter)
    _again: set[str] = field(default_factory=set)  # keys worth another try
    _done: int = 0

    def run(self, repeats: Repeats) -> None:
        """Ask everything: after it each item and repeat stands in the journal."""
        self._done = len(self.journal)
        kept: set[int] = set()
        for repeat in range(repeats.run):
            draw = repeats.draw(repeat)
            prompts = self.prompter.prompts(repeat)
            missing = prompts if draw in kept else self._kept(prompts)
            self._ask(repeat, (one for one in missing if one.key not in self.journal), last=False)
            kept.add(draw)
        if self._again:
            for repeat in range(repeats.run):
                failed = (one for one in self.prompter.prompts(repeat) if one.key in self._again)
                self._ask(repeat, failed, last=True)
        self.progress(_STAGE, self.prompter.total, self.prompter.total)

    def _kept(self, prompts: Iterable[Asked]) -> Iterator[Asked]:
        for asked in prompts:
            self.keeper.keep(asked)
            yield asked

    def _ask(self, repeat: int, prompts: Iterable[Asked], *, last: bool) -> None:
        model = self.model(repeat)
        for chunk in self.budget.chunks(prompts, model, self.sampling, self.chunk):
            for asked, output in self._outputs(model, chunk):
                self._write(asked, output, last)

    def _write(self, asked: Asked, output: Output, last: bool) -> None:
        record = record_of(asked, output)
        cost = self.budget.cost(asked.prompt, output, self.sampling)
        if cost is not None:
            record["cost"] = cost
            self.budget.spend(cost)
        failed = output.error in TRANSIENT
        if failed and not last:
            self._again.add(asked.key)
        else:
            self._done += 1
        self.journal.append(record)
        self._notice(output, failed)
        self.progress(_STAGE, self._done, self.prompter.total)

    def _outputs(self, model: Model, chunk: Sequence[Asked]) -> Iterator[tuple[Asked, Output]]:
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
            with _closing(outputs):
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

    def _notice(self, output: Output, failed: bool) -> None:
        """Stop where going on would only make more failures."""
        if output.error == "auth":
            raise ModelError(f"the service refused the key or the access (auth); {RESUME}")
        if not failed:
            self._failures.clear()
            return
        self._failures[output.error] += 1
        if self._failures.total() >= self.patience:
            kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(self._failures.items()))
            raise ModelError(
                f"the service failed {self._failures.total()} times in a row ({kinds}); {RESUME}"
            )


def _closing(outputs: object) -> AbstractContextManager[object]:
    """Close a generator at once when a run stops, so that its requests stop with it."""
    return closing(outputs) if isinstance(outputs, Generator) else nullcontext()
