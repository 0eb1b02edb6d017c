"""Small datasets of both kinds, and a tiny model trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.hashing import sha256_file
from clinqa.core.ids import item_id
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.stage import Progress, StageResult, silent
from clinqa.kinds.long_form.columns import LONG_FORM
from clinqa.kinds.true_false.columns import TRUE_FALSE
from clinqa.training.train import train
from clinqa.training.train_options import TrainOptions

WORDS = ["left", "right", "aortic", "mitral", "valve", "atrium", "ventricle", "pressure"]
STATES = ["normal", "mildly dilated", "severely dilated", "thickened"]
FAST = (
    "precision=f32",
    "quantization=none",
    "lora_rank=4",
    "batch_size=4",
    "accumulation=1",
    "learning_rate=5e-3",
)


def long_item(study: str, part: str, state: str) -> dict[str, object]:
    question = f"What of the {part}?"
    answer = f"The {part} is {state}."
    context = f"{study}: the report says the {part} is {state}. " + " ".join(
        f"The {word} is normal." for word in WORDS if word != part
    )
    return {
        "id": item_id("long_form", study, "text", None, question, answer),
        "kind": "long_form", "group": f"p-{study}", "question": question, "context": context,
        "answer": answer, "category": part, "source_id": study, "spans": [], "method": "lexicon",
        "structure": "LA", "level": 0, "question_type": "finding", "statement_seen": False,
    }  # fmt: skip


def pair_items(number: int, split: str) -> list[dict[str, object]]:
    """A statement that is True because it says normal, and its twin that is False."""
    found = []
    for label, word in ((True, "normal"), (False, "dilated")):
        statement = f"The {WORDS[number % 8]} {WORDS[(number // 8) % 8]} {number} is {word}."
        source, answer = f"{split}{number}", str(label)
        found.append(
            {
                "id": item_id("true_false", source, "page", 1, statement, answer),
                "kind": "true_false", "group": f"g-{source}", "question": statement,
                "context": "", "answer": answer, "category": "rate", "source_id": source,
                "spans": [], "method": "rules", "label": label, "pair_id": source, "mode": "text",
                "source_text": "",
            }
        )  # fmt: skip
    return found


def long_items(studies: Sequence[str]) -> list[dict[str, object]]:
    return [
        long_item(study, WORDS[(place + n) % 8], STATES[(place + n) % 4])
        for place, study in enumerate(studies)
        for n in range(3)
    ]


def write(
    folder: Path,
    kind: str = "long_form",
    *,
    train: Sequence[dict[str, object]] | None = None,
    validation: Sequence[dict[str, object]] | None = None,
    test: Sequence[dict[str, object]] | None = None,
    data_class: str = "public",
) -> Path:
    """A complete dataset folder, small unless items are given."""
    (folder / "data").mkdir(parents=True)
    long = kind == "long_form"
    made = {
        "train": (8, "a", train),
        "validation": (3, "v", validation),
        "test": (3, "t", test),
    }
    outputs = []
    for split, (count, letter, given) in made.items():
        items = given
        if items is None and long:
            items = long_items([f"{letter}{n}" for n in range(count)])
        elif items is None:
            items = [item for n in range(count) for item in pair_items(n, letter)]
        name = f"data/{split}-00000-of-00001.parquet"
        schema = LONG_FORM if long else TRUE_FALSE
        pq.write_table(pa.Table.from_pylist(list(items or []), schema=schema), folder / name)
        size = (folder / name).stat().st_size
        outputs.append(FileRecord(name, sha256_file(folder / name), size, len(items or [])))
    manifest = Manifest(
        verb="build",
        data_class=data_class,
        identity={"made": [record.sha256 for record in outputs]},
        clinqa="0",
        outputs=outputs,
    )
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def trained(
    dataset: Path,
    base: Path,
    out: Path,
    *overrides: str,
    preset: str = "echoqa",
    progress: Progress = silent,
    **given: object,
) -> StageResult:
    """The tiny model trained on the CPU, one thread."""
    options = TrainOptions(
        model=f"hf:{base}",
        preset=preset,
        overrides=[*FAST, *overrides],
        device="cpu",
        threads=1,
        **given,  # type: ignore[arg-type]
    )
    return train(dataset, out, options, progress)
