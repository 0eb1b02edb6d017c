"""A number is asked for and answered in digits."""

from __future__ import annotations

from clinqa.kinds.facets.exports import Exports

EXPORTS = Exports(
    about="Numbers",
    columns=("question", "answer", "tolerance"),
    asked=lambda item: f"{item['question']} Answer with a number.",
    answer=lambda item: item["answer"],
    told=("tolerance",),
    document=lambda item: {"asked": item["question"], "target": item["answer"]},
    task={"output_type": "generate_until", "doc_to_text": "{{asked}}", "doc_to_target": "target"},
    scorer=("match", "numeric=True"),
)
