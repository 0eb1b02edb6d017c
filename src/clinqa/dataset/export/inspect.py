"""`--to inspect`: samples and a task of the Inspect evaluation framework.

Run in the folder: inspect eval task.py --model ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinqa.dataset.export.items import ExportItem, asked, lines

__all__ = ["inspect"]

_TASK = '''"""True or false statements in pairs, exported by clinqa."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate

HERE = Path(__file__).parent


@task
def {name}(split: str = "test") -> Task:
    return Task(
        dataset=json_dataset(str(HERE / f"{{split}}.jsonl")),
        solver=generate(),
        scorer=match(location="begin", ignore_case=True),
    )
'''


def inspect(splits: Mapping[str, Sequence[ExportItem]], name: str) -> dict[str, str]:
    """A JSONL file a split in the form of samples, and `task.py`."""
    files = {
        f"{split}.jsonl": lines(
            {
                "id": item.id,
                "input": asked(item),
                "target": str(item.label),
                "metadata": {
                    "pair_id": item.pair_id,
                    "topic": item.topic,
                    "source_id": item.source_id,
                },
            }
            for item in items
        )
        for split, items in splits.items()
    }
    files["task.py"] = _TASK.format(name=f"clinqa_{name}")
    return files
