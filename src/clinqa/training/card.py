"""`README.md` of an ADAPTER: what it is, what it was trained on, how well it did, how to use it."""

from __future__ import annotations

from typing import Any

import yaml

from clinqa.core.records import DataClass

__all__ = ["render_card"]

_BANNERS = {
    DataClass.RESTRICTED: "It was trained on text whose use is restricted, and a model may repeat "
    "what it was trained on. Keep it where the source may be kept.",
    DataClass.PHI: "It was trained on protected health information, and a model may repeat what it "
    "was trained on. Keep it inside the institution that holds the records.",
}


def render_card(job: Any, details: dict[str, Any]) -> str:
    """Markdown with a front matter. Counts and settings only, no text of a record."""
    dataset, resolved = job.dataset, job.resolved
    data_class = job.data_class
    encoder = resolved.settings.method == "encoder"
    front = {
        "library_name": "transformers" if encoder else "peft",
        "base_model": job.place.name,
        "pipeline_tag": "text-classification" if encoder else "text-generation",
        "tags": ["clinqa", resolved.preset.name, *([] if encoder else ["lora"])],
        "data_class": data_class.value,
    }
    parts = [
        "---\n" + yaml.safe_dump(front, sort_keys=False) + "---",
        f"# {'Classifier' if encoder else 'Adapter'} of {job.place.name}",
    ]
    if banner := _BANNERS.get(data_class):
        parts.append(f"> **{data_class.value}.** {banner}")
    parts.append(
        f"Trained by `clinqa train` with preset `{resolved.preset.name}` "
        f"({resolved.preset.says}) on {details['items_train']:,} {details['kind']} items of "
        f"{details['groups_train']:,} groups of the dataset with the fingerprint "
        f"`{dataset.manifest.fingerprint[:16]}`: {details['steps']:,} steps, "
        f"{details['epochs']:g} epochs, on {details['device']} in {details['dtype']}."
    )
    parts.append("## Validation\n\n" + _validation(details))
    parts.append("## Settings\n\n" + _settings(resolved))
    parts.append("## Use\n\n" + _use(job, encoder))
    parts.append(
        "## Limits\n\nIt has learnt the wording of one dataset. Figures on the test split come "
        "from `clinqa predict` and `clinqa score`; predict refuses items that were trained on "
        "(their hashes stand in `trained_on.parquet`). Not for decisions about patients."
    )
    return "\n\n".join(parts) + "\n"


def _validation(details: dict[str, Any]) -> str:
    scores = details["validation"]
    if not scores:
        return "None: the validation split was empty."
    rows = [f"| {name} | {value:.4f} |" for name, value in scores.items()]
    chosen = details["best"]
    which = (
        f"The state after step {chosen['step']:,} was kept, the best by {chosen['by']}."
        if chosen
        else "The last state was kept."
    )
    table = "\n".join(["| metric | value |", "|---|---|", *rows])
    return f"{which} Of {details['items_validation']:,} items, teacher forced:\n\n{table}"


def _settings(resolved: Any) -> str:
    rows = [
        f"| {key} | {entry['value']} | {entry['source']} |"
        for key, entry in resolved.as_json().items()
    ]
    return "\n".join(["| key | value | source |", "|---|---|---|", *rows])


def _use(job: Any, encoder: bool) -> str:
    if encoder:
        command = "clinqa predict DATASET --model encoder:THIS_FOLDER --out RUN"
    else:
        command = f"clinqa predict DATASET --model {job.place.name} --adapter THIS_FOLDER --out RUN"
    return f"```\n{command}\n```"
