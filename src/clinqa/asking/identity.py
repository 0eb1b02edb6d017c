"""What a run is: data class, inputs, what it was told, and what of that decides the rows; and
whether what is asked was trained on.

A folder that `clinqa train` made holds hashes of its items and groups. A run that would ask one of
them is refused: its figures would be about memory. `--allow-seen` asks all the same, and the run
says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompts import Template
from clinqa.asking.source import ItemSource
from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import DataClass, strictest
from clinqa.core.stage import Known
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.facets.asks import Asks, Forms
from clinqa.kinds.registry import ItemKind
from clinqa.models.registry import KINDS, kind_of, weights_sha256
from clinqa.models.trained import TrainedFolder, seen_rows, trained_folder

__all__ = ["VERB", "Assignment", "check_learnt", "data_class_of_run", "known_of", "sources_of_run"]


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


VERB = "predict"


def sources_of_run(dataset: Dataset, options: PredictOptions) -> list[Manifest]:
    """What a run's class and origin come from: the dataset, adapters, what a baseline learns."""
    made = [dataset.manifest, *(trained.manifest for trained in _trained(options))]
    if options.train_from is not None:
        made.append(open_dataset(options.train_from).manifest)
    return made


def data_class_of_run(dataset: Dataset, options: PredictOptions) -> DataClass:
    """The strictest of the dataset's and the adapters'; it may be raised here, never lowered."""
    return strictest(
        [made.data_class for made in sources_of_run(dataset, options)],
        options.data_class,
        read="the dataset, or what the adapter was trained on, is",
        instead="; build it again with the class its owner allows",
        error=PrivacyError,
    )


def _inputs(dataset: Dataset, options: PredictOptions) -> list[FileRecord]:
    """The files that decide what is asked: the split, and train where it is read."""
    reads_train = options.shots or options.model in ("baseline:prior", "baseline:bag-of-words")
    splits = {options.split, *(["train"] if reads_train else [])}
    names = tuple(f"data/{split}-" for split in sorted(splits))
    files = [record for record in dataset.manifest.outputs if record.name.startswith(names)]
    if options.train_from is not None:
        learnt = open_dataset(options.train_from)
        files += [one for one in learnt.manifest.outputs if one.name.startswith("data/train-")]
    kind, _, rest = options.model.partition(":")
    if kind == "scripted" and Path(rest).is_file():
        files.append(FileRecord.of(Path(rest)))
    for adapter in options.adapters:
        for path in sorted(p for p in adapter.rglob("*") if p.is_file()):
            files.append(FileRecord.of(path, path.relative_to(adapter.parent).as_posix()))
    return files


def known_of(told: Assignment) -> Known:
    """What the run was told, as the manifest tells it, and the hashes of its inputs."""
    inputs = _inputs(told.dataset, told.options)
    decides = {"inputs": [record.sha256 for record in inputs]}
    return Known(_configuration(told), inputs, decides, _NOT_IDENTITY)


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
            {"train_from": open_dataset(options.train_from).manifest.fingerprint}
            if options.train_from is not None
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
    found = list(_trained(options))
    warnings = [
        f"{adapter.name}: not made by clinqa train, so nobody can tell what it was trained on"
        for adapter in options.adapters
        if trained_folder(adapter) is None
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


def _trained(options: PredictOptions) -> Iterator[TrainedFolder]:
    """Every folder of clinqa train that has a part in the answers."""
    kind, _, rest = options.model.partition(":")
    folders = list(options.adapters)
    if kind in ("hf", "encoder") and rest:
        folders.append(Path(rest).expanduser())
    for folder in folders:
        trained = trained_folder(folder)
        if trained is not None:
            yield trained
