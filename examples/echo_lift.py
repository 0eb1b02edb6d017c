"""What fine-tuning does, shown from nothing: made-up data, small models, one table at the end.

    python examples/echo_lift.py --out lift [--only echo|ecg] [--steps 1400] [--processes 2]
                                 [--test-items 400]

1. echo: simulated echocardiogram reports become long-form questions. SmolLM2-135M is asked those
   of the test split, trained on 11,200 of train by preset `echoqa`, and asked again. Test
   patients never stand in train; of their items, those whose deciding statement does not stand in
   train either are counted by themselves (`unseen`): what is right there is not memory.
2. ecg: a short primer becomes True/False statements in pairs. SmolLM2 is trained by preset
   `ecgquest` and MiniLM, an encoder, by preset `encoder`; both against chance.

What it gained and how long it took stands in docs/training.md. Steps that are done are not done
again: a second call goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq

from clinqa.kinds.long_form.text.cut_texts import squad

MODEL = "embedded:smollm2"
BATCH = 8  # items a step, over all processes


def main() -> None:
    """Run what was asked for, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("lift"))
    parser.add_argument("--only", choices=("echo", "ecg"))
    parser.add_argument("--steps", type=int, default=1400, help="of 8 items, each seen once")
    parser.add_argument("--processes", type=int, choices=(1, 2, 4), default=2)
    parser.add_argument("--test-items", type=int, default=400)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.only != "ecg":
        echo(arguments.out, arguments.steps, arguments.processes, arguments.test_items)
    if arguments.only != "echo":
        ecg(arguments.out)


def echo(out: Path, steps: int, processes: int, items: int) -> None:
    """Long-form answers before and after."""
    reports, dataset, adapter = out / "reports.csv", out / "echo", out / "echo-adapter"
    if not reports.exists():
        clinqa("simulate", "echo", "--studies", 1200, "--seed", 11, "--out", reports)
    # the structure's own sections: what a model of this size can read, and quick to train on
    clinqa("build", "echo", reports, "--seed", 11, "--context", "section", "--out", dataset)
    asking = ("--limit", items, "--max-tokens", 64)
    clinqa("predict", dataset, "--model", MODEL, *asking, "--out", out / "echo-before")
    # five times the preset's rate: a model this small learns too little in so few steps at 2e-4;
    # no item is seen twice, so dropout would only slow it down
    changed = (
        f"batch_size={BATCH // processes}", "accumulation=1", f"max_steps={steps}",
        "validation_items=48",
        "learning_rate=1e-3", "lora_dropout=0", "together=4",
    )  # fmt: skip
    sets = [word for one in changed for word in ("--set", one)]
    clinqa(
        "train", dataset, "--model", MODEL, "--preset", "echoqa", "--limit", BATCH * steps, *sets,
        "--out", adapter, processes=processes,
    )  # fmt: skip
    clinqa(
        "predict", dataset, "--model", MODEL, "--adapter", adapter, *asking,
        # a short section may stand word for word in another patient's report
        "--allow-seen", "--out", out / "echo-after",
    )  # fmt: skip
    runs = (out / "echo-before", out / "echo-after")
    clinqa("score", dataset, *runs, "--out", out / "echo-scores")
    echo_table(dataset, runs)


def echo_table(dataset: Path, runs: Iterable[Path]) -> None:
    """Token F1 and exact answers over the words that were written, cut off or not."""
    columns = ["id", "answer", "group", "statement_seen", "question_type"]
    table = pq.read_table(dataset / "data" / "test-00000-of-00001.parquet", columns=columns)
    items = {row["id"]: row for row in table.to_pylist()}
    print(f"\n{'run':<14}{'items':<22}{'n':>5}{'patients':>10}{'token F1':>10}{'exact':>8}")
    for run in runs:
        rows = pq.read_table(run / "predictions.parquet").to_pylist()
        pairs = [(items[row["item_id"]], row["output"] or "") for row in rows]
        stated = [(i, o) for i, o in pairs if i["question_type"] != "unmentioned"]
        subsets = {
            "held-out patients": pairs,
            "statement unseen too": [(i, o) for i, o in stated if not i["statement_seen"]],
            "statement seen": [(i, o) for i, o in stated if i["statement_seen"]],
        }
        for name, chosen in subsets.items():
            f1 = [token_f1(words(output), words(item["answer"])) for item, output in chosen]
            same = [words(output) == words(item["answer"]) for item, output in chosen]
            patients = len({item["group"] for item, _ in chosen})
            print(
                f"{run.name:<14}{name:<22}{len(chosen):>5}{patients:>10}"
                f"{sum(f1) / len(f1):>10.3f}{sum(same) / len(same):>8.3f}"
            )
    print("intervals over patients, paired tests and the other metrics: the scores folder\n")


def ecg(out: Path) -> None:
    """True or False: a language model and an encoder, against chance."""
    dataset = out / "ecg"
    primer = files("clinqa.packs").joinpath("ecg/primer/primer.pdf")
    clinqa("build", "ecg", primer, "--out", dataset)
    clinqa(
        "train", dataset, "--model", MODEL, "--preset", "ecgquest", "--set", "epochs=2",
        "--out", out / "ecg-adapter",
    )  # fmt: skip
    encoder = out / "ecg-encoder"
    clinqa("train", dataset, "--model", "embedded:minilm", "--preset", "encoder", "--out", encoder)
    asked = {
        "smollm2": ("--model", MODEL, "--max-tokens", 4),
        "smollm2, trained": ("--model", MODEL, "--adapter", out / "ecg-adapter", "--max-tokens", 4),
        "minilm, trained": ("--model", f"encoder:{encoder}"),
    }
    print(f"\n{'model':<20}{'n':>5}{'accuracy':>10}{'True said':>11}")
    table = pq.read_table(dataset / "data" / "test-00000-of-00001.parquet")
    truth = {row["id"]: row["answer"] for row in table.to_pylist()}
    for name, model in asked.items():
        run = out / f"ecg-{name.replace(', ', '-')}"
        clinqa("predict", dataset, *model, "--out", run)
        rows = pq.read_table(run / "predictions.parquet").to_pylist()
        said = {row["item_id"]: (row["output"] or "").strip().rstrip(".") for row in rows}
        right = sum(said[number] == truth[number] for number in truth)
        true = sum(answer == "True" for answer in said.values())
        print(f"{name:<20}{len(truth):>5}{right / len(truth):>10.3f}{true / len(truth):>11.3f}")
    print("chance is 0.500: each True statement stands beside a False one\n")


def clinqa(*words_: object, processes: int = 1) -> None:
    """One command, shown before it runs."""
    command = ["clinqa", *map(str, words_)]
    if processes > 1:  # a core each: nearly twice as fast as one process with two threads
        count = ("--nproc_per_node", str(processes))
        command = ["torch.distributed.run", *count, "-m", *command]
    print("$ python -m" if processes > 1 else "$", " ".join(command), flush=True)
    done = subprocess.run([sys.executable, "-m", *command], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def words(text: str) -> list[str]:
    """The words of a text, normalised as token F1 has them."""
    return [word for part in text.split() for word in squad(part) if word]


def token_f1(said: list[str], wanted: list[str]) -> float:
    """What the words of two texts share."""
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


if __name__ == "__main__":
    main()
