"""`python -m clinqa`, the same as the command `clinqa`."""

from __future__ import annotations

import sys

from clinqa.cli import main

sys.exit(main())
