"""`--to lm-eval`: a task of the language model evaluation harness, with its data beside it.

Run in the folder: lm-eval run --include_path . --tasks NAME --model ...
"""

from __future__ import annotations

import yaml

from clinqa.dataset.export.splits import SplitItems, jsonl
from clinqa.kinds.facets.exports import Exports

__all__ = ["lm_eval"]


def lm_eval(splits: SplitItems, facet: Exports, name: str) -> dict[str, str]:
    """`NAME.yaml` and a JSONL file a split."""
    task = f"clinqa_{name}"
    filled = {split: f"{split}.jsonl" for split, items in splits.items() if items}
    body: dict[str, object] = {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": filled},
        "output_type": "",  # of the kind, in this place
        "test_split": "test" if "test" in filled else next(iter(filled), "test"),
        **facet.task,
        "metadata": {"version": 1.0},
    }
    if "train" in filled:
        body |= {"training_split": "train", "fewshot_split": "train"}
    if "validation" in filled:
        body["validation_split"] = "validation"
    files = jsonl(
        splits,
        lambda item: {
            "id": item["id"],
            **{column: item[column] for column in facet.told},
            **facet.document(item),
            "topic": item["category"],
        },
    )
    files[f"{task}.yaml"] = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    return files
