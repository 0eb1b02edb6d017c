"""`clinqa train`: a dataset and a model in, an ADAPTER folder out; resumable.

While it runs, checkpoints, the best state so far and the log lie in the partial folder; a second
call after a kill or Ctrl-C goes on from the last checkpoint, to the same weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinqa.asking.prompts import Template, load_template
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.origin import origin_of
from clinqa.core.outfolder import PARTIAL
from clinqa.core.records import inherit
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.models.local.place import WeightsPlace, place_of
from clinqa.training.checkpoints import resume_point
from clinqa.training.lora import check_extra
from clinqa.training.prepare import (
    BEST,
    LOG,
    TrainingTask,
    check_kind,
    class_of,
    trained_base,
)
from clinqa.training.presets import Resolved, load_preset, resolve
from clinqa.training.ranks import is_first, wait_for_all
from clinqa.training.train_options import TrainOptions

__all__ = ["LIBRARIES", "train"]

PASSING = ("checkpoint-*", f"{BEST}*", "final", LOG)
"""What a training can go on from; it stays until adapter and manifest stand in their places."""
LIBRARIES = ("torch", "transformers", "peft", "trl", "accelerate", "bitsandbytes", "pyarrow")


def train(
    dataset: Path, out: Path, options: TrainOptions, progress: Progress = silent
) -> StageResult:
    """Train the model on the dataset's train split, or say that it has been done."""
    options.check()
    opened = open_dataset(dataset, accept=options.accept_changed)
    resolved = resolve(load_preset(options.preset), options.model, options.overrides)
    kind = check_kind(opened, resolved)
    data_class = class_of(opened, options.data_class)
    check_extra(resolved.settings, options.threads)
    place = place_of(options.model)
    base = [one.finished for one in trained_base(place, accept=options.accept_changed)]
    data_class = inherit([data_class, *(one.data_class for one in base)])
    origin = origin_of([opened, *base])
    template = None if resolved.settings.method == "encoder" else load_template(kind.name)
    worker: type[TrainingTask] = _worker(resolved.settings.method)
    job = worker(opened, place, template, kind, resolved, options, data_class, origin, progress)
    if not is_first() and not options.dry_run:
        wait_for_all()  # until the first process has opened the folder
        if (out / PARTIAL).is_dir():  # not where all is done
            job.run(out / PARTIAL)
        return StageResult({})
    known = _known(opened, place, template, resolved, options)

    def work(workplace: Workplace) -> Made:
        _check_resume(workplace, options)
        left = {path.name for pattern in PASSING for path in workplace.partial.glob(pattern)}
        workplace.folder.write_anew(frozenset(left))
        wait_for_all()
        made = job.run(workplace.partial)
        told = {"template": known.configuration["template"] or {}, "notes": list(made.lines)}
        details = {**made.details, **told}
        return replace(made, details=details, lines=[*resolved.lines(), *made.lines])

    result = run_stage(
        Stage(
            verb="train",
            holds="this training",
            out=out,
            options=options,
            data_class=data_class,
            origin=origin,
            reads=[opened.finished, *base],
            known=lambda: known,
            work=work,
            told=_counts,
            plan=lambda: [*resolved.lines(), *job.plan(out)],
            seeds={"seed": options.seed},
            libraries=LIBRARIES,
            resume=True,
            keeps=PASSING,
            passing=PASSING,
        )
    )
    if result.already_done:
        wait_for_all()  # the others would wait for ever
    return result


def _worker(method: str) -> Any:
    """Which work the method is; imported when it is asked for."""
    if method == "encoder":
        from clinqa.training.encoder import EncoderJob

        return EncoderJob
    from clinqa.training.language import LoraJob

    return LoraJob


def _check_resume(place: Workplace, options: TrainOptions) -> None:
    """--resume insists that there is something to go on from."""
    if not options.resume:
        return
    found = resume_point(place.partial)
    if found.checkpoint is None:
        lost = "".join(f" ({note.partition(';')[0]})" for note in found.notes[:1])
        raise ConfigError(
            f"--resume: {place.folder.path} holds no checkpoint of this training{lost}; leave "
            "--resume out to start"
        )


def _known(
    dataset: Dataset,
    place: WeightsPlace,
    template: Template | None,
    resolved: Resolved,
    options: TrainOptions,
) -> Known:
    """What the training was told, as the manifest tells it, and the splits that are read."""
    inputs = dataset.records("train", "validation")
    configuration = {
        "dataset": dataset.manifest.fingerprint,
        "model": options.model,
        "weights_sha256": place.weights_sha256,
        "preset": resolved.preset.name,
        "settings": resolved.as_json(),
        "seed": options.seed,
        "limit": options.limit,
        **({"sample": options.sample} if options.sample else {}),
        **({"categories": sorted(options.categories)} if options.categories else {}),
        "leave_out_long": options.leave_out_long,
        "device": options.device,
        "threads": options.threads,
        "template": None if template is None else {"id": template.id, "sha256": template.sha256},
    }
    # when a checkpoint is written changes no weight
    settings = resolved.settings.model_dump(mode="json", exclude={"checkpoint_minutes"})
    decides = {"settings": settings, "inputs": [record.sha256 for record in inputs]}
    return Known(configuration, inputs, decides, frozenset({"settings", "device", "threads"}))


def _counts(manifest: Manifest) -> Mapping[str, object]:
    details = manifest.details
    shown: dict[str, object] = {
        "items": manifest.counts["items"].kept,
        "steps": details["steps"],
        "trained_weights": details["trained_weights"],
        "loss_last": details["loss_last"],
    }
    return shown | {f"validation_{name}": one for name, one in details["validation"].items()}
