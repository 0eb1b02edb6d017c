"""From a trained model to the files of an ADAPTER: saved, read back, proven, described."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from clinqa.core.cells import csv_text
from clinqa.core.errors import CheckFailed, MissingExtra
from clinqa.core.manifest import StageCounts
from clinqa.core.origin import banner_of, with_origin
from clinqa.core.outfolder import write_durably
from clinqa.core.records import DataClass
from clinqa.core.stage import Made
from clinqa.models.local.adapter import WEIGHTS, apply_adapter, grow
from clinqa.models.local.canary import Canary, apart, canary_scores, saved_canaries
from clinqa.models.local.runtime import load_plain
from clinqa.models.trained import CANARIES, TRAINED_ON, seen_rows, trained_folder
from clinqa.models.weights import folder_sha256
from clinqa.present.canvas import marked
from clinqa.present.curves import plot_curves
from clinqa.training.checkpoints import saving
from clinqa.training.lora import Base
from clinqa.training.prepare import BEST, LOG
from clinqa.training.ranks import is_first, processes
from clinqa.training.watch import Watch, read_log

__all__ = [
    "describe_training",
    "finish_lora",
    "made_of",
    "place_files",
    "write_seen",
    "write_told",
]

CURVES = "curves.svg"
CSV = "curves.csv"
CARD = "README.md"
_CONFIG = "adapter_config.json"
_SETS = ("target_modules", "modules_to_save", "exclude_modules", "layers_to_transform")
_CLOCK = ("seconds",)
"""What the log holds that differs from run to run: the same training leaves the same files."""
_SAME = {"float32": 1e-4, "bfloat16": 0.05, "float16": 0.01}
"""How far a reloaded adapter's log-probabilities may be from those in memory, on average."""


def finish_lora(job: Any, base: Base, trainer: Any, watch: Watch, folder: Path) -> Made:
    """Save the chosen state, read it back, prove that it is what was trained, describe it."""
    chosen = folder / BEST if watch.best else folder / "final"
    if not watch.best:
        trainer.save_model(str(chosen))
    canaries = _canaries(job)
    at_end = not watch.best or watch.best["step"] == trainer.state.global_step
    in_memory = None
    if at_end and not base.quantized and processes() == 1:
        trainer.model.eval()
        in_memory = canary_scores(trainer.model.get_base_model(), job.renderer, canaries)
    details = describe_training(job, trainer, watch, base.device, base.dtype)
    if not is_first():
        return Made()
    place_files(chosen, folder, (WEIGHTS, _CONFIG))
    _name_base(folder / _CONFIG, job.place.name)
    if job.rows:
        with saving(folder):
            job.tokenizer.save_pretrained(str(folder))
    trainer.model = trainer.model_wrapped = None
    trainer.optimizer = trainer.lr_scheduler = None
    gc.collect()
    before, after, facts = _reloaded(job, base, folder, canaries)
    _compare(in_memory, after, base.dtype)
    saved = saved_canaries(canaries, before, after, facts)
    _write(folder / CANARIES, json.dumps(saved, indent=1) + "\n", job.private)
    write_seen(folder, job, watch)
    details |= {
        "quantized": base.quantized,
        "embedding_rows": job.rows,
    }
    warnings = _warnings(before, after)
    write_told(folder, watch, job, details)
    return made_of(job, watch, details, base.notes, warnings)


