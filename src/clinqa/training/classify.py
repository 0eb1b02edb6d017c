"""The trainer of two-class encoders: our order of items, weights for classes, our validation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.models.encoder import padded
from clinqa.training.order import Order
from clinqa.training.presets import Settings
from clinqa.training.settings import common_arguments
from clinqa.training.texts import Text
from clinqa.training.trainer import StepTally, numbers_of
from clinqa.training.validation import Scores, of_classes

Trainer: Any = object
try:
    import torch
    import transformers
    from torch.utils.data import DataLoader

    Trainer = transformers.Trainer
except ImportError:
    torch = None  # the extra `train` is not installed; lora.py says so to who asks

__all__ = ["ClassTrainer"]


class ClassTrainer(Trainer):  # type: ignore[misc]
    """Learns two classes from texts; `words` are what they are called."""

    control: Any

    def __init__(
        self,
        *,
        model: Any,
        tokenizer: Any,
        settings: Settings,
        train: Sequence[Text],
        validation: Sequence[Text],
        folder: Path,
        seed: int,
        torch_seed: int,
        words: tuple[str, str],
        device: str,
        callbacks: Sequence[Any],
    ) -> None:
        self._settings, self._seed, self._words = settings, seed, words
        self._train, self._validation = train, validation
        self._pad = int(model.config.pad_token_id or 0)
        self.tally = StepTally()
        given = common_arguments(settings, folder, seed=torch_seed, device=device)
        super().__init__(
            model=model,
            args=transformers.TrainingArguments(**given),
            data_collator=self._collate,
            train_dataset=numbers_of(train),
            eval_dataset=numbers_of(validation) if validation else None,
            processing_class=tokenizer,
            callbacks=list(callbacks),
        )
        self.model_accepts_loss_kwargs = True  # the loss is divided by `num_items_in_batch`
        self._loss_shifts_labels = False

    def get_train_dataloader(self) -> Any:
        """Batches in the order that seed and epoch decide."""
        names = [text.item_id for text in self._train]
        order = Order(
            names,
            names,
            seed=self._seed,
            batch_size=self._settings.batch_size,
            accumulation=self._settings.accumulation,
            lengths=[len(text.tokens) for text in self._train],
        )
        loader = DataLoader(self.train_dataset, batch_sampler=order, collate_fn=self._collate)
        return self.accelerator.prepare(loader)

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The mean over the step's items of weight x negative log-likelihood."""
        rows = {name: inputs[name] for name in ("input_ids", "token_type_ids", "attention_mask")}
        found = model(**rows)
        losses = torch.nn.functional.cross_entropy(
            found.logits.float(), inputs["labels"], reduction="none"
        )
        count = len(losses) if num_items_in_batch is None else num_items_in_batch
        loss = (losses * inputs["weights"]).sum() / count
        if not torch.isfinite(loss):
            ids = ", ".join(sorted(self._train[n].item_id for n in inputs["numbers"].tolist()))
            raise ModelError(
                f"the loss is no finite number at step {self.state.global_step + 1}; items of the "
                f"batch: {ids}. Look at them, or lower learning_rate"
            )
        self.tally.useful += int(inputs["attention_mask"].sum())
        self.tally.computed += inputs["input_ids"].numel()
        self.tally.items += len(losses)
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes
        return (loss, found) if return_outputs else loss

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Not counted."""
        return 0

    def evaluate(self, *_: Any, metric_key_prefix: str = "eval", **__: Any) -> dict[str, float]:
        """Loss, accuracy and macro-F1 of the validation items."""
        scores = self._scores(self._validation)
        found = {f"{metric_key_prefix}_{name}": value for name, value in scores.named().items()}
        self.log(dict(found))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
        return found

    def _scores(self, texts: Sequence[Text]) -> Scores:
        model = self.model_wrapped
        was_training = model.training
        model.eval()
        order = sorted(range(len(texts)), key=lambda n: (len(texts[n].tokens), n))
        losses: dict[int, float] = {}
        said: dict[int, int] = {}
        with torch.no_grad():
            for start in range(0, len(order), 32):
                batch = self._rows([texts[n] for n in order[start : start + 32]])
                batch = self._prepare_inputs(batch)
                labels = batch.pop("labels")
                batch.pop("weights")
                logits = model(**batch).logits.float()
                values = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
                for place, n in enumerate(order[start : start + 32]):
                    losses[n] = float(values[place])
                    said[n] = int(logits[place, 1] > logits[place, 0])
        if was_training:
            model.train()
        count = len(texts)
        truth = [text.label for text in texts]
        answers = [said[n] for n in range(count)]
        hits = sum(a == b for a, b in zip(truth, answers, strict=True)) / count
        loss = sum(losses.values()) / count
        return Scores(count, loss, hits, hits, of_classes(truth, answers, self._words))

    def _collate(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        numbers = [int(row["number"]) for row in rows]
        batch = self._rows([self._train[number] for number in numbers])
        batch["numbers"] = torch.tensor(numbers)
        return batch

    def _rows(self, texts: Sequence[Text]) -> dict[str, Any]:
        batch = padded([(text.tokens, text.types) for text in texts], self._pad, "cpu")
        batch["labels"] = torch.tensor([int(text.label) for text in texts])
        batch["weights"] = torch.tensor([text.weight for text in texts])
        return batch
