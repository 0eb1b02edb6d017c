"""A small dataset folder with texts of our choice, and models that behave as a test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.core.hashing import sha256_file
from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.kinds.long_form.columns import LONG_FORM
from clinqa.models import registry
from clinqa.models.protocol import Model, ModelOptions, Output, Prompt, Sampling

CATEGORIES = ("mitral_regurgitation", "lv_wall", "aortic_stenosis")
WORDS = {0: "No", 1: "Mild", 2: "Moderate", 3: "Severe"}


def row(
    study: str, group: str, category: str, level: int, *, context: str = "", question: str = ""
) -> dict[str, object]:
    """One item; the answer is the level in words."""
    name = category.replace("_", " ")
    question = question or f"What does the report say about {name}?"
    answer = f"{WORDS[level]} {name}."
    return {
        "id": item_id("long_form", study, "text", None, question, answer),
        "kind": "long_form", "group": group, "question": question,
        "context": context or f"FINDINGS: {answer} Study {study}.", "answer": answer,
        "category": category, "source_id": study, "spans": [], "method": "lexicon",
        "structure": "MV", "level": level, "question_type": "finding", "statement_seen": False,
    }  # fmt: skip


def rows(studies: Sequence[str]) -> list[dict[str, object]]:
    """An item of each category for each study; levels go round."""
    return [
        row(study, f"p-{study}", category, (place + number) % 4)
        for place, study in enumerate(studies)
        for number, category in enumerate(CATEGORIES)
    ]


def write_dataset(
    folder: Path,
    *,
    test: Sequence[dict[str, object]] | None = None,
    train: Sequence[dict[str, object]] | None = None,
    data_class: str = "public",
    row_group: int = 10,
) -> Path:
    """A complete folder with 30 items of train and 18 of test unless they are given."""
    (folder / "data").mkdir(parents=True)
    splits = {
        "train": rows([f"a{n}" for n in range(10)]) if train is None else train,
        "validation": [],
        "test": rows([f"t{n}" for n in range(6)]) if test is None else test,
    }
    outputs = []
    for split, items in splits.items():
        name = f"data/{split}-00000-of-00001.parquet"
        table = pa.Table.from_pylist(list(items), schema=LONG_FORM)
        pq.write_table(table, folder / name, row_group_size=row_group)
        size = (folder / name).stat().st_size
        outputs.append(FileRecord(name, sha256_file(folder / name), size, len(items)))
    manifest = Manifest(
        verb="build echo",
        data_class=data_class,
        identity={"made": [record.sha256 for record in outputs]},
        clinqa="0",
        outputs=outputs,
    )
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def predictions(run: Path) -> list[dict[str, object]]:
    """The rows of a run."""
    return pq.ParquetFile(run / "predictions.parquet").read().to_pylist()


Reply = Callable[[Prompt], Output]


def said(text: str, *, finish: str = "stop", error: str = "") -> Output:
    return Output(text, finish, 10, 2, 0.0, error)


class Made:
    """A model that answers with a function, and remembers what it was asked."""

    deterministic = True

    def __init__(self, reply: Reply, *, deterministic: bool = True, backwards: bool = False):
        self.name = "made:model"
        self.deterministic = deterministic
        self._reply, self._backwards = reply, backwards
        self.asked: list[Prompt] = []
        self.options: list[ModelOptions] = []
        self.closed = 0

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        numbered = list(enumerate(prompts))
        for index, prompt in reversed(numbered) if self._backwards else numbered:
            self.asked.append(prompt)
            yield index, self._reply(prompt)

    def count_tokens(self, prompt: Prompt) -> int:
        return sum(len(message.text) for message in prompt.messages) // 4

    def close(self) -> None:
        self.closed += 1


_installed: list[Model] = []


def opener(rest: str, options: ModelOptions) -> Model:
    """What the registry calls for `made:…`."""
    model = _installed[-1]
    if isinstance(model, Made):
        model.options.append(options)
    return model


def install(monkeypatch: pytest.MonkeyPatch, model: Model) -> None:
    """Let `made:model` be this model."""
    _installed.append(model)
    kind = registry.ModelKind("made", "asking.made_dataset", "opener", "of a test")
    monkeypatch.setitem(registry.KINDS, "made", kind)
