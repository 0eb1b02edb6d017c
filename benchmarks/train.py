"""Training: tokens a CPU second and peak memory, ours against a plain TRL script on the same items.

    python benchmarks/train.py DATASET [--model embedded:smollm2] [--steps 3] [--batch 8]

Every contender is a process of its own, on one thread, with the same LoRA (rank 64, all
projections, dropout 0.1), batch, number format and optimizer. A token counts once for each item it
belongs to, however a contender lays items out, so the figures compare like with like. The first
step is not counted (caches, first touches of memory); CPU time is taken and not the clock, for the
machine may be shared.

    trl           SFTTrainer on prompt and completion columns, as its documentation has it
    alone         ours, no beginning shared: head on learnt positions only
    shared        ours, up to `--together` items of a report in a batch
    floor         one forward and backward pass over the tokens that `shared` computes, no trainer
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CONTENDERS = ("trl", "alone", "shared", "floor")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def main() -> None:
    """Run the contenders one after the other, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--model", default="embedded:smollm2")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--together", type=int, default=4)
    parser.add_argument("--contender", choices=CONTENDERS)
    arguments = parser.parse_args()
    if arguments.contender:
        print(json.dumps(measured(arguments)))
        return
    print(f"{'':<8}{'tokens/CPU s':>13}{'CPU s/step':>12}{'computed':>10}{'peak GB':>9}{'×':>7}")
    base = None
    for name in CONTENDERS:
        command = [sys.executable, __file__, *sys.argv[1:], "--contender", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout.strip().splitlines()[-1])
        rate = row["tokens"] / row["cpu"]
        base = base or rate
        print(
            f"{name:<8}{rate:>13,.0f}{row['cpu'] / row['steps']:>12.1f}"
            f"{row['computed'] / row['tokens']:>10.0%}{row['peak']:>9.2f}{rate / base:>7.2f}",
            flush=True,
        )


def measured(arguments: argparse.Namespace) -> dict[str, float]:
    """One contender: tokens and CPU seconds of all steps but the first, and peak memory."""
    from clinqa.models.weights import import_torch

    torch = import_torch("train")
    torch.set_num_threads(1)
    found: dict[str, float]
    if arguments.contender == "trl":
        found = plain_trl(arguments)
    elif arguments.contender == "floor":
        found = floor(arguments, torch)
    else:
        found = ours(arguments, share=arguments.contender == "shared")
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return found


