"""Statements in pairs for other tools: one word is asked for, True or False."""

from __future__ import annotations

from clinqa.kinds.facets.exports import Exports

__all__ = ["EXPORTS"]

INSTRUCTION = "Is the following statement true or false? Answer with one word, True or False."


EXPORTS = Exports(
    about="True or false statements in pairs",
    columns=("question", "label", "pair_id"),
    asked=lambda item: f"{INSTRUCTION}\n\nStatement: {item['question']}",
    answer=lambda item: str(item["label"]),
    told=("pair_id",),
    document=lambda item: {"statement": item["question"], "target": 0 if item["label"] else 1},
    task={
        "output_type": "multiple_choice",
        "doc_to_text": f"{INSTRUCTION}\n\nStatement: {{{{statement}}}}\nAnswer:",
        "doc_to_choice": ["True", "False"],
        "doc_to_target": "target",
        "target_delimiter": " ",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    },
    together="pair_id",
    scorer=("match", 'location="begin", ignore_case=True'),
)
