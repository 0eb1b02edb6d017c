"""What an output says: the answer of an item, or one of the statuses that say why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clinqa.core.answers import REFUSED, Said
from clinqa.kinds.outputs import thinks_without_end

__all__ = ["TOLD", "WHOLE", "Reads"]

WHOLE = ("answered", "empty", "refused", "truncated", "error")
"""The statuses of kinds whose answer is the whole text, in the order in which runs tell them."""
TOLD = (*WHOLE, "ambiguous", "unreadable")
"""Those of kinds whose answer is read out of it: all that there are."""

_REFUSED = ("refusal", "content_filter")
_ERROR, _TRUNCATED = Said(None, "error"), Said(None, "truncated")


@dataclass(frozen=True, slots=True)
class Reads:
    """The facet. `read` takes an output and the kind's part of the item as it was shown.

    `whole`: the text itself is the answer, so that one that was cut off is none. Of other kinds an
    answer counts also where the model went on after it and was cut off then.
    """

    read: Callable[[str, Any], Said]
    whole: bool = False
    statuses: tuple[str, ...] = TOLD

    def said(self, output: str, finish_reason: str, error: str, own: Any = None) -> Said:
        """The answer and its status; an answer only where there is one."""
        if finish_reason in _REFUSED or error == "refusal":
            return REFUSED
        if finish_reason == "error" or error:
            return _ERROR
        cut = finish_reason == "length"
        if cut and (self.whole or thinks_without_end(output)):
            return _TRUNCATED
        said = self.read(output, own)
        return _TRUNCATED if cut and said.answer is None else said