class Clock:
    """CPU seconds after the first step; a callback of the trainer."""

    def __init__(self) -> None:
        self.first = self.last = 0.0

    def callback(self) -> Any:
        from transformers import TrainerCallback

        clock = self

        class Ticks(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                clock.last = time.process_time()
                if state.global_step == 1:
                    clock.first = clock.last

        return Ticks()


def job_of(arguments: argparse.Namespace, share: bool) -> Any:
    """The training as `clinqa train` prepares it."""
    from clinqa.asking.prompts import load_template
    from clinqa.core.records import DataClass
    from clinqa.core.stage import silent
    from clinqa.dataset.reader import open_dataset
    from clinqa.models.local.place import place_of
    from clinqa.training.language import LoraJob
    from clinqa.training.presets import load_preset, resolve
    from clinqa.training.train_options import TrainOptions

    told = [
        f"batch_size={arguments.batch}", "accumulation=1", f"max_steps={arguments.steps + 1}",
        f"together={arguments.together if share else 1}", f"share={str(share).lower()}",
        "warmup=0", "scheduler=constant",
    ]  # fmt: skip
    dataset, model = open_dataset(arguments.dataset), arguments.model
    options = TrainOptions(model=model, preset="echoqa", overrides=told, device="cpu")
    return LoraJob(
        dataset,
        place_of(model),
        load_template("long_form"),
        dataset.kind,
        resolve(load_preset("echoqa"), model, told),
        options,
        DataClass.RESTRICTED,
        silent,
    )


def ours(arguments: argparse.Namespace, *, share: bool) -> dict[str, float]:
    from clinqa.training.lora import load_base, lora_config
    from clinqa.training.trainer import AnswerTrainer
    from clinqa.training.trainer import arguments as trainer_arguments

    job = job_of(arguments, share)
    settings, clock = job.resolved.settings, Clock()
    base = load_base(job.place, job.tokenizer, settings, "cpu")
    with tempfile.TemporaryDirectory() as scratch:
        trainer = AnswerTrainer(
            model=base.model,
            tokenizer=job.tokenizer,
            settings=settings,
            train=job.train.examples,
            validation=[],
            args=trainer_arguments(
                settings, Path(scratch), seed=0, device="cpu", dtype=base.dtype,
                gradient_checkpointing=False,
            ),
            config=lora_config(base.model, settings),
            seed=0,
            pad=0,
            choice=None,
            share=job.shares,
            callbacks=[clock.callback()],
        )  # fmt: skip
        before = []
        step = trainer.training_step

        def counted(*given: Any, **more: Any) -> Any:
            before.append((trainer.tally.useful, trainer.tally.computed))
            return step(*given, **more)

        trainer.training_step = counted
        trainer.train()
    tally = trainer.tally
    return {
        "tokens": tally.useful - before[1][0],
        "computed": tally.computed - before[1][1],
        "cpu": clock.last - clock.first,
        "steps": arguments.steps,
    }


def plain_trl(arguments: argparse.Namespace) -> dict[str, float]:
    """The script of TRL's documentation: prompt and completion, LoRA, completion loss."""
    import datasets
    import peft
    import trl

    from clinqa.training.lora import load_base

    job = job_of(arguments, share=False)
    base = load_base(job.place, job.tokenizer, job.resolved.settings, "cpu")
    rows, lengths = [], []
    for example in job.train.examples:
        rows.append(
            {"input_ids": example.tokens, "labels": [-100] * example.answer_from + example.answer}
        )
        lengths.append(len(example.tokens))
    clock, seen = Clock(), []
    inner = trl.trainer.sft_trainer.DataCollatorForLanguageModeling(pad_token_id=0)

    def collate(batch: Any) -> Any:
        made = inner(batch)
        seen.append((sum(len(row["input_ids"]) for row in batch), made["input_ids"].numel()))
        return made

    with tempfile.TemporaryDirectory() as scratch:
        trainer = trl.SFTTrainer(
            model=base.model,
            args=trl.SFTConfig(
                output_dir=scratch, max_steps=arguments.steps + 1, learning_rate=2e-4,
                per_device_train_batch_size=arguments.batch, bf16=base.dtype == "bfloat16",
                use_cpu=True, gradient_checkpointing=False, max_length=None, report_to="none",
                save_strategy="no", disable_tqdm=True, seed=0,
                lr_scheduler_type="constant", dataloader_pin_memory=False,
            ),
            data_collator=collate,
            train_dataset=datasets.Dataset.from_list(rows),
            processing_class=job.tokenizer,
            peft_config=peft.LoraConfig(
                r=64, lora_alpha=16, lora_dropout=0.1, target_modules=TARGETS, task_type="CAUSAL_LM"
            ),
            callbacks=[clock.callback()],
        )  # fmt: skip
        trainer.train()
    used = seen[1 : arguments.steps + 1]
    return {
        "tokens": sum(n for n, _ in used),
        "computed": sum(n for _, n in used),
        "cpu": clock.last - clock.first,
        "steps": arguments.steps,
    }


def floor(arguments: argparse.Namespace, torch: Any) -> dict[str, float]:
    """What the arithmetic of `shared` costs with nothing around it."""
    import peft

    from clinqa.training.batches import Collator
    from clinqa.training.lora import load_base, lora_config
    from clinqa.training.order import Order
    from clinqa.training.steps import learnt_logits, token_losses

    job = job_of(arguments, share=True)
    settings = job.resolved.settings
    base = load_base(job.place, job.tokenizer, settings, "cpu")
    model = peft.get_peft_model(base.model, lora_config(base.model, settings))
    examples = job.train.examples
    collate = Collator(examples, pad=0, row_tokens=settings.row_tokens, share=job.shares)
    order = Order(
        [one.item_id for one in examples], [one.context for one in examples], seed=0,
        batch_size=arguments.batch, together=settings.together,
    )  # fmt: skip
    batches = [
        collate([{"number": n} for n in numbers])
        for numbers, _ in zip(order, range(arguments.steps + 1), strict=False)
    ]
    start = 0.0
    for number, batch in enumerate(batches):
        if number == 1:
            start = time.process_time()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=base.dtype == "bfloat16"):
            logits, targets = learnt_logits(model, model.get_output_embeddings(), batch)
            token_losses(logits, targets).mean().backward()
    return {
        "tokens": sum(batch["useful"] for batch in batches[1:]),
        "computed": sum(batch["input_ids"].numel() for batch in batches[1:]),
        "cpu": time.process_time() - start,
        "steps": arguments.steps,
    }


if __name__ == "__main__":
    main()
