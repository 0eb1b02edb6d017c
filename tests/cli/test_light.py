"""`import clinqa` and help stay instant: no heavy library is loaded before a verb needs it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["numpy", "pyarrow", "polars", "sklearn", "nltk", "torch", "numba", "matplotlib", "scipy"]

PROBE = """
import contextlib, io, json, sys
import clinqa
arguments = json.loads(sys.argv[1])
if arguments is not None:
    from clinqa.cli import main
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(arguments) == 0
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def modules_after(arguments: list[str] | None) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "arguments",
    [None, ["--help"], ["--version"], ["verify", "--help"]],
    ids=["import", "help", "version", "help of a verb"],
)
def test_no_heavy_library_is_loaded(arguments: list[str] | None) -> None:
    assert modules_after(arguments).isdisjoint(HEAVY)
