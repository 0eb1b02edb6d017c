"""Each file that a stage reads from a finished folder is harmed in turn: refused, by its name.

Which files these are is not written here: an audit hook on `open` tells it, so that a stage that
begins to read another file past the door is caught.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tampering.stages import FAULTS, Stage, call, files_read, sibling_of

GROUPS = "--groups languages.csv --min-patients 2 --resamples 100 --permutations 100"
STAGES = {
    "predict": Stage("predict set --split train --model baseline:retrieval", ["set"]),
    "predict with shots": Stage("predict set --model scripted:says.jsonl --shots 2", ["set"]),
    "score": Stage("score set prior words --resamples 100", ["set", "prior", "words"]),
    "audit": Stage(f"audit set prior {GROUPS}", ["set", "prior"]),
    "audit of scores": Stage(
        f"audit set prior words {GROUPS} --scores scores", ["set", "prior", "words", "scores"]
    ),
    "export": Stage("export set --to chat", ["set"]),
}


@pytest.mark.parametrize("name", STAGES)
def test_every_file_that_is_read_is_checked(made: Path, name: str) -> None:
    stage = STAGES[name]
    read = files_read(stage, made)
    shutil.rmtree(made / "watched")
    assert {f"{folder}/manifest.json" for folder in stage.reads} <= read
    # a card names a data class, and may be edited: what it says can only be stricter
    for file in sorted(one for one in read if not one.endswith("/README.md")):
        path, folder = made / file, made / file.split("/")[0]
        body, sibling = path.read_bytes(), sibling_of(path, folder)
        for fault, harm in FAULTS.items():
            harm(path, sibling)
            code, said = call(stage.words("harmed"))
            path.write_bytes(body)
            assert code in (1, 2, 3) and file in said, (file, fault, code, said)
            assert not (made / "harmed").exists(), (file, fault)
