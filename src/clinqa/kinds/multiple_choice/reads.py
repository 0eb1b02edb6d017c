"""The letter that was said, of the options as they were shown."""

from __future__ import annotations

from clinqa.kinds.facets.reads import Reads
from clinqa.kinds.multiple_choice.letters import read_letter

__all__ = ["READS"]

READS = Reads(read_letter)
