"""Every flag of every verb, its default, bounds and words, as they are kept in `helps.txt`.

`python tests/cli/test_helps.py` keeps them anew.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from clinqa.cli import main
from clinqa.cli.app import VERBS, loaded

KEPT = Path(__file__).with_name("helps.txt")


def names() -> list[str]:
    """Every verb, and every one of those that are several."""
    return [
        " ".join([verb, *own])
        for verb in VERBS
        for own in [[], *([one] for one in getattr(loaded(verb), "commands", {}))]
    ]


def help_of(verb: str) -> str:
    """The help without its line breaks, one line an option, in the order of the alphabet."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        main([*verb.split(), "--help"])
    lines: list[str] = []
    for line in told.getvalue().splitlines():
        if line.startswith("   ") and lines:
            lines[-1] += " " + line.strip()
        elif line.strip():
            lines.append(line.strip())
    return "\n".join(sorted(re.sub(r"\s+", " ", line) for line in lines))


def kept() -> dict[str, str]:
    parts = KEPT.read_text(encoding="utf-8").split("# ")[1:]
    return {name: told.strip() for name, _, told in (part.partition("\n") for part in parts)}


def test_no_verb_is_new_or_gone() -> None:
    assert names() == list(kept())


@pytest.mark.parametrize("verb", names())
def test_flags_defaults_bounds_and_words_are_what_they_were(verb: str) -> None:
    assert help_of(verb) == kept()[verb]


if __name__ == "__main__":
    KEPT.write_text("\n".join(f"# {verb}\n{help_of(verb)}\n" for verb in names()), encoding="utf-8")
