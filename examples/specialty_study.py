"""A cross-specialty study at the smallest scale, from nothing, on the CPU.

    python examples/specialty_study.py --out study [--bank FILE] [--specialties A,B,C] [--steps 4]

The bundled questions (five of train and two of test a specialty) become a dataset, SmolLM2-135M is
trained for a few steps on each of three specialties and on all three, with three seeds, and every
model is asked every test question in three orders. It shows the line and no result: with six test
questions no interval is narrow. Give a bank of your own, with a column of specialties and its
own splits, for one. Steps that are done are not done again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

STUDY = """\
kind: specialty
dataset: bank
model: embedded:smollm2
preset: smedqa
settings: {{max_steps: {steps}, batch_size: 4, learning_rate: 0.0005, precision: f32}}
dtype: float32
specialties: [{specialties}]
seeds: [0, 1, 2]
orders: 3
reading: letters
"""


def main() -> None:
    """Build, check, run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("study"))
    parser.add_argument("--bank", default="bundled")
    parser.add_argument("--specialties", default="Cardiology,Neurology,Pediatrics")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    clinqa(
        "build", "specialty", given.bank, "--annotator", "metadata", "--sets", "none",
        "--out", given.out / "bank",
    )  # fmt: skip
    names = ", ".join(given.specialties.split(","))
    file = given.out / "study.yaml"
    file.write_text(STUDY.format(specialties=names, steps=given.steps), encoding="utf-8")
    clinqa("study", "check", file)
    threads = ("--threads", given.threads) if given.threads else ()
    clinqa("study", "run", file, *threads, "--out", given.out / "results")
    print(f"the picture: {given.out / 'results' / 'matrix.svg'}")


def clinqa(*words: object) -> None:
    """One command, shown before it runs."""
    command = ["clinqa", *map(str, words)]
    print("$", " ".join(command), flush=True)
    done = subprocess.run([sys.executable, "-m", *command], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
