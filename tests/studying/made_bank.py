"""A small bank of made-up questions by specialty, as a dataset folder and a study file."""

from __future__ import annotations

import json
from pathlib import Path

from clinqa.builders.banks.specialty.pipeline import build_specialty
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions

SIZES = {"Cardiology": (6, 2, 3), "Neurology": (4, 2, 3), "Pediatrics": (3, 2, 2)}


def made_bank(folder: Path, sizes: dict[str, tuple[int, int, int]] = SIZES) -> Path:
    """Train, validation and test of each specialty as `sizes` has them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, counts in sizes.items():
        for split, many in zip(("train", "validation", "test"), counts, strict=True):
            for at in range(many):
                words = [f"{name[:5].lower()}{split[:2]}{at}w{n}" for n in range(9)]
                options = {"A": f"{words[0]} x", "B": f"{words[1]} y", "C": f"{words[2]} z"}
                lines.append(
                    {
                        "id": f"{name}-{split}-{at}",
                        "question": f"Which {' '.join(words[3:])} of {name}?",
                        "options": options,
                        "answer": "ABC"[at % 3],
                        "split": split,
                        "specialty": name,
                    }
                )
    bank = folder / "bank.jsonl"
    bank.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    build_specialty([bank], folder / "bank", SpecialtyOptions(annotator="metadata"))
    return folder / "bank"


def study_file(folder: Path, *more: str, model: str = "embedded:smollm2") -> Path:
    """A study of that bank; more lines replace or add keys."""
    keys = {"kind": "specialty", "dataset": "bank", "model": model, "orders": "2"}
    keys |= dict(line.split(": ", 1) for line in more)
    path = folder / "study.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()), encoding="utf-8")
    return path
