"""What a run is: data class, inputs, what it was told, and what of that decides the rows; and
whether what is asked was trained on.

A folder that `clinqa train` made holds hashes of its items and groups. A run that would ask one of
them is refused: its figures would be about memory. `--allow-seen` asks all the same, and the run
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import Template
from clinqa.asking.source import ItemSource
from clinqa.core.errors import ConfigError
from clinqa.core.finished import Finished
from clinqa.core.manifest import FileRecord
from clinqa.core.records import DataClass, strictest
from clinqa.core.stage import Known
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.facets.asks import Asks, Forms
from clinqa.kinds.registry import ItemKind
from clinqa.models.registry import KINDS, kind_of, weights_sha256
from clinqa.models.trained import TrainedFolder, seen_rows, trained_behind

__all__ = ["VERB", "Assignment", "RunSources", "check_learnt", "known_of"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A dataset whose items are of one kind, the wording, the options, and the class of the run."""

    sources: RunSources
    kind: ItemKind
    template: Template
    options: PredictOptions
    data_class: DataClass

    @property
    def dataset(self) -> Dataset:
        """Whose items are asked."""
        return self.sources.dataset

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


VERB = "predict"


@dataclass(frozen=True, slots=True)
class RunSources:
    """The finished folders that a run reads: the dataset that is asked, what a baseline learns
    from (None: the same), and every folder of clinqa train that has a part in the answers."""

    dataset: Dataset
    learnt: Dataset | None
    trained: Sequence[TrainedFolder]

    @classmethod
    def of(cls, dataset: Dataset, options: PredictOptions) -> RunSources:
        """Those of a run of this dataset; ConfigError and CheckFailed where one is damaged."""
        accept = options.accept_changed
        other = options.train_from
        learnt = None if other is None else open_dataset(other, accept=accept)
        trained = trained_behind(options.model, options.adapters, accept=accept)
        return cls(dataset, learnt, trained)

    @property
    def finished(self) -> list[Finished]:
        """Each of them."""
        learnt = [] if self.learnt is None else [self.learnt.finished]
        return [self.dataset.finished, *learnt, *(one.finished for one in self.trained)]

    def data_class(self, wanted: DataClass | None) -> DataClass:
        """The strictest of theirs; it may be raised here, never lowered."""
        return strictest(
            [one.data_class for one in self.finished],
            wanted,
            read="the dataset, or what the adapter was trained on, is",
            instead="; build it again with the class its owner allows",
        )


def _inputs(told: Assignment) -> tuple[list[FileRecord], dict[Path, FileRecord]]:
    """The files that decide what is asked: the split, and train where it is read; and which of all
    these no manifest answers for."""
    options, sources = told.options, told.sources
    reads_train = options.shots or options.model in ("baseline:prior", "baseline:bag-of-words")
    splits = {options.split, *(["train"] if reads_train else [])}
    files = told.dataset.records(*sorted(splits))
    if sources.learnt is not None:
        files += sources.learnt.records("train")
    brought = {}
    kind, _, rest = options.model.partition(":")
    if kind == "scripted" and Path(rest).is_file():
        brought[Path(rest)] = FileRecord.of(Path(rest))
    for adapter in options.adapters:
        for path in sorted(p for p in adapter.rglob("*") if p.is_file()):
            name = path.relative_to(adapter.parent).as_posix()
            brought[path] = FileRecord.of(path, name)
    return [*files, *brought.values()], brought


def known_of(told: Assignment) -> Known:
    """What the run was told, as the manifest tells it, and the hashes of its inputs."""
    inputs, brought = _inputs(told)
    decides = {"inputs": [record.sha256 for record in inputs]}
    return Known(_configuration(told), inputs, decides, _NOT_IDENTITY, brought)


def _configuration(told: Assignment) -> dict[str, Any]:
    options, template = told.options, told.template
    return {
        **told.asks.told(options.orders, options.order_design, told.weighs_beside),
        "dataset": told.dataset.manifest.fingerprint,
        "split": options.split,
        "model": options.model,
        "weights_sha256": weights_sha256(options.model),
        "shots": options.shots,
        "repeats": options.repeats,
        "vary": options.vary,
        "sampling": asdict(options.sampling),
        # told only where it is so: runs that write are known by what they always were
        **({"constrained": True} if options.constrained else {}),
        **(
            {"train_from": told.sources.learnt.manifest.fingerprint}
            if told.sources.learnt is not None
            else {}
        ),
        "seed": options.seed,
        "limit": options.limit,
        **({"categories": sorted(options.categories)} if options.categories else {}),
        "template": {"id": template.id, "sha256": template.sha256},
        "base_url": options.base_url,
        "api_version": options.api_version,
        "region": options.region,
        **({"leave_out": sorted(options.leave_out)} if options.leave_out else {}),
        "adapters": [path.name for path in options.adapters],
        "dtype": options.dtype,
        "device": options.device,
        "threads": options.threads,
        "batch_size": options.batch_size,
        "context_window": options.context_window,
        "max_parallel": options.max_parallel,
        "max_cost": options.max_cost,
    }


# told, but what is asked and answered does not hang on it
_NOT_IDENTITY = frozenset({"max_parallel", "max_cost", "device", "batch_size", "adapters"})


_WITHOUT_ADAPTERS = ("baseline", "scripted", "encoder")


def check_learnt(told: Assignment) -> list[str]:
    """Warnings for the run; ConfigError where it would ask what was trained on."""
    options = told.options
    kind = KINDS.get(options.model.partition(":")[0])
    if options.adapters and kind is not None and (kind.remote or kind.prefix in _WITHOUT_ADAPTERS):
        raise ConfigError(
            f"{options.model} takes no --adapter: only a model with weights on this machine does"
        )
    found = told.sources.trained
    ours = {trained.folder for trained in found}
    warnings = [
        f"{adapter.name}: not made by clinqa train, so nobody can tell what it was trained on"
        for adapter in options.adapters
        if adapter not in ours
    ]
    if not found:
        return warnings
    rows = seen_rows((item.id, item.group, item.question, item.context) for item in told.source())
    for trained in found:
        name = trained.folder.name
        trained.check_weights()
        seen = trained.seen(rows)
        if seen.items or seen.groups:
            what = (
                f"{name}: was trained on {seen.items:,} of the {seen.asked:,} items that are asked "
                f"and on the patients or groups of {seen.groups:,} more"
            )
            if not options.allow_seen:
                raise ConfigError(
                    f"{what}; figures would tell what it remembers. Ask another split, train on a "
                    "dataset without them, or use --allow-seen"
                )
            warnings.append(f"{what}; asked all the same (--allow-seen)")
        if seen.chosen_by:
            warnings.append(
                f"{name}: {seen.chosen_by:,} of the items that are asked chose which state of it "
                "was kept"
            )
        if trained.template and trained.template != told.template.sha256:
            warnings.append(f"{name}: was trained with another wording of the prompt")
    return warnings
