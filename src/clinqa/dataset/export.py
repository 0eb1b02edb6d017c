"""A dataset in the formats of other tools: chat messages, lm-eval tasks, Inspect samples.

A format is a function here of items by split, the facet of their kind and a name; it gives the
text of each file. They stand in a folder of their own, whose manifest names the dataset they came
from.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from clinqa.core.manifest import StageCounts
from clinqa.core.origin import with_origin
from clinqa.core.stage import Known, Made, Stage, StageResult, Workplace, run_stage
from clinqa.dataset.export_options import ExportOptions
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.splits import SPLITS, rank_groups
from clinqa.kinds.facets.exports import Exports

__all__ = ["FORMATS", "VERB", "export"]

SplitItems = Mapping[str, Sequence[Mapping[str, Any]]]


def jsonl(
    splits: SplitItems, line: Callable[[Mapping[str, Any]], Mapping[str, object]]
) -> dict[str, str]:
    """A file a split, an object a line."""
    return {
        f"{split}.jsonl": "".join(
            json.dumps(line(item), ensure_ascii=False) + "\n" for item in items
        )
        for split, items in splits.items()
    }


def lm_eval(splits: SplitItems, facet: Exports, name: str) -> dict[str, str]:
    """`--to lm-eval`: a task of the language model evaluation harness, with its data beside it,
    as `NAME.yaml` and a JSONL file a split.

    Run in the folder: lm-eval run --include_path . --tasks NAME --model ...
    """
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
            **_origin(item),
        },
    )
    files[f"{task}.yaml"] = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    return files


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
    """`--to inspect`: samples and a task of the Inspect evaluation framework, as a JSONL file a
    split and `task.py`.

    Run in the folder: inspect eval task.py --model ...
    """
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
                **_origin(item),
            },
        },
    )
    scorer, arguments = facet.scorer
    files["task.py"] = _TASK.format(
        about=facet.about, name=f"clinqa_{name}", scorer=scorer, arguments=arguments
    )
    return files


def chat(splits: SplitItems, facet: Exports, name: str) -> dict[str, str]:
    """`--to chat`: one conversation an item, as chat fine-tuning takes it.

    `train.jsonl` and so on: {"messages": [user, assistant], "id", and what the kind tells}.
    """
    return jsonl(
        splits,
        lambda item: {
            "messages": [
                {"role": "user", "content": facet.asked(item)},
                {"role": "assistant", "content": facet.answer(item)},
            ],
            "id": item["id"],
            **{column: item[column] for column in facet.told},
            **_origin(item),
        },
    )


def _origin(item: Mapping[str, Any]) -> dict[str, str]:
    """What says in every line of an export that an item is made up, where it is."""
    return with_origin(str(item.get("origin", "")))


VERB = "export"
Format = Callable[[SplitItems, Exports, str], dict[str, str]]

FORMATS: Mapping[str, Format] = {"chat": chat, "lm-eval": lm_eval, "inspect": inspect}


def export(folder: Path, out: Path, options: ExportOptions) -> StageResult:
    """Write the dataset in `folder` as another tool takes it; data class and origin go along."""
    options.check()
    dataset = open_dataset(folder, accept=options.accept_changed)
    facet: Exports = dataset.kind.facet("exports")
    columns = ("id", "category", "source_id", *facet.columns)
    every = {split: dataset.items(split, columns).to_pylist() for split in SPLITS}
    source = dataset.manifest
    origin = with_origin(source.origin)
    splits = {
        split: [{**item, **origin} for item in _taken(items, facet.together, options)]
        for split, items in every.items()
    }
    told: dict[str, Any] = {"to": options.to}
    inputs = dataset.records(*SPLITS)
    decides = {"of": source.fingerprint, "inputs": [one.sha256 for one in inputs]}
    if options.limit is not None:
        told |= {"limit": options.limit, "seed": options.seed}

    def made(place: Workplace) -> Made:
        name = re.sub(r"\W+", "_", str(source.configuration.get("pack", "dataset"))).lower()
        for file, text in sorted(FORMATS[options.to](splits, facet, name).items()):
            place.write(file, text)
        read, kept = (sum(map(len, some.values())) for some in (every, splits))
        left = {"over_limit": read - kept} if kept < read else {}
        counts = StageCounts(
            read=read, kept=kept, out_of_scope=read - kept, out_of_scope_by_reason=left
        )
        return Made(
            counts={"items": counts},
            rows={f"{split}.jsonl": len(items) for split, items in splits.items()},
        )

    return run_stage(
        Stage(
            verb=VERB,
            holds="this export",
            out=out,
            options=options,
            data_class=dataset.data_class,
            origin=source.origin,
            reads=[dataset.finished],
            known=lambda: Known(told, inputs, decides),
            work=made,
            told=lambda done: {"items": done.counts["items"].kept, "files": len(done.outputs)},
        )
    )


def _taken(
    items: Sequence[Mapping[str, Any]], together: str, options: ExportOptions
) -> list[Mapping[str, Any]]:
    """The items that are written, in their order; what belongs together stays whole."""
    if options.limit is None:
        return list(items)
    sizes = Counter(item[together] for item in items)
    chosen, left = set(), options.limit
    for name in rank_groups(sizes, options.seed, "sample"):
        if sizes[name] <= left:
            chosen.add(name)
            left -= sizes[name]
    return [item for item in items if item[together] in chosen]
