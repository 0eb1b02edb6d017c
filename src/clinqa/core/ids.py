"""Identity and randomness: item ids, sub-seeds and stable hashes.

Nothing here depends on position, process, PYTHONHASHSEED or order of input.
"""

from __future__ import annotations

import hashlib
import random

__all__ = ["SEPARATOR", "item_id", "rng", "stable_hash", "sub_seed"]

SEPARATOR = "\x1f"


def stable_hash(*parts: object) -> int:
    """A 64-bit hash of the parts' text, the same in every process and on every machine.

    >>> stable_hash("a", 1) == stable_hash("a", "1")
    True
    """
    joined = SEPARATOR.join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(joined).digest()[:8], "big")


def item_id(
    kind: str, source_id: str, part: str, page: int | None, question: str, answer: str
) -> str:
    """The id of an item: first 16 hex digits of sha256 over what the item is, never where it is.

    >>> item_id("long_form", "s1", "text", None, "Q?", "A.")
    '1f4c6e360d44c967'
    """
    fields = (kind, source_id, part, "" if page is None else str(page), question, answer)
    joined = SEPARATOR.join(fields).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]


def sub_seed(seed: int, purpose: str, identity: str = "") -> int:
    """The seed of one random choice, from the run's seed, what it is for, and for whom."""
    return stable_hash(seed, purpose, identity)


def rng(seed: int, purpose: str, identity: str = "") -> random.Random:
    """A generator of its own for one choice, so that no choice shifts another."""
    return random.Random(sub_seed(seed, purpose, identity))  # noqa: S311 (not for secrets)
