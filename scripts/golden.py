"""Keep what the command line gives today, to see later that a change of the inside changed nothing.

    python scripts/golden.py keep tests/golden [--kind KIND] [--whole] [--work DIR]
    python scripts/golden.py compare BEFORE AFTER

The steps and what is kept of them stand in tests/golden/; pytest runs the same and compares. Where
a digest differs and one wants to see the rows, keep both sides with --whole and compare them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# instead of this folder, in which the name golden is this file's; and this checkout's package,
# whatever is installed
sys.path[:1] = [str(ROOT / "src"), str(ROOT / "tests")]

if __name__ == "__main__":
    from golden.keep import main

    sys.exit(main())
