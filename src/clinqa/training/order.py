"""Which items make a step: decided by seed and epoch, never by how a step is cut into batches.

An epoch's items are shuffled, kept together with others of the same context where the preset says
so, and cut into steps; the items of a step are the same however many batches it is made of, and
so is its loss. Items of a step are dealt to its batches with their contexts together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinqa.core.ids import rng

__all__ = ["Order"]

_WINDOW = 16  # steps among which items of like length are brought together


class Order:
    """The micro-batches of an epoch, as lists of item numbers; a batch sampler for torch.

    `contexts` holds a number for each item, the same for items of one context; `keys` a name that
    is the item's own on every machine (its id), so that rows of any order give the same steps.
    With `lengths`, items of a step are of like length: for rows that are padded to the longest.
    """

    def __init__(
        self,
        keys: Sequence[str],
        contexts: Sequence[str],
        *,
        seed: int,
        batch_size: int,
        accumulation: int = 1,
        together: int = 1,
        lengths: Sequence[int] | None = None,
    ) -> None:
        self._keys, self._contexts, self._seed = keys, contexts, seed
        self._batch, self._accumulation, self._together = batch_size, accumulation, together
        self._lengths = lengths
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Called by the trainer at the start of an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        whole, rest = divmod(len(self._keys), self._batch * self._accumulation)
        return whole * self._accumulation + -(-rest // self._batch)

    def __iter__(self) -> Iterator[list[int]]:
        for step in self.steps(self.epoch):
            together = sorted(range(len(step)), key=lambda place: (self._first(step, place), place))
            for start in range(0, len(step), self._batch):
                yield [step[place] for place in together[start : start + self._batch]]

    def _first(self, step: Sequence[int], place: int) -> int:
        """Where the first item with the same context stands in the step."""
        context = self._contexts[step[place]]
        return next(n for n, item in enumerate(step) if self._contexts[item] == context)

    def steps(self, epoch: int) -> list[list[int]]:
        """The items of each optimizer step of an epoch."""
        draw = rng(self._seed, "order", str(epoch))
        items = sorted(range(len(self._keys)), key=self._keys.__getitem__)
        draw.shuffle(items)
        if self._together > 1:
            items = self._grouped(items)
        size = self._batch * self._accumulation
        if self._lengths is not None:
            items = self._alike(items, _WINDOW * size)
        steps = [items[start : start + size] for start in range(0, len(items), size)]
        if self._lengths is not None:
            last = steps.pop() if len(steps[-1]) < size else None  # a short step stays the last
            draw.shuffle(steps)
            steps += [last] if last is not None else []
        return steps

    def _alike(self, items: Sequence[int], window: int) -> list[int]:
        """Within windows of several steps by length, so that a step's items are of like length."""
        lengths = self._lengths or ()
        return [
            item
            for start in range(0, len(items), window)
            for item in sorted(items[start : start + window], key=lambda n: lengths[n])
        ]

    def _grouped(self, items: Sequence[int]) -> list[int]:
        """Up to `together` items of a context behind each other, the groups in a random order.

        The items are shuffled already: a group comes where its first member would have come.
        """
        groups: dict[str, list[list[int]]] = {}
        order: list[list[int]] = []
        for item in items:
            held = groups.setdefault(self._contexts[item], [])
            if not held or len(held[-1]) == self._together:
                held.append([])
                order.append(held[-1])
            held[-1].append(item)
        return [item for group in order for item in group]
