"""Planned batches through one model: prefill, the decoding loop, the next tokens, scores.

Who sees whom is decided by positions, not by slots: a slot holds the position of its token, or -1
for padding, and a query sees what stands at or before its own position (and within the sliding
window where a layer has one). So padding may stand anywhere and never shifts a window.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.models.local.attention import BEGINNING, Beginning, Slots
from clinqa.models.local.plan import Batch, common
from clinqa.models.protocol import Sampling

try:
    import torch
except ImportError:  # the extra `local` is not installed; weights.py says so to who asks
    torch = None

__all__ = ["Engine", "WrittenRow", "next_tokens"]

_PREFILL = 4096  # tokens one forward pass takes at most
_LOGITS = 1 << 26  # floats of logits one scoring pass makes at most


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """What one row wrote: its tokens, and why it ended (stop or length)."""

    tokens: list[int]
    reason: str


class Engine:
    """Runs planned batches through one model. Not for several threads at once."""

    def __init__(self, model: Any, pad: int, ends: Iterable[int]) -> None:
        self._model = model
        self._device = model.device
        self._pad = pad
        self._ends = frozenset(ends)
        self._window, self._mixed = _windows(model.config)
        takes = inspect.signature(model.forward).parameters
        self._cache = "cache" if "cache" in takes else "past_key_values"  # renamed in 5.24
        self._begun = Beginning([], [])

    def forget(self) -> None:
        """Give back what is kept of the last shared beginning."""
        self._begun = Beginning([], [])

    def write(
        self,
        batch: Batch,
        sampling: Sampling,
        draws: Sequence[random.Random],
        stopped: Callable[[list[int]], bool],
    ) -> list[WrittenRow]:
        """Let every row of the batch go on until its end mark, a stop string or max_tokens.

        `draws` holds a generator a row; `stopped` says whether a row's tokens hold a stop string.
        """
        with torch.inference_mode(), self._beginning(batch.shared):
            slots = self._rows(batch, sampling.max_tokens)
            last = [row.tokens[-1] for row in batch.rows]
            lengths = [
                len(batch.shared) + len(group.context) + len(row.tokens)
                for group in batch.groups
                for row in group.rows
            ]
            written: list[list[int]] = [[] for _ in batch.rows]
            reasons = ["length"] * len(batch.rows)
            running = list(range(len(batch.rows)))  # row numbers, as they stand in `slots`
            done: set[int] = set()
            for step in range(sampling.max_tokens):
                tokens = [[last[row]] for row in running]
                positions = [[lengths[row] - 1 + step] for row in running]
                logits = self._forward(tokens, positions, slots, 1)[:, -1].float()
                chosen = next_tokens(logits, sampling, [draws[row] for row in running])
                for row, token in zip(running, chosen, strict=True):
                    if row in done:
                        continue
                    last[row] = token
                    if token in self._ends:
                        reasons[row] = "stop"
                        done.add(row)
                        continue
                    written[row].append(token)
                    if stopped(written[row]):
                        reasons[row] = "stop"
                        done.add(row)
                left = [place for place, row in enumerate(running) if row not in done]
                if not left:
                    break
                if 2 * len(left) <= len(running):  # fewer copies than to drop each as it ends
                    slots = slots.rows(left, slots.capacity)
                    running = [running[place] for place in left]
        return [WrittenRow(*row) for row in zip(written, reasons, strict=True)]

    def score(self, batch: Batch) -> list[list[float]]:
        """Log-probabilities of the last `keep - 1` tokens of every row."""
        with torch.inference_mode(), self._beginning(batch.shared):
            slots = self._groups(batch)
            scores: list[list[float]] = []
            numbered = [(number, row) for number, g in enumerate(batch.groups) for row in g.rows]
            wide = max(row.keep - 1 for row in batch.rows) * self._model.config.vocab_size
            for part in _parts(numbered, max(1, _LOGITS // wide)):
                fed = [list(row.tokens[:-1]) for _, row in part]
                own = slots.rows(
                    [number for number, _ in part], slots.capacity + max(map(len, fed))
                )
                starts = [
                    len(batch.shared) + len(batch.groups[number].context) for number, _ in part
                ]
                kept = max(row.keep - 1 for _, row in part)
                logits = self._feed(fed, starts, own, kept).float()
                scores += [
                    _chosen(logits[n], row.tokens, row.keep - 1) for n, (_, row) in enumerate(part)
                ]
        return scores

    def check(self) -> None:
        """Does this engine get from this model what the model gets by itself? ModelError if not.

        Models differ in how they mask, place and cap attention; one that this engine does not
        follow is found here and not in somebody's table.
        """
        window = self._window or 0
        length = window + 24 if 0 < window <= 1024 else 24
        draw = random.Random(0)  # noqa: S311 (not for secrets)
        limit = min(1000, self._model.config.vocab_size)
        tokens = [draw.randrange(limit) for _ in range(length)]
        attention = self._model.config._attn_implementation
        try:
            with torch.inference_mode():
                middle = length // 2
                with self._beginning(tokens[:8]):
                    slots = self._prefill([tokens[8:middle], tokens[8:10]], [8, 8], length)
                    slots = slots.rows([0], length)
                    self._feed([tokens[middle:-1]], [middle], slots, 1)
                    ours = self._forward([tokens[-1:]], [[length - 1]], slots, 1)[0, -1].float()
                self._model.set_attn_implementation("sdpa")
                plain = torch.tensor([tokens], device=self._device)
                theirs = self._model(input_ids=plain, use_cache=False).logits[0, -1].float()
        except (RuntimeError, ValueError, TypeError, LookupError, NotImplementedError) as error:
            raise ModelError(f"{_UNFIT} ({type(error).__name__})") from error
        finally:
            self._model.set_attn_implementation(attention)
            self.forget()
        alike = torch.nn.functional.cosine_similarity(ours, theirs, dim=0).item()
        if not alike > 0.995:
            raise ModelError(f"{_UNFIT} (a check of its scores: {alike:.3f}, not 1)")

    @contextmanager
    def _beginning(self, tokens: Sequence[int]) -> Iterator[None]:
        """Within, every forward pass sees these tokens before each row."""
        self._begun = begun = self._extended(list(tokens))
        mark = BEGINNING.set(begun)
        try:
            yield
        finally:
            BEGINNING.reset(mark)

    def _extended(self, tokens: list[int]) -> Beginning:
        """The beginning for these tokens, from what the last one has in common with them."""
        kept = common(self._begun.tokens, tokens)
        begun = Beginning(
            tokens[:kept], [(k[:, :, :kept], v[:, :, :kept]) for k, v in self._begun.layers]
        )
        while len(begun.tokens) < len(tokens):
            start = len(begun.tokens)
            piece = tokens[start : start + _PREFILL]
            mark = BEGINNING.set(begun)
            try:
                own = self._prefill([piece], [start], len(piece)).layers()
            finally:
                BEGINNING.reset(mark)
            if start:
                own = [
                    (torch.cat([k, a], dim=2), torch.cat([v, b], dim=2))
                    for (k, v), (a, b) in zip(begun.layers, own, strict=True)
                ]
            begun = Beginning(tokens[: start + len(piece)], own)
        return begun

    def _groups(self, batch: Batch) -> Slots:
        """Slots with a row for each group, its context computed."""
        contexts = [list(group.context) for group in batch.groups]
        start = len(batch.shared)
        return self._prefill(contexts, [start] * len(contexts), max(map(len, contexts)))

    def _rows(self, batch: Batch, room: int) -> Slots:
        """Slots with a row for each row, all computed but its last token, and room to go on."""
        own = [list(row.tokens[:-1]) for row in batch.rows]
        of = [number for number, group in enumerate(batch.groups) for _ in group.rows]
        starts = [len(batch.shared) + len(batch.groups[number].context) for number in of]
        capacity = max(len(group.context) for group in batch.groups) + max(map(len, own)) + room
        if of == list(range(len(of))) and not any(own):  # a row a group, nothing of its own
            contexts = [list(group.context) for group in batch.groups]
            return self._prefill(contexts, [len(batch.shared)] * len(contexts), capacity)
        slots = self._groups(batch).rows(of, capacity)
        if any(own):
            self._feed(own, starts, slots, 1)
        return slots

    def _prefill(self, rows: list[list[int]], starts: list[int], capacity: int) -> Slots:
        """New slots holding these rows, padded on the left to the longest."""
        empty = torch.empty((len(rows), 0), dtype=torch.long, device=self._device)
        slots = Slots(empty, capacity)
        if any(rows):
            self._feed(rows, starts, slots, 1)
        return slots

    def _feed(self, rows: list[list[int]], starts: list[int], slots: Slots, keep: int) -> Any:
        """One forward pass over rows of unlike length; logits of the last `keep` tokens."""
        width = max(map(len, rows))
        tokens = [[self._pad] * (width - len(row)) + row for row in rows]
        positions = [
            [-1] * (width - len(row)) + list(range(start, start + len(row)))
            for row, start in zip(rows, starts, strict=True)
        ]
        return self._forward(tokens, positions, slots, keep)

    def _forward(
        self, tokens: list[list[int]], positions: list[list[int]], slots: Slots, keep: int
    ) -> Any:
        at = torch.tensor(positions, device=self._device)
        slots.positions = torch.cat([slots.positions, at], dim=1)
        length = len((BEGINNING.get() or Beginning([], [])).tokens)
        before = torch.arange(length, device=self._device).expand(len(tokens), length)
        keys = torch.cat([before, slots.positions], dim=1)[:, None, None, :]
        queries = at[:, None, :, None]
        full = (keys >= 0) & (keys <= queries)
        near = full if self._window is None else full & (queries - keys < self._window)
        # Padding looks at everything: what it sees is never seen, but it must be a number.
        mask = self._additive(near | (queries < 0))
        if self._mixed:
            whole = self._additive(full | (queries < 0))
            mask = {"full_attention": whole, "sliding_attention": mask}
        found = self._model(
            input_ids=torch.tensor(tokens, device=self._device),
            position_ids=at.clamp(min=0),
            attention_mask=mask,
            use_cache=True,
            logits_to_keep=keep,
            **{self._cache: slots},
        )
        return found.logits

    def _additive(self, sees: Any) -> Any:
        """A mask to be added to scores: made once a pass and not once a layer."""
        nothing = torch.zeros(sees.shape, dtype=self._model.dtype, device=self._device)
        return nothing.masked_fill_(~sees, float("-inf"))


_UNFIT = (
    "this model's attention does not run in clinqa's batches; serve it (vLLM, llama.cpp) and "
    "name it as openai:NAME with --base-url"
)


def _windows(config: Any) -> tuple[int | None, bool]:
    """The sliding window in tokens, or None; and whether only some layers have it."""
    kinds = set(getattr(config, "layer_types", None) or ())
    if kinds - {"full_attention", "sliding_attention"}:
        raise ModelError(f"{_UNFIT} (layers: {', '.join(sorted(kinds))})")
    window = getattr(config, "sliding_window", None)
    if kinds == {"full_attention"} or getattr(config, "use_sliding_window", True) is False:
        window = None
    return window, len(kinds) > 1


def _chosen(logits: Any, tokens: Sequence[int], count: int) -> list[float]:
    """Log-probabilities of the last `count` of `tokens`, from logits that end one before them."""
    if count == 0:
        return []
    wanted = torch.tensor(list(tokens[-count:]), device=logits.device)
    scores = logits[-count:].log_softmax(dim=-1).gather(1, wanted[:, None])[:, 0]
    values: list[float] = scores.tolist()
    return values


def _parts(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def next_tokens(logits: Any, sampling: Sampling, draws: Sequence[random.Random]) -> list[int]:
    """The next token of each row, from its logits [rows, vocabulary]; greedy at temperature 0.

    Each row draws from a generator of its own, by inversion of its distribution, so that the same
    item with the same seed gets the same text whatever stands beside it in the batch.
    """
    if sampling.temperature <= 0:
        greedy: list[int] = logits.argmax(dim=-1).tolist()
        return greedy
    scaled = logits.double() / sampling.temperature
    points = torch.tensor([[draw.random()] for draw in draws], dtype=torch.double)
    points = points.to(scaled.device)
    if sampling.top_p >= 1.0:
        mass = scaled.softmax(dim=-1).cumsum(dim=-1)
        return _at(mass, points * mass[:, -1:])
    ranked, order = scaled.sort(dim=-1, descending=True, stable=True)
    chances = ranked.softmax(dim=-1)
    before = chances.cumsum(dim=-1) - chances
    # the smallest set whose chance reaches top_p: a token counts if those before it do not
    chances = chances.masked_fill(before >= sampling.top_p, 0.0)
    mass = chances.cumsum(dim=-1)
    picked = torch.tensor(_at(mass, points * mass[:, -1:]), device=order.device)
    tokens: list[int] = order.gather(1, picked[:, None])[:, 0].tolist()
    return tokens


def _at(mass: Any, points: Any) -> list[int]:
    """Where in each row's cumulated chances its point falls."""
    found = torch.searchsorted(mass, points, right=True)[:, 0]
    last = (mass < mass[:, -1:]).sum(dim=-1)  # rounding may put a point at the very end
    places: list[int] = torch.minimum(found, last).tolist()
    return places
