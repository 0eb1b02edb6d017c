"""Keep what the product gives, or compare two such folders; see scripts/golden.py."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from golden.compared import told
from golden.work import kept_of, read_kept, write_kept

__all__ = ["KINDS", "main"]

KINDS = ("long_form", "true_false", "multiple_choice", "wrong_calls")


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 1 where two folders differ."""
    parser = argparse.ArgumentParser(description="Golden files of the command line.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    keep = verbs.add_parser("keep", help="run everything and write the golden files")
    keep.add_argument("folder", type=Path)
    keep.add_argument("--kind", choices=KINDS, action="append", help="only this; repeatable")
    keep.add_argument("--whole", action="store_true", help="all rows of all tables, no digests")
    keep.add_argument("--work", type=Path, help="an absent folder to work in, left there")
    compare = verbs.add_parser("compare", help="compare two folders of golden files")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    told_to = parser.parse_args(argv)
    if told_to.verb == "compare":
        return _compare(told_to.before, told_to.after)
    for kind in told_to.kind or KINDS:
        _keep(kind, told_to.folder, told_to.whole, told_to.work)
    return 0


def _keep(kind: str, folder: Path, whole: bool, place: Path | None) -> None:
    stages = importlib.import_module(f"golden.steps_{kind}").STAGES
    started, cpu = time.monotonic(), time.process_time()
    folder = folder.absolute()
    if place is not None:
        kept = kept_of(stages, place.absolute() / kind, whole=whole)
    else:
        with tempfile.TemporaryDirectory() as made:
            kept = kept_of(stages, Path(made) / "work", whole=whole)
    path = folder / f"{kind}.json.gz"
    write_kept(path, kept)
    broken = [step["broke"] for step in kept.values() if "broke" in step]
    took, used = time.monotonic() - started, time.process_time() - cpu
    sys.stdout.write(
        f"{path}: {len(kept)} steps, {path.stat().st_size:,} bytes, {took:.0f} s ({used:.0f} s CPU)"
        f"{''.join(f'{chr(10)}{one}' for one in broken)}\n"
    )
    sys.stdout.flush()


def _compare(before: Path, after: Path) -> int:
    code = 0
    for kind in KINDS:
        paths = [folder / f"{kind}.json.gz" for folder in (before, after)]
        if not all(path.is_file() for path in paths):
            sys.stdout.write(f"{kind}: not in both\n")
            continue
        one, other = map(read_kept, paths)
        steps = [*one, *(step for step in other if step not in one)]
        found = [told(one.get(step, {}), other.get(step, {}), step) for step in steps]
        said = "\n".join(filter(None, found))
        sys.stdout.write(f"{kind}: {said or 'the same'}\n")
        code = code or int(bool(said))
    return code
