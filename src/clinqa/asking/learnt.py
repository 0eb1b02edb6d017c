"""Was what is asked trained on? Asked of adapters, encoders and merged models before they answer.

A folder that `clinqa train` made holds hashes of its items and groups. A run that would ask one of
them is refused: its figures would be about memory. `--allow-seen` asks all the same, and the run
says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clinqa.asking.assignment import Assignment
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.models.registry import KINDS
from clinqa.models.trained import TrainedFolder, seen_rows, trained_folder

__all__ = ["check_learnt", "classes_of_learnt"]

_WITHOUT_ADAPTERS = ("baseline", "scripted", "encoder")


def classes_of_learnt(options: PredictOptions) -> list[DataClass]:
    """The data classes of what the adapters were trained on: a model may repeat it."""
    return [DataClass(trained.manifest.data_class) for trained in _trained(options)]


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
