"""The trainer of two-class encoders: our order of items, weights for classes, our validation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinqa.models.encoder import padded
from clinqa.training.prepare import Text
from clinqa.training.presets import Settings
from clinqa.training.steps import OwnSteps, StepTally, common_arguments, numbers_of
from clinqa.training.validation import Scores, of_classes

Trainer: Any = object
try:
    import torch
    import transformers

    Trainer = transformers.Trainer
except ImportError:
    torch = None  # the extra `train` is not installed; lora.py says so to who asks

__all__ = ["ClassTrainer"]


class ClassTrainer(OwnSteps, Trainer):  # type: ignore[misc]
    """Learns two classes from texts; `words` are what they are called."""

    advice = "or lower learning_rate"

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
        return self._loader(names, lengths=[len(text.tokens) for text in self._train])

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
        useful = inputs["attention_mask"].sum()
        loss = self._lost(losses, inputs, num_items_in_batch, useful, len(losses))
        return (loss, found) if return_outputs else loss

    def validation_scores(self) -> Scores:
        """Of the validation items."""
        texts, model = self._validation, self.model_wrapped
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
