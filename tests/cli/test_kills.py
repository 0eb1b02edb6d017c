"""Kills -9 at random moments: nothing is lost, nothing paid twice but what was in flight.

Behind `make slow`. Each test says on stdout (`-rP`) how many kills it took and what they cost.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asking.made_dataset import rows, write_dataset
from clinqa.dataset.verify import verify
from killed import Killed, Slow, command, killed, log_lines, paid_twice
from studying.made_bank import made_bank, study_file

pytestmark = pytest.mark.slow

PREDICT, BUILD, STUDY = 60, 40, 16
AT_ONCE = 4
SAID = ("No", "Mild", "Moderate", "Severe", "None is described")


def whole(out: Path) -> bool:
    """Is everything done, and nothing left of the work?"""
    return (out / "manifest.json").is_file() and not (out / ".partial").exists()


def table(path: Path, *without: str) -> list[dict[str, Any]]:
    read = pq.ParquetFile(path).read()
    rows: list[dict[str, Any]] = read.drop_columns(list(without)).to_pylist()
    return rows


def moments(chance: random.Random, server: Slow) -> tuple[Callable[[], float], Callable[[], bool]]:
    """By turns: any moment from the start on, or one soon after the first answer of this life."""
    turn = {"soon": False, "asked": 0}

    def longest() -> float:
        return 0.8 if turn["soon"] else 4.0

    def ready() -> bool:
        return not turn["soon"] or len(server.asked) > turn["asked"]

    def next_life() -> float:
        limit = longest()
        turn["soon"], turn["asked"] = chance.random() < 0.7, len(server.asked)
        return limit

    return next_life, ready


def account(server: Slow, out: Path, made: Killed, first: int) -> str:
    """What the server saw beside what the log says; AssertionError where they part."""
    asked = server.asked[first:]
    lines = log_lines(out / "egress.jsonl")
    assert not paid_twice(asked, made.kills, AT_ONCE)
    # a line is written before its request leaves: a kill between the two leaves a line more
    assert len(asked) <= len(lines) <= len(asked) + AT_ONCE * len(made.kills)
    distinct = len({one.prompt for one in asked})
    return (
        f"{len(made.kills)} kills, {distinct} prompts, {len(asked)} requests "
        f"({len(asked) - distinct} in flight at a kill), {len(lines)} lines of the log"
    )


def test_predict(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "ds", test=rows([f"t{n}" for n in range(150)]))
    chance, kills, lives = random.Random(17), 0, 0

    def answer(question: str) -> str:
        return SAID[len(question) * 7 % len(SAID)] if "mitral" in question else "Moderate."

    with Slow(answer) as server:
        told = ("predict", dataset, "--model", "openai:m", "--base-url", server.url,
                "--max-parallel", AT_ONCE, "--out")  # fmt: skip
        undisturbed = command(*told, tmp_path / "undisturbed")
        assert undisturbed.wait(600) == 0
        wanted = table(tmp_path / "undisturbed" / "predictions.parquet", "seconds")
        assert len(wanted) == 450
        while kills < PREDICT:
            out, first = tmp_path / f"run{lives}", len(server.asked)
            longest, ready = moments(chance, server)
            made = killed([*told, out], PREDICT - kills, longest, chance, ready)
            kills, lives = kills + len(made.kills), lives + 1
            assert whole(out)
            assert table(out / "predictions.parquet", "seconds") == wanted
            print(account(server, out, made, first))


SENTENCE = re.compile(r"[A-Z][^.?!\n]{30,160}\.")


def drafted(question: str) -> str:
    """What a model may say of a page, a draft or a statement to be judged."""
    data = question.split("\n", 1)[1].rpartition("\n")[0]
    if not data.startswith("Statement: "):
        found = SENTENCE.findall(" ".join(data.split()))[:6]
        items = [{"question": one, "label": "True", "source": one, "topic": ""} for one in found]
        return json.dumps({"questions": items})
    if "\nLabel: " in data:
        statement = data.removeprefix("Statement: ").partition("\nLabel: ")[0]
        return json.dumps({"question": statement.replace(" is ", " is not ", 1)})
    return json.dumps({"verdict": "yes"})


def test_build_ecg(tmp_path: Path) -> None:
    primer = Path(str(resources.files("clinqa.packs"))) / "ecg" / "primer" / "primer.pdf"
    chance, kills, lives = random.Random(3), 0, 0
    with Slow(drafted) as server:
        told = ("build", "ecg", primer, "--generator", "llm", "--judge", "--model", "openai:m",
                "--base-url", server.url, "--max-parallel", AT_ONCE, "--workers", 1,
                "--out")  # fmt: skip
        assert command(*told, tmp_path / "undisturbed").wait(600) == 0
        wanted = files(tmp_path / "undisturbed")
        assert len(pq.read_table(tmp_path / "undisturbed" / "rejects.parquet"))
        while kills < BUILD:
            out, first = tmp_path / f"build{lives}", len(server.asked)
            longest, ready = moments(chance, server)
            made = killed([*told, out], BUILD - kills, longest, chance, ready)
            kills, lives = kills + len(made.kills), lives + 1
            assert whole(out) and files(out) == wanted
            assert verify(out, [primer]) == []
            print(account(server, out, made, first))


def files(out: Path) -> dict[str, bytes]:
    """Everything but when it was made, and what was sent."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", "egress.jsonl", "README.md",
                                                "croissant.json")
    }  # fmt: skip


@pytest.mark.full
def test_study(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny

    made_bank(tmp_path)
    file = study_file(
        tmp_path,
        "settings: {epochs: 2, best_by: none, precision: f32, quantization: none, lora_rank: 4, "
        "batch_size: 2, learning_rate: 0.005}",
        "arms: [matched]", "reading: letters", "specialties: [Neurology, Pediatrics]",
        "draws: 200", "dtype: float32", model=f"hf:{make_tiny(tmp_path / 'base')}",
    )  # fmt: skip
    told = ("study", "run", file, "--device", "cpu", "--threads", 1, "--out")
    clock = time.monotonic()
    assert command(*told, tmp_path / "undisturbed").wait(900) == 0
    took = time.monotonic() - clock
    chance, kills, lives = random.Random(5), 0, 0
    while kills < STUDY:
        out = tmp_path / f"study{lives}"
        kept: dict[Path, int] = {}

        def longest(out: Path = out, kept: dict[Path, int] = kept) -> float:
            """Called as each life begins: what is whole by then is written by no later one."""
            for path in (out / ".partial").glob("*/*/manifest.json"):
                written = path.stat().st_mtime_ns
                assert kept.setdefault(path.relative_to(out / ".partial"), written) == written
            return took

        made = killed([*told, out], STUDY - kills, longest, chance)
        kills, lives = kills + len(made.kills), lives + 1
        assert whole(out)
        for name, written in kept.items():
            assert (out / name).stat().st_mtime_ns == written
        for name in ("matrix.csv", "tests.csv", "right.parquet", "study.json"):
            assert (out / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()
        print(f"{len(made.kills)} kills, {len(kept)} trainings and runs were whole by then")
