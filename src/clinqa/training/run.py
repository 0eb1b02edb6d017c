"""`clinqa train`: a dataset and a model in, an ADAPTER folder out; resumable.

While it runs, checkpoints, the best state so far and the log lie in the partial folder; a second
call after a kill or Ctrl-C goes on from the last checkpoint, to the same weights.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import clinqa
from clinqa.asking.prompts import load_template
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest, StageCounts, library_versions
from clinqa.core.outfolder import PARTIAL, OutFolder, open_out, writing
from clinqa.core.progress import Progress, silent
from clinqa.dataset.reader import open_dataset
from clinqa.models.local.place import place_of
from clinqa.privacy.data_class import inherit, is_private
from clinqa.training.identity import (
    LIBRARIES,
    VERB,
    configuration_of,
    identity_of_training,
    inputs_of,
)
from clinqa.training.job import Job, JobResult
from clinqa.training.lora import check_extra
from clinqa.training.options import TrainOptions, TrainResult
from clinqa.training.prepare import check_kind, class_of, class_of_base
from clinqa.training.presets import load_preset, resolve
from clinqa.training.ranks import is_first, wait_for_all

__all__ = ["train"]


def train(
    dataset: Path, out: Path, options: TrainOptions, progress: Progress = silent
) -> TrainResult:
    """Train the model on the dataset's train split, or say that it has been done."""
    options.check()
    opened = open_dataset(dataset)
    resolved = resolve(load_preset(options.preset), options.model, options.overrides)
    kind = check_kind(opened, resolved)
    data_class = class_of(opened, options.data_class)
    torch = check_extra(resolved.settings)
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    place = place_of(options.model)
    data_class = inherit([data_class, *class_of_base(place)])
    template = None if resolved.settings.method == "encoder" else load_template(kind.name)
    worker = _worker(resolved.settings.method)
    private = is_private(data_class)
    job: Job = worker(opened, place, template, kind, resolved, options, data_class, progress)
    if options.dry_run:
        return TrainResult({}, notes=[*resolved.lines(), *job.plan(out, data_class)])
    inputs = inputs_of(opened)
    configuration = configuration_of(opened, place, template, resolved, options)
    identity = identity_of_training(configuration, data_class, inputs)
    if not is_first():
        wait_for_all()  # until the first process has opened the folder
        if (out / PARTIAL).is_dir():  # not where all is done
            job.run(out / PARTIAL)
        return TrainResult({})
    with open_out(out, identity, fresh=options.fresh, private=private, resume=True) as folder:
        if folder.done is not None:
            wait_for_all()  # the others would wait for ever
            return TrainResult(
                _counts(folder.done),
                list(folder.done.warnings),
                [f"already done: {out} holds this training"],
                already_done=True,
            )
        with writing(folder.path):
            _check_resume(folder, options)
            wait_for_all()
            started, clock = _now(), time.monotonic()
            made = job.run(folder.partial)
            manifest = Manifest(
                verb=VERB,
                data_class=data_class.value,
                identity=identity,
                clinqa=clinqa.__version__,
                command=["clinqa", *sys.argv[1:]],
                configuration=configuration,
                seeds={"seed": options.seed},
                inputs=inputs,
                counts={"items": _reconciled(made, opened, options)},
                started=started,
                finished=_now(),
                seconds=round(time.monotonic() - clock, 3),
                versions=library_versions(LIBRARIES),
                warnings=made.warnings,
                details={
                    **made.details,
                    "kind": kind.name,
                    "template": configuration["template"] or {},
                    "resumed_at_step": made.resumed_at,
                    "notes": made.notes,
                },
            )
            finished = folder.commit(manifest)
    lines = [*resolved.lines(), *made.notes]
    return TrainResult(_counts(finished), list(finished.warnings), lines)


def _worker(method: str) -> Any:
    """Which work the method is; imported when it is asked for."""
    if method == "encoder":
        from clinqa.training.encoder import EncoderJob

        return EncoderJob
    from clinqa.training.work import LoraJob

    return LoraJob


def _check_resume(folder: OutFolder, options: TrainOptions) -> None:
    """--resume insists that there is something to go on from."""
    if options.resume and not any(folder.partial.glob("checkpoint-*")):
        raise ConfigError(
            f"--resume: {folder.path} holds no checkpoint of this training; leave --resume out to "
            "start"
        )


def _reconciled(made: JobResult, dataset: Any, options: TrainOptions) -> StageCounts:
    in_split = sum(table.num_rows for table in dataset.batches("train", ["id"]))
    outside = in_split - made.read
    told = {"category": options.categories, "limit": options.limit is not None}
    reason = " or ".join(name for name, given in told.items() if given)
    return StageCounts(
        read=in_split,
        kept=made.read - made.too_long,
        rejected=made.too_long,
        out_of_scope=outside,
        rejected_by_reason={"too_long": made.too_long} if made.too_long else {},
        out_of_scope_by_reason={reason: outside} if outside else {},
    )


def _counts(manifest: Manifest) -> dict[str, object]:
    details = manifest.details
    shown: dict[str, object] = {
        "items": manifest.counts["items"].kept,
        "steps": details["steps"],
        "trained_weights": details["trained_weights"],
        "loss_last": details["loss_last"],
    }
    shown |= {f"validation_{name}": value for name, value in details["validation"].items()}
    return shown


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
