"""The model of each repeat of a run, opened when it is first asked."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinqa.asking.constrained import Constrained, Weighed, Words
from clinqa.asking.predict_options import PredictOptions
from clinqa.models.protocol import Model, ModelOptions, TellsFacts
from clinqa.models.registry import open_model

__all__ = ["Models"]


class Models:
    """The model of each repeat: one for all, unless each repeat has an adapter of its own."""

    def __init__(
        self,
        options: PredictOptions,
        given: ModelOptions,
        stack: ExitStack,
        facts: list[dict[str, Any]],
        words: Words | None = None,
    ) -> None:
        self._options, self._given, self._stack = options, given, stack
        self._words = words  # that are weighed; None: only what is written counts
        self._facts = facts  # of each model that was opened, for the manifest
        self._open: tuple[Path | None, Model] | None = None
        stack.callback(self._close)

    def __call__(self, repeat: int) -> Model:
        adapters = self._options.adapters
        adapter = adapters[min(repeat, len(adapters) - 1)] if adapters else None
        if self._open is None or self._open[0] != adapter:
            self._close()
            model = open_model(self._options.model, replace(self._given, adapter=adapter))
            if self._words is not None:
                behind = Constrained if self._options.constrained else Weighed
                model = behind(model, self._words)
            self._open = adapter, model
            said = model.describe() if isinstance(model, TellsFacts) else {}
            facts = {"deterministic": model.deterministic, **said}
            if facts not in self._facts:
                self._facts.append(facts)
        return self._open[1]

    def _close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None
