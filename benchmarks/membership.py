"""Contender: list membership, as in the published code, over the first reports only.

Sections by a header at the start of a line, sentences by ". ", and each sentence looked for in a
list of statements for every abnormality and level. The lists hold every distinct statement of the
input, as a lexicon that covered it would.
"""

from __future__ import annotations

import pickle
import re
import sys
import time
from itertools import islice
from pathlib import Path

from loop import reports
from measure import Given, say

_SECTION = re.compile(r"^[ \t]*([A-Za-z][^:\n]{0,58}):", re.MULTILINE)


def lists_of(given: Path) -> dict[tuple[str, int], list[str]]:
    """The statements of each abnormality and level."""
    lists: dict[tuple[str, int], list[str]] = {}
    for _, text, read in pickle.loads(given.read_bytes()):
        for finding in read.findings:
            lists.setdefault((finding.abnormality, finding.level), []).append(text.rstrip("."))
    return lists


def main(source: Path, out: Path, given: Path, sample: int) -> None:
    with Given() as before:
        lists = lists_of(given)
        texts = [(study, text) for _, study, _, text in islice(reports(source), sample)]
    rows = []
    wall, cpu = time.perf_counter(), time.process_time()
    for study, text in texts:
        headers = [*_SECTION.finditer(text)]
        ends = [header.start() for header in headers[1:]] + [len(text)]
        for header, end in zip(headers, ends, strict=False):
            body = text[header.end() : end].replace("\n", " ").strip()
            for sentence in body.split(". "):
                sentence = sentence.rstrip(".")
                for (abnormality, level), statements in lists.items():
                    if sentence in statements:
                        rows.append(f"{study}\t{abnormality}\t{level}\t{sentence}\n")
    out.write_text("".join(rows), encoding="utf-8")
    say(
        rows=len(rows),
        reports=len(texts),
        listed=sum(map(len, lists.values())),
        loop_wall=time.perf_counter() - wall,
        loop_cpu=time.process_time() - cpu,
        **before.said,
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), int(sys.argv[4]))
