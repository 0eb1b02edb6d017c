"""What would pip install? Shown before it does; stops if CUDA packages would come unasked.

python scripts/ask_pip.py [--cuda] REQUIREMENT…     exit 0: go on; 2: choose first
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

CUDA = re.compile(r"nvidia-|triton$|cuda-|pytorch-triton")
CHOOSE = """\
error: pip would also install CUDA packages, several GB, and nobody asked for them:
  {names}
Choose, then call make again:
  no GPU     {python} -m pip install torch, in its CPU build
             (the page "Get Started" of pytorch.org gives the line for your system)
  with CUDA  the same make with CUDA=1 after it"""


def main() -> int:
    """Ask, show, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuda", action="store_true", help="CUDA packages are wanted")
    parser.add_argument("requirements", nargs="+")
    arguments = parser.parse_args()
    wanted = would_install(arguments.requirements)
    if not wanted:
        say("pip has nothing to install")
        return 0
    say(f"pip would install {len(wanted)} packages: " + ", ".join(wanted))
    heavy = cuda_packages(wanted)
    if heavy and not arguments.cuda:
        say(CHOOSE.format(names=", ".join(heavy), python=sys.executable), sys.stderr)
        return 2
    return 0


def would_install(requirements: list[str]) -> list[str]:
    """Names and versions of what is not there yet, from pip's own resolution."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-input"]
        command += ["--disable-pip-version-check", "--report", str(report), *requirements]
        if subprocess.run(command, check=False).returncode != 0:
            raise SystemExit("error: pip cannot resolve this; what it said stands above")
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return sorted(f"{one['metadata']['name']} {one['metadata']['version']}" for one in found)


def cuda_packages(wanted: list[str]) -> list[str]:
    """Those that only serve NVIDIA GPUs.

    >>> cuda_packages(["torch 2.13.0", "nvidia-cublas-cu12 12.8", "triton 3.4", "tritonclient 2"])
    ['nvidia-cublas-cu12 12.8', 'triton 3.4']
    """
    return [one for one in wanted if CUDA.match(one.split()[0].lower())]


def say(line: str, where: TextIO | None = None) -> None:
    """A line for the person who waits; at once, so that it stands before what pip says."""
    where = where or sys.stdout
    where.write(line + "\n")
    where.flush()


if __name__ == "__main__":
    sys.exit(main())