def made_of(
    job: Any,
    watch: Watch,
    details: dict[str, Any],
    notes: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Made:
    """What a job came to: of the items of train those that were learnt, left out, or not read."""
    options = job.options
    in_split = sum(table.num_rows for table in job.dataset.batches("train", ["id"]))
    told = {"category": options.categories, "limit": options.limit is not None}
    reason = " or ".join(name for name, given in told.items() if given)
    train = job.train
    outside, too_long = in_split - train.read, train.too_long
    counts = StageCounts(
        read=in_split,
        kept=train.read - too_long,
        rejected=too_long,
        out_of_scope=outside,
        rejected_by_reason={"too_long": too_long} if too_long else {},
        out_of_scope_by_reason={reason: outside} if outside else {},
    )
    return Made(
        {"items": counts},
        warnings=[*watch.notes, *_one_class(job), *_unlearnt(details), *warnings],
        details={**details, "resumed_at_step": watch.resumed_at},
        lines=notes,
    )


def _one_class(job: Any) -> list[str]:
    """What is to be said where validation holds one of two classes only."""
    labels = {example.label for example in job.validation.examples}
    if job.trains.classes is None or len(labels) != 1:
        return []
    [label] = labels
    return [
        f"all {len(job.validation.examples):,} items of validation are "
        f"{job.trains.classes[label or 0]}: accuracy and macro-F1 on them say little"
    ]


def _unlearnt(details: Mapping[str, Any]) -> list[str]:
    """What is to be said where the loss ended well above where it began."""
    first, last = details["loss_first"], details["loss_last"]
    if first is None or not last > max(2 * first, first + 1):
        return []
    return [
        f"the loss rose from {first:.3g} at the first step to {last:.3g} at the last: the training "
        "diverged; lower learning_rate"
    ]


def _canaries(job: Any) -> tuple[Canary, ...]:
    """Made-up prompts of the kind of item that is trained, in the wording it is trained with."""
    made = job.trains.canaries
    return tuple(
        Canary(job.encoder.messages(asked, context), answer) for context, asked, answer in made
    )


def _validation_at(step: int, log: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What validation measured last at a step."""
    scored = [row for row in log if "eval_loss" in row and row["step"] == step]
    return {
        name.removeprefix("eval_"): round(value, 6)
        for name, value in (scored[-1] if scored else {}).items()
        if name.startswith("eval_")
    }


def describe_training(
    job: Any, trainer: Any, watch: Watch, device: str, dtype: str
) -> dict[str, Any]:
    """What happened, for the manifest."""
    log = read_log(watch.folder / LOG)
    steps = [row for row in log if "loss" in row]
    step = watch.best["step"] if watch.best else trainer.state.global_step
    return {
        "base": {
            "name": job.place.name,
            "weights_sha256": job.place.weights_sha256,
            "folder_sha256": folder_sha256(job.place.folder),
        },
        "kind": job.kind.name,
        "items_train": len(job.train.items),
        "groups_train": len({item.group for item in job.train.items}),
        "items_validation": len(job.validation.items),
        "validation_too_long": job.validation.too_long,
        "steps": trainer.state.global_step,
        "kept_step": step,
        "best": {k: v for k, v in watch.best.items() if k != "higher"},
        "epochs": round(float(trainer.state.epoch or 0), 4),
        "trained_weights": sum(p.numel() for p in trainer.model.parameters() if p.requires_grad),
        "loss_first": steps[0]["loss"] if steps else None,
        "loss_last": steps[-1]["loss"] if steps else None,
        "validation": _validation_at(step, log),
        "device": device,
        "dtype": dtype,
        "processes": processes(),
        "tokens": steps[-1]["tokens"] if steps else 0,
        "computed_tokens": steps[-1]["computed_tokens"] if steps else 0,
        "training_seconds": steps[-1]["seconds"] if steps else None,
    }


def place_files(chosen: Path, folder: Path, names: Sequence[str]) -> None:
    """Copy the files of the chosen state; it stays, for a call that has to finish this one."""
    for name in names:
        shutil.copyfile(chosen / name, folder / f"{name}.tmp")
        os.replace(folder / f"{name}.tmp", folder / name)


def write_seen(folder: Path, job: Any, watch: Watch) -> None:
    """Hashes of what was trained on, and of what chose the state that was kept.

    A base that was itself trained by clinqa has learnt too: what it was trained on stays known.
    """
    chose = job.validation.items if watch.best else []
    tables = [
        seen_rows(((i.id, i.group, i.question, i.context) for i in items), role)
        for role, items in (("train", job.train.items), ("validation", chose))
    ]
    if (before := trained_folder(job.place.folder)) is not None:
        tables.append(before.hashes())
    path = folder / TRAINED_ON
    table = pa.concat_tables(tables).sort_by([("role", "ascending"), ("item", "ascending")])
    pq.write_table(table, path, compression="zstd")
    if job.private:
        path.chmod(0o600)


def write_told(folder: Path, watch: Watch, job: Any, details: dict[str, Any]) -> None:
    """Write curves and card."""
    log = read_log(folder / LOG)
    columns = sorted({key for row in log for key in row} - {"step", *_CLOCK})
    rows = [[row["step"], *(row.get(key, "") for key in columns)] for row in log]
    _write(folder / CSV, csv_text(["step", *columns], rows), job.private)
    try:
        with marked(job.origin):
            plot_curves(
                log,
                folder / CURVES,
                title=f"{job.place.name}, preset {job.resolved.preset.name}",
                private=job.private,
                best_step=details["kept_step"] if watch.best else None,
            )
    except MissingExtra:
        details["curves"] = "not drawn: matplotlib is not installed"
    _write(folder / CARD, render_card(job, details), job.private)


def _reloaded(
    job: Any, base: Base, folder: Path, canaries: Sequence[Canary]
) -> tuple[list[list[float]], list[list[float]], dict[str, str]]:
    """Log-probabilities of the canaries without and with the adapter, read back from its files."""
    torch = importlib.import_module("torch")
    if base.device != "cpu":
        torch.cuda.empty_cache()
    model = load_plain(job.place.name, job.place.folder, base.device, base.dtype)
    if job.rows:
        grow(model, job.rows)
    before = canary_scores(model, job.renderer, canaries)
    model = apply_adapter(torch, model, folder, None)
    after = canary_scores(model, job.renderer, canaries)
    return before, after, {"dtype": base.dtype, "device": base.device}


def _compare(memory: list[list[float]] | None, read: list[list[float]], dtype: str) -> None:
    """CheckFailed if what was read back is not what was trained."""
    if memory is None:
        return
    off = apart(memory, read)
    if not off <= _SAME[dtype]:
        raise CheckFailed(
            f"the saved adapter does not answer like the trained model: log-probabilities are off "
            f"by {off:.3g}; nothing was kept but the checkpoints"
        )


def _warnings(before: list[list[float]], after: list[list[float]]) -> list[str]:
    moved = apart(before, after)
    if not moved < 0.05:
        return []
    return [
        f"the adapter hardly changes the canaries (by {moved:.3g} on average); it was trained "
        "little, and in another number format its proof may be refused"
    ]


def _name_base(path: Path, name: str) -> None:
    """The base by the name it is opened under, not by a path of this machine; and names in order,
    which PEFT writes as a set happens to give them."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = name
    for key in _SETS:
        if isinstance(config.get(key), list):
            config[key] = sorted(config[key])
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _write(path: Path, text: str, private: bool) -> None:
    write_durably(path, text.encode("utf-8"), private=private)


_BANNERS = {
    DataClass.RESTRICTED: "It was trained on text whose use is restricted, and a model may repeat "
    "what it was trained on. Keep it where the source may be kept.",
    DataClass.PHI: "It was trained on protected health information, and a model may repeat what it "
    "was trained on. Keep it inside the institution that holds the records.",
}


def render_card(job: Any, details: dict[str, Any]) -> str:
    """Markdown with a front matter. Counts and settings only, no text of a record."""
    dataset, resolved = job.dataset, job.resolved
    data_class = job.data_class
    encoder = resolved.settings.method == "encoder"
    front = {
        "library_name": "transformers" if encoder else "peft",
        "base_model": job.place.name,
        "pipeline_tag": "text-classification" if encoder else "text-generation",
        "tags": ["clinqa", resolved.preset.name, *([] if encoder else ["lora"])],
        "data_class": data_class.value,
        **with_origin(job.origin),
    }
    parts = [
        "---\n" + yaml.safe_dump(front, sort_keys=False) + "---",
        f"# {'Classifier' if encoder else 'Adapter'} of {job.place.name}",
    ]
    if banner := _BANNERS.get(data_class):
        parts.append(f"> **{data_class.value}.** {banner}")
    if banner := banner_of(job.origin):
        parts.append(banner.strip())
    parts.append(
        f"Trained by `clinqa train` with preset `{resolved.preset.name}` "
        f"({resolved.preset.says}) on {details['items_train']:,} {details['kind']} items of "
        f"{details['groups_train']:,} groups of the dataset with the fingerprint "
        f"`{dataset.manifest.fingerprint[:16]}`: {details['steps']:,} steps, "
        f"{details['epochs']:g} epochs, on {details['device']} in {details['dtype']}."
    )
    parts.append("## Validation\n\n" + _validation(details))
    parts.append("## Settings\n\n" + _settings(resolved))
    parts.append("## Use\n\n" + _use(job, encoder))
    parts.append(
        "## Limits\n\nIt has learnt the wording of one dataset. Figures on the test split come "
        "from `clinqa predict` and `clinqa score`; predict refuses items that were trained on "
        "(their hashes stand in `trained_on.parquet`). Not for decisions about patients."
    )
    return "\n\n".join(parts) + "\n"


def _validation(details: dict[str, Any]) -> str:
    scores = details["validation"]
    if not scores:
        return "None: the validation split was empty."
    rows = [f"| {name} | {value:.4f} |" for name, value in scores.items()]
    chosen = details["best"]
    which = (
        f"The state after step {chosen['step']:,} was kept, the best by {chosen['by']}."
        if chosen
        else "The last state was kept."
    )
    table = "\n".join(["| metric | value |", "|---|---|", *rows])
    return f"{which} Of {details['items_validation']:,} items, teacher forced:\n\n{table}"


def _settings(resolved: Any) -> str:
    rows = [
        f"| {key} | {entry['value']} | {entry['source']} |"
        for key, entry in resolved.as_json().items()
    ]
    return "\n".join(["| key | value | source |", "|---|---|---|", *rows])


def _use(job: Any, encoder: bool) -> str:
    if encoder:
        command = "clinqa predict DATASET --model encoder:THIS_FOLDER --out RUN"
    else:
        command = f"clinqa predict DATASET --model {job.place.name} --adapter THIS_FOLDER --out RUN"
    return f"```\n{command}\n```"
