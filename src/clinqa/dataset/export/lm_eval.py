"""`--to lm-eval`: a task of the language model evaluation harness, with its data beside it.

Run in the folder: lm-eval run --include_path . --tasks NAME --model ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from clinqa.dataset.export.items import INSTRUCTION, ExportItem, lines

__all__ = ["lm_eval"]


def lm_eval(splits: Mapping[str, Sequence[ExportItem]], name: str) -> dict[str, str]:
    """`NAME.yaml` and a JSONL file a split."""
    task = f"clinqa_{name}"
    filled = {split: f"{split}.jsonl" for split, items in splits.items() if items}
    body: dict[str, object] = {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": filled},
        "output_type": "multiple_choice",
        "test_split": "test" if "test" in filled else next(iter(filled), "test"),
        "doc_to_text": f"{INSTRUCTION}\n\nStatement: {{{{statement}}}}\nAnswer:",
        "doc_to_choice": ["True", "False"],
        "doc_to_target": "target",
        "target_delimiter": " ",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1.0},
    }
    if "train" in filled:
        body |= {"training_split": "train", "fewshot_split": "train"}
    if "validation" in filled:
        body["validation_split"] = "validation"
    files = {
        f"{split}.jsonl": lines(
            {
                "id": item.id,
                "pair_id": item.pair_id,
                "statement": item.statement,
                "target": 0 if item.label else 1,
                "topic": item.topic,
            }
            for item in items
        )
        for split, items in splits.items()
    }
    files[f"{task}.yaml"] = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    return files
