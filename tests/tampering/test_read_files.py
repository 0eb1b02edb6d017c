"""Each file that a stage reads from a finished folder is harmed in turn: refused, by its name.

Which files these are is not written here: an audit hook on `open` tells it, so that a stage that
begins to read another file past the door is caught.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tampering.stages import Stage, harmed, names

GROUPS = "--groups languages.csv --min-patients 2 --resamples 100 --permutations 100"
STAGES = {
    "predict": Stage("predict set --split train --model baseline:bag-of-words", ["set"]),
    "predict with shots": Stage("predict set --model scripted:says.jsonl --shots 2", ["set"]),
    "score": Stage("score set prior words --resamples 100", ["set", "prior", "words"]),
    "audit": Stage(f"audit set prior {GROUPS}", ["set", "prior"]),
    "audit of scores": Stage(
        f"audit set prior words {GROUPS} --scores scores", ["set", "prior", "words", "scores"]
    ),
    "export": Stage("export set --to chat", ["set"]),
    "report": Stage("report scores", ["scores"]),
    "show": Stage("show set", ["set"], writes=False),
    "verify": Stage("verify set", ["set"], writes=False),
}


@pytest.mark.parametrize("name", STAGES)
def test_every_file_that_is_read_is_checked(made: Path, name: str) -> None:
    for file, fault, code, said in harmed(STAGES[name], made):
        assert code in (1, 2, 3) and names(file, said), (file, fault, code, said)
