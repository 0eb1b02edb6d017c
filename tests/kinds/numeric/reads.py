"""The only number that was written."""

from __future__ import annotations

import re

from clinqa.core.answers import AMBIGUOUS, EMPTY, UNREADABLE, Said
from clinqa.kinds.facets.reads import Reads


def read_number(output: str, own: float) -> Said:
    """
    >>> read_number("About 61 a minute.", 2.0).answer, read_number("61 or 62", 2.0).status
    ('61', 'ambiguous')
    """
    found = re.findall(r"-?\d+(?:\.\d+)?", output)
    if len(found) > 1:
        return AMBIGUOUS
    nothing = UNREADABLE if output.strip() else EMPTY
    return Said(found[0], "answered") if found else nothing


READS = Reads(read_number)
