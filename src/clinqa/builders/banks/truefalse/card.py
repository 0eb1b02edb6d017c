"""`README.md` of statements made from question banks."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from clinqa.core.manifest import Manifest

__all__ = ["CardFacts", "render_card"]


@dataclass(frozen=True, slots=True)
class CardFacts:
    """A title and the manifest; no text of a question."""

    title: str
    manifest: Manifest


def render_card(facts: CardFacts) -> str:
    """The text of `README.md`."""
    manifest = facts.manifest
    details, counts = manifest.details, manifest.counts
    front = {
        "pretty_name": facts.title,
        "language": ["en"],
        "license": "other",
        "license_name": "as-of-the-source",
        "task_categories": ["question-answering", "text-classification"],
        "tags": ["medical", "clinqa", f"data-class:{manifest.data_class}"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": "test", "path": "data/test-*.parquet"}],
            }
        ],
    }
    if not details["pairs"]:
        front.pop("configs")
    found = details["probe"]
    value = found["accuracy"]
    told = (
        f"A bag of words tells the label with accuracy {value:.3f} ({found['low']:.3f} to "
        f"{found['high']:.3f}, cross-validated by pair); 0.5 is chance."
        if isinstance(value, float)
        else "Too few pairs to ask whether the wording gives labels away."
    )
    banks = "".join(f"- {name}: {n:,} pairs\n" for name, n in details["banks"].items())
    topics = "".join(
        f"- {details['topics'].get(name, name)}: {n:,} pairs\n"
        for name, n in details["by_topic"].items()
    )
    answers = "".join(f"- `{name}`: {how}\n" for name, how in details["answers"].items())
    stages = "".join(f"- {stage}: {one.sum}\n" for stage, one in counts.items())
    reasons = "".join(
        f"- {stage}, `{reason}`: {n:,}\n"
        for stage, one in counts.items()
        for reason, n in sorted({**one.rejected_by_reason, **one.out_of_scope_by_reason}.items())
    )
    warnings = "".join(f"- {text}\n" for text in manifest.warnings)
    return (
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)}---\n"
        f"# {facts.title}\n\n"
        "Each question gave one pair: that its official key is the right answer (True), and that "
        "another of its options, drawn by the seed, is (False). Questions are not reworded. The "
        "set is for measuring: all of it is the split `test`.\n\n"
        + (f"## Warnings\n\n{warnings}\n" if warnings else "")
        + f"## Banks\n\n{banks or 'None.'}\n## Topics\n\n{topics or 'None.'}\n"
        f"## How answers were read\n\n{answers}\n"
        f"## Where everything read went\n\n{stages}{reasons}\n"
        f"## Shortcut probe\n\n{told}\n\n"
        "## Limits\n\nAn option that the key does not name may still be right: banks have errors, "
        "and some questions ask for the best of several. Questions whose options speak of one "
        "another, need an image or are garbled are left out (`rejects.parquet`).\n\n"
        f"Made by clinqa {manifest.clinqa}, seed {manifest.seeds['seed']}, fingerprint "
        f"`{manifest.fingerprint[:16]}`, data class {manifest.data_class}. The texts are the "
        "banks', under their licences.\n"
    )
