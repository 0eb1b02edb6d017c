"""How many numbers there are, and between which."""

from __future__ import annotations

from pathlib import Path

from clinqa.core.records import SPLITS
from clinqa.kinds.facets.describes import Describes, Description, Holding, Listed, Titled, basics


def _describe(held: Holding, _: int, __: Path | None) -> Description:
    values, title = basics(held)
    splits = {split: held.items(split, ["value"])["value"].to_pylist() for split in SPLITS}
    values["splits"] = {name: len(numbers) for name, numbers in splits.items()}
    rows = [(name, n) for name, n in values["splits"].items()]
    return Description(values, [title, Titled("Numbers"), Listed(("split", "items"), rows)])


DESCRIBES = Describes(_describe)
