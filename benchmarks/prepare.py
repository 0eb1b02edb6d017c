"""What is there before the clock runs: the input, the dictionary of statements, finished rows."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from clinqa.simulate.echo import gold_path, simulate
from labelling import Labelling
from measure import say


def main(studies: int, folder: Path, only_input: bool) -> None:
    """Make what is missing in `folder`; the dictionary is made each time, by today's grammar."""
    source = folder / f"echo-{studies}.csv"
    made = not (source.exists() and gold_path(source).exists())
    if made:
        simulate(studies, 0, source, workers=2, overwrite=True)
    if only_input:
        say(made=made, bytes=source.stat().st_size)
        return
    job = Labelling()
    rows = job.write(source, folder / "ready.parquet")
    words = job.readings.words
    entries = [
        (structure, text, job.labeller.read(text, structure))
        for structure, text in zip(words.structures, words.texts, strict=True)
    ]
    (folder / "given.pickle").write_bytes(pickle.dumps(entries))
    say(
        made=made,
        bytes=source.stat().st_size,
        rows=rows,
        occurrences=job.occurrences,
        distinct=len(entries),
        distinct_outside=sum(reading.method != "lexicon" for *_, reading in entries),
        occurrences_outside=job.outside(),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] == ["input"])
