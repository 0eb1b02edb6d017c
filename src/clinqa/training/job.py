"""A training that is prepared, and what it leaves in the partial folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from clinqa.asking.prompts import Template
from clinqa.core.progress import Progress
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.registry import ItemKind
from clinqa.models.local.place import WeightsPlace
from clinqa.privacy.data_class import is_private
from clinqa.training.lora import load_tokenizer
from clinqa.training.model_shape import shape_of
from clinqa.training.options import TrainOptions
from clinqa.training.prepare import Prepared, prepare
from clinqa.training.presets import Resolved

__all__ = ["Job", "JobResult", "PreparedLora"]


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job left in the partial folder, for the manifest."""

    read: int
    too_long: int
    details: dict[str, Any]
    resumed_at: int = 0
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Job(Protocol):
    """One training, prepared."""

    def plan(self, out: Path, data_class: DataClass) -> list[str]:
        """Lines of a dry run."""
        ...

    def run(self, folder: Path) -> JobResult:
        """Train, and leave in the folder what will be committed and nothing else."""
        ...


class PreparedLora:
    """What LoRA or QLoRA is trained on and how: data read, tokenizer loaded, no weights."""

    def __init__(
        self,
        dataset: Dataset,
        place: WeightsPlace,
        template: Template,
        kind: ItemKind,
        resolved: Resolved,
        options: TrainOptions,
        data_class: DataClass,
        progress: Progress,
    ) -> None:
        self.dataset, self.place, self.template = dataset, place, template
        self.resolved, self.options = resolved, options
        self.data_class, self.private = data_class, is_private(data_class)
        self.progress = progress
        self.tokenizer = load_tokenizer(place)
        self.shape = shape_of(place, self.tokenizer)
        self.prepared: Prepared = prepare(
            dataset,
            place,
            self.tokenizer,
            self.shape,
            template,
            kind,
            resolved,
            options,
        )

    @property
    def shares(self) -> bool:
        """Can beginnings be shared? Not where layers see only what is near."""
        return self.resolved.settings.share and self.shape.sees_all
