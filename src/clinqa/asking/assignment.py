"""What is to be asked of which model: what every part of a run needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import Template
from clinqa.asking.source import ItemSource
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.asks import Asks, Forms
from clinqa.kinds.registry import ItemKind
from clinqa.models.registry import kind_of

__all__ = ["Assignment"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A dataset whose items are of one kind, the wording, the options, and the class of the run."""

    dataset: Dataset
    kind: ItemKind
    template: Template
    options: PredictOptions
    data_class: DataClass

    @property
    def asks(self) -> Asks:
        """How items of the kind are asked."""
        found: Asks = self.kind.facet("asks")
        return found

    def source(self) -> ItemSource:
        """The items that are asked."""
        options = self.options
        return ItemSource(self.dataset, self.asks, options.split, options.limit, options.categories)

    def forms(self, source: ItemSource) -> Forms | None:
        """The forms in which the items are asked; None where each has one."""
        if self.asks.forms is None:
            return None
        options = self.options
        return self.asks.forms(source, options.orders, options.order_design, options.seed)

    @property
    def weighs_beside(self) -> bool:
        """Are the kind's answers weighed beside what is written? By default where that sends
        nothing anywhere."""
        if self.options.first_token is not None or self.options.constrained:
            return bool(self.options.first_token)
        model = kind_of(self.options.model)
        return self.kind.has("first_token") and bool(model.hasher) and model.takes_shots
