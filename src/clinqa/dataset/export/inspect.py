"""`--to inspect`: samples and a task of the Inspect evaluation framework.

Run in the folder: inspect eval task.py --model ...
"""

from __future__ import annotations

from clinqa.dataset.export.splits import SplitItems, jsonl
from clinqa.kinds.facets.exports import Exports

__all__ = ["inspect"]

_TASK = '''"""{about}, exported by clinqa."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import {scorer}
from inspect_ai.solver import generate

HERE = Path(__file__).parent


@task
def {name}(split: str = "test") -> Task:
    return Task(
        dataset=json_dataset(str(HERE / f"{{split}}.jsonl")),
        solver=generate(),
        scorer={scorer}({arguments}),
    )
'''


def inspect(splits: SplitItems, facet: Exports, name: str) -> dict[str, str]:
    """A JSONL file a split in the form of samples, and `task.py`."""
    files = jsonl(
        splits,
        lambda item: {
            "id": item["id"],
            "input": facet.asked(item),
            "target": facet.answer(item),
            "metadata": {
                **{column: item[column] for column in facet.told},
                "topic": item["category"],
                "source_id": item["source_id"],
            },
        },
    )
    scorer, arguments = facet.scorer
    files["task.py"] = _TASK.format(
        about=facet.about, name=f"clinqa_{name}", scorer=scorer, arguments=arguments
    )
    return files
