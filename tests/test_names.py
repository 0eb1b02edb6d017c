"""One word, one meaning: what is public bears a name of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
SAYS_NOTHING = frozenset({"run", "tables", "options", "words", "meta", "utils", "helpers", "misc"})


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def test_modules_are_named_for_what_they_hold() -> None:
    # core.options is what the options of every verb are made of
    found = [path for path in SOURCE.rglob("*.py") if path.stem in SAYS_NOTHING]
    assert [str(path.relative_to(SOURCE)) for path in found] == ["clinqa/core/options.py"]
