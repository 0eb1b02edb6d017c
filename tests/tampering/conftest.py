"""A dataset, two runs, their scores and a table of groups, in a folder one stands in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from scoring.binary.made_statements import dataset
from tampering.stages import call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("made")
    with chdir(folder):
        dataset(folder / "set", 120, documents=12)
        rows = [f"document-{n},{('French', 'Dutch')[n % 2]}" for n in range(12)]
        Path("languages.csv").write_text("\n".join(["source_id,language", *rows]) + "\n")
        Path("says.jsonl").write_text('{"match": null, "output": "True", "finish_reason": "stop"}')
        for words in (
            "predict set --split train --model baseline:prior --out prior",
            "predict set --split train --model baseline:bag-of-words --out words",
            "score set prior words --resamples 100 --out scores",
        ):
            assert call(words.split())[0] == 0
        yield folder
