"""From a preset's settings to the arguments of transformers' trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clinqa.training.presets import Settings

__all__ = ["common_arguments"]

_SCHEDULERS = {
    "cosine": "cosine",
    "linear": "linear",
    "constant": "constant_with_warmup",
}


def common_arguments(settings: Settings, folder: Path, *, seed: int, device: str) -> dict[str, Any]:
    """What TRL's and transformers' configurations have in common."""
    return {
        "output_dir": str(folder),
        "num_train_epochs": settings.epochs,
        "max_steps": -1 if settings.max_steps is None else settings.max_steps,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": _SCHEDULERS[settings.scheduler],
        "warmup_steps": settings.warmup,
        "optim": "adamw_torch",
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.max_grad_norm,
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "bf16": False,
        "fp16": False,
        "use_cpu": device == "cpu",
        "seed": seed,
        "data_seed": seed,
        "logging_steps": 1,
        "logging_first_step": True,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",  # `watch` decides when
        "save_total_limit": 1,
        "eval_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "log_level": "error",
        "remove_unused_columns": False,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": False,
        "push_to_hub": False,
    }
